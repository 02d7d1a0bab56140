package model

import (
	"errors"
	"slices"
)

// choose finds the script of a conversation and the place in it, and notes both in c.
//
// The script is that of the last marker in the user messages, looked for backwards: runtime context follows a
// prompt as further messages or blocks, and a failed prompt arrives joined with the next one. The place is
// counted from the conversation alone, never from earlier calls, so that a retry or a doubled call gets the same
// answer. Messages of the assistant that stand side by side count as one: some servers split text and tool calls.
func choose(c *Call, fallback []Step) (steps []Step) {
	at := -1
	var script Script
	for i := len(c.Messages) - 1; i >= 0 && at < 0; i-- {
		if c.Messages[i].Role != "user" {
			continue
		}
		found, err := Search(c.Messages[i].Texts)
		switch {
		case errors.Is(err, ErrNoMarker):
			continue
		case err != nil:
			c.ScriptError = err.Error()
			return nil
		}
		script, at = found, i
	}
	if at < 0 {
		return fallback
	}
	position, ended := 0, false
	for i := at + 1; i < len(c.Messages); i++ {
		if c.Messages[i].Role != "assistant" {
			continue
		}
		calls := len(c.Messages[i].ToolCalls)
		for i+1 < len(c.Messages) && c.Messages[i+1].Role == "assistant" {
			i++
			calls += len(c.Messages[i].ToolCalls)
		}
		if calls > 0 {
			position++
		} else {
			ended = true
		}
	}
	steps, ok := script.Segment(position)
	if ended || !ok {
		c.Ended = script.Tag
		return fallback
	}
	c.Tag, c.Position = script.Tag, position
	if len(steps) > 0 && steps[len(steps)-1].Kind == KindSubagent && !c.Offers(SubagentTool) {
		// No result will come back, so what would have followed it follows at once.
		c.NoSubagentTool = true
		for next, ok := script.Segment(position + 1); ok; next, ok = script.Segment(position + 1) {
			steps = slices.Concat(steps, next)
			position++
		}
	}
	return steps
}
