package parity

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/spec"
)

// Client is one of the SDKs that are compared.
type Client struct {
	// Name is what it is called in differences.
	Name string
	// Driver is its driver's program: Argv, Dir, Env.
	Driver process.Command
}

// Config is one run. Where its profile is "" it is the one that the drivers name.
type Config struct {
	spec.Options

	// Clients are two or more, with different names.
	Clients []Client

	// Greeted is called once when the drivers have said what they are, before anything
	// is compared, with the profile of the run: who selects by profile does so here. An
	// error ends the run. Nil is allowed.
	Greeted func(*spec.Options) error
}

// ProfilesError says that the clients speak different profiles, so that no script fits
// all of them.
type ProfilesError struct{ Clients []string }

func (e *ProfilesError) Error() string {
	return "the drivers name different profiles: " + strings.Join(e.Clients, ", ")
}

// commonProfile gives the profile that all drivers name.
func (r *runner) commonProfile() (protocol.Profile, error) {
	first := r.clients[0].sdk.Hello().Profile
	e := &ProfilesError{}
	differ := false
	for _, c := range r.clients {
		p := c.sdk.Hello().Profile
		e.Clients = append(e.Clients, fmt.Sprintf("%s %s", c.Name, p))
		differ = differ || p != first
	}
	if differ {
		return "", e
	}
	return first, nil
}
