package model

import (
	"net/http"
	"net/url"
	"strings"
)

// control serves the control URL to a server with a test model of its own: `calls` takes what reached that model,
// `gates/NAME` holds the request until the gate is opened. Both answer 204. rest is the escaped path behind
// controlPath.
func (s *Stub) control(w http.ResponseWriter, r *http.Request, rest string) {
	secret, rest, _ := strings.Cut(rest, "/")
	refuse := func(dialect Dialect, badKey bool, status int, message string) {
		c, _ := s.receive(w, r)
		c.Path = controlPath + "…/" + rest // the secret has no place in a record that travels
		c.Dialect, c.BadKey, c.BodyError = dialect, badKey, ""
		s.refuse(w, c, status, message)
	}
	if secret != s.secret {
		refuse(InServer, true, http.StatusUnauthorized, "this is not the control URL of this run")
		return
	}
	name, isGate := strings.CutPrefix(rest, "gates/")
	name, err := url.PathUnescape(name)
	switch {
	case r.Method == http.MethodPost && rest == "calls":
		s.report(w, r)
	case r.Method == http.MethodPost && isGate && err == nil && name != "":
		s.holdAt(w, r, name)
	default:
		refuse(Unserved, false, http.StatusNotFound, "the control URL serves POST calls and POST gates/NAME")
	}
}

// report records what an in-server model was called with.
func (s *Stub) report(w http.ResponseWriter, r *http.Request) {
	c, _ := s.receive(w, r)
	c.Path = controlPath + "…/calls"
	c.Dialect = InServer
	if c.BodyError != "" {
		s.refuse(w, c, http.StatusBadRequest, c.BodyError)
		return
	}
	c = s.record.add(c)
	w.WriteHeader(http.StatusNoContent)
	s.record.end(c.Seq, Replied)
}

// holdAt answers once the gate is open. A client that goes away ends the wait.
func (s *Stub) holdAt(w http.ResponseWriter, r *http.Request, name string) {
	// The server notices that a client left only once the body has been read.
	if _, err := readAll(http.MaxBytesReader(w, r.Body, s.options.MaxBody), 0); err != nil {
		writeError(w, InServer, http.StatusBadRequest, "reading the body: "+err.Error())
		return
	}
	if err := s.gates.get(name).wait(r.Context()); err != nil {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusNoContent)
}
