// Package interop brings real clients and real servers together: each pair holds the
// standard conversations, and what comes of them is a matrix.
//
//	driver ── SDK ──launches──> dshconform tap ── server ── stub of the model
//
// Nothing is played here: the SDK launches the server, a tap in between records what
// they say, and the model is the stub of harness/model, whose answers the prompts
// script. A [Cell] is one pair. Its conversations ([Conversations]) run on one
// process, one after the other, until one of them goes wrong; then the next has a
// process of its own. The last is a shutdown in a turn, which ends it.
//
// A conversation works where its calls come to the end that they have to come to, with
// the text that the model gave. Besides, the recordings are judged by the monitors of
// harness/protocol: what the server writes, and what the client does. What callers see
// of the same conversation in different pairs is compared, too, and a difference is
// told; it is nobody's fault by itself.
package interop
