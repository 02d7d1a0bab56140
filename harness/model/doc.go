// Package model is the stub of the model that servers under test call: it plays, on loopback, the two streaming
// endpoints that real servers know (OpenAI-style chat completions, Anthropic-style messages), lets the prompt say
// what the model answers, holds answers at gates, and keeps a record of all that reached it.
//
//	stub, err := model.Start(ctx, model.Options{})
//	…  DEEPSEEK_BASE_URL=stub.URL()  DEEPSEEK_API_KEY=stub.Key()
//	script := model.NewScript("t17", model.Text("one "), model.AtGate("t17"), model.Text("two"))
//	…  prompt with script.Prompt("Say something.")
//	err = stub.Gate("t17").WaitReached(ctx) // "one " is out, the turn is held
//	stub.Gate("t17").Open()
//	calls, err := stub.WaitTag(ctx, "t17", 1)
//	calls[0].UserTexts() // what reached the model
//	err = stub.Close()
//
// # The grammar dshconform.script/v1
//
// A script travels in the text of a prompt, as a marker:
//
//	[[dshconform.script/v1 {"tag":"t17","steps":[{"text":"Hello"}]}]]
//
// which is the prefix with the one space at its end, one JSON object, and two closing brackets; white space may
// stand around the object. The marker that counts is the last one of the conversation's user messages: text blocks
// are searched from the last backwards, and in a block the last marker is taken. What looks like a marker inside
// the strings of another is none. A conversation without a marker gets a default reply, the text "ok". A marker
// that counts and is malformed is answered by HTTP 400, which says what is wrong with it.
//
// The object has "tag", a string that is not empty and names the turn in the record, and "steps", an array of
// objects. Each step is one of these; other members, doubled ones, and two kinds in one step are errors:
//
//	{"text":"…"}                    one delta with this text
//	{"text":"…","cut":true}         the same, the bytes of the response cut inside each multibyte character
//	{"events":N,"size":S}           N deltas of S ASCII bytes each (S is 1 if left out): the letters a to z over and
//	                                over, going on from delta to delta and from step to step of one answer
//	{"gate":"NAME"}                 wait until the gate of that name is opened; what came before has been sent
//	{"fail":400,"message":"…"}      before any output: this HTTP status and an error body; after output: an error
//	                                event, then the connection is cut. The message may be left out
//	{"drop":true}                   the connection is cut with no word
//	{"finish":"length"}             the finish reason of this answer: stop (the default), length, content_filter, or
//	                                any other
//	{"subagent":{"description":"…","prompt":"…","script":{"tag":"…","steps":[…]}}}
//	                                a call of the tool "subagent"; {"subagents":[{…},{…}]} calls it several times in
//	                                one message. "script" may be left out
//
// Nothing after a fail or a drop is played. Chat completions get the finish reason verbatim; for messages stop is
// end_turn, length is max_tokens, and others go verbatim. An answer with a tool call has the reason tool_calls
// (tool_use) whatever the script says.
//
// A subagent step ends the answer. Its tool call carries {"description","prompt"}, the prompt being the step's
// prompt, a space, and the marker of the nested script, if there is one: so the child's model finds its own script.
// When the server calls again with the tool's result, the script goes on behind that step. The place is the number of
// assistant messages with tool calls behind the message that holds the marker (assistant messages side by side
// count as one), so a repeated call gets the same answer. Once an assistant message without a tool call stands
// behind the marker the script has ended, and later calls of that conversation get the default reply until another
// marker comes. Where the request does not offer the tool, a text that says so stands in for the call, the steps behind
// it follow at once, and the call is marked [Call.NoSubagentTool].
//
// Servers with a test model of their own follow the same script and report to [Stub.Control]; docs/script.md is
// the page for those who write one.
//
// # The record
//
// Each request is recorded before it is answered, also those with a wrong key (answered 401), with a body that can't be
// read (400) and to paths that nobody serves (404): see [Call]. The text in it is decoded; where decoding lost
// something (a lone surrogate, invalid UTF-8) [Message.RawTexts] and [Call.Body] tell the truth.
//
// Memory is bounded: [Options] has the bounds over recorded bodies, texts and calls; the oldest go first. Besides the
// record, a call that is being read takes about twice its body, and one that is being answered next to nothing.
package model
