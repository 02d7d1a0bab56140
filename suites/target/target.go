// Package target describes a subject under test: how it starts, what it serves
// and what it lacks. It is the data behind a target file
// (dshconform.target/v1) and behind the flags of `dshconform server`.
package target

import (
	"github.com/dshconform/dshconform/harness/protocol"
)

// Schema names the format of target files.
const Schema = "dshconform.target/v1"

// Endpoint says where a server gets its model from.
type Endpoint string

const (
	Auto            Endpoint = "auto"             // the stub serves whatever is called
	ChatCompletions Endpoint = "chat-completions" // OpenAI-style
	Messages        Endpoint = "messages"         // Anthropic-style
	InServer        Endpoint = "in-server"        // the server's own test model follows the script in the prompt
	None            Endpoint = "none"             // no turn can be run
)

// Launch says what stands between the suite and the server.
type Launch string

const (
	Direct    Launch = "direct"    // the command is the server
	Wrapper   Launch = "wrapper"   // the command starts the server as a child: signals do not reach it
	Container Launch = "container" // the command is a container client: the server's processes are not seen
)

// Variable is one environment variable.
type Variable struct{ Name, Value string }

// Lack is a capability that the subject is known not to have.
type Lack struct{ Capability, Reason string }

// Profile is one profile that the target serves, with what it adds to the
// command line and the environment.
type Profile struct {
	Name protocol.Profile
	Args []string
	Env  []Variable
}

// StderrFlood says how to make the server write at least 1 MiB to stderr.
type StderrFlood struct {
	Args []string
	Env  []Variable
}

// Target is a subject. Strings may hold ${MODEL_URL}, ${MODEL_KEY}, ${SCRATCH}
// and ${HOME}, which [Expand] replaces when the run has made them.
type Target struct {
	Path       string // of the file, "" where there is none
	Name       string // how reports call it
	Command    []string
	Env        []Variable
	Inherit    []string // names of variables of the caller that are passed on
	ProcessCwd string   // working directory of the process, "" for the caller's
	Cwd        string   // value sent in initialize, "" for a fresh directory of the run
	Provider   string
	Model      string

	ModelEndpoint      Endpoint
	Profiles           []Profile
	Lacks              []Lack
	MaxTokensAsSuccess bool
	StderrFlood        *StderrFlood
	Launch             Launch
	Catalogue          string // revision of the catalogue that gates, "" for the newest
}

// Default is what holds where neither a file nor a flag says otherwise.
func Default() Target {
	return Target{
		Provider:      "deepseek-official",
		Model:         "dshconform-stub",
		ModelEndpoint: Auto,
		Launch:        Direct,
		Profiles:      []Profile{{Name: protocol.Directional}},
	}
}

// For gives what the target says about a profile; one that it does not list has
// no args and env of its own.
func (t Target) For(p protocol.Profile) Profile {
	for _, have := range t.Profiles {
		if have.Name == p {
			return have
		}
	}
	return Profile{Name: p}
}

// LacksCapability gives the reason of a declared lack.
func (t Target) LacksCapability(name string) (reason string, lacks bool) {
	for _, l := range t.Lacks {
		if l.Capability == name {
			return l.Reason, true
		}
	}
	return "", false
}
