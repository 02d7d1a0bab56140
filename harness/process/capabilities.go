package process

import "runtime"

// platform is a row of the table of capabilities.
type platform struct {
	tree, signals bool
}

// platforms says what a requirement may rely on. doc.go has the table in words, and a test holds the
// two together.
var platforms = map[string]platform{
	"linux":   {tree: true, signals: true},
	"darwin":  {tree: false, signals: true},
	"windows": {tree: false, signals: false},
}

// Capabilities says what this platform can judge: tree, that every process of a subject is found
// whatever it does to get away, so that "no process is left" can be claimed; signals, that SIGTERM can
// be sent and seen. A requirement that needs what is missing is not applicable here.
func Capabilities() (tree, signals bool) {
	p := platforms[runtime.GOOS]
	return p.tree && treeReadable(), p.signals
}
