package model

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const controlPath = "/control/"

// handle takes every request: it records it, then answers it.
func (s *Stub) handle(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.EscapedPath(), controlPath); ok {
		s.control(w, r, rest)
		return
	}
	c, err := s.receive(w, r)
	c.Tag = "" // only a script names the calls of these dialects, no member of the body
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		c.Dialect = ChatCompletions
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		c.Dialect = Messages
	default:
		c.Dialect = Unserved
	}
	if c.Dialect == Unserved {
		c.BodyError = ""
		s.refuse(w, c, http.StatusNotFound, fmt.Sprintf("the model stub does not serve %s %s", r.Method, r.URL.Path))
		return
	}
	c.BadKey = !s.authorized(r)
	var steps []Step
	if c.BodyError == "" {
		steps = choose(&c, s.options.Default)
	}
	var tooLarge *http.MaxBytesError
	switch {
	case c.BadKey:
		s.refuse(w, c, http.StatusUnauthorized, "the key is not the one of this run")
	case errors.As(err, &tooLarge):
		s.refuse(w, c, http.StatusRequestEntityTooLarge, c.BodyError)
	case err != nil:
		// The subject went away while it sent its request: there is nobody to answer.
		c = s.record.add(c)
		s.record.end(c.Seq, ClientLeft)
		panic(http.ErrAbortHandler)
	case c.BodyError != "":
		s.refuse(w, c, http.StatusBadRequest, c.BodyError)
	case c.ScriptError != "":
		s.refuse(w, c, http.StatusBadRequest, c.ScriptError)
	default:
		s.play(w, r, &c, steps)
	}
}

// receive reads the request into a call that is not recorded yet. err says that the body is not whole; what it
// was is in BodyError too.
func (s *Stub) receive(w http.ResponseWriter, r *http.Request) (c Call, err error) {
	body, err := readAll(http.MaxBytesReader(w, r.Body, s.options.MaxBody), r.ContentLength)
	digest := sha256.Sum256(body)
	c = Call{
		Time:     time.Now(),
		Method:   r.Method,
		Path:     r.URL.Path,
		Header:   redacted(r.Header),
		Body:     body,
		BodySize: int64(len(body)),
		Digest:   hex.EncodeToString(digest[:]),
	}
	if err != nil {
		c.BodyError = fmt.Sprintf("reading the body: %d bytes came: %v", len(body), err)
		return c, err
	}
	if err := readRequest(body, &c); err != nil {
		c.BodyError = err.Error()
	}
	return c, nil
}

// readAll is io.ReadAll without growing a large body piece by piece.
func readAll(r io.Reader, length int64) ([]byte, error) {
	const most = 32 << 20 // what a header alone can make us allocate
	var buffer bytes.Buffer
	if length > 0 {
		buffer.Grow(int(min(length, most)) + bytes.MinRead)
	}
	_, err := buffer.ReadFrom(r)
	return buffer.Bytes(), err
}

// redacted is a copy of h that may be shown and written to a report.
func redacted(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		if h.Get(name) != "" {
			h.Set(name, "(redacted)")
		}
	}
	return h
}

// authorized takes the key in either of its places: which of the two a dialect wants is not judged here.
func (s *Stub) authorized(r *http.Request) bool {
	same := func(key string) bool {
		return subtle.ConstantTimeCompare([]byte(key), []byte(s.options.Key)) == 1
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return same(r.Header.Get("X-Api-Key")) || strings.EqualFold(scheme, "Bearer") && same(token)
}

// refuse records the call and answers it by an error of the stub's own.
func (s *Stub) refuse(w http.ResponseWriter, c Call, status int, message string) {
	c = s.record.add(c)
	writeError(w, c.Dialect, status, message)
	s.record.end(c.Seq, Refused)
}

// writeError answers by an error body of the dialect.
func writeError(w http.ResponseWriter, dialect Dialect, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A subject that does not read its error hurts only itself.
	_, _ = w.Write(append(errorBody(dialect, status, message), '\n'))
}

func errorBody(dialect Dialect, status int, message string) []byte {
	kind := errorKind(status)
	if dialect == Messages {
		return jsonObject(`{"type":"error","error":{"type":`, kind, `,"message":`, message, `}}`)
	}
	return jsonObject(`{"error":{"message":`, message, `,"type":`, kind, `,"param":null,"code":`, kind, `}}`)
}

// errorKind is the name that the model endpoints give to a status.
func errorKind(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}
