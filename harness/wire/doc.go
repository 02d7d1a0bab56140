// Package wire turns bytes into frames and keeps everything it saw.
//
// The protocol is newline-delimited JSON-RPC 2.0: one compact JSON object per
// LF-terminated line. A conformance suite must not lose what a lenient reader
// would: so a [Line] keeps the raw bytes, the time and the direction, and
// [Parse] classifies it without ever refusing it. What a strict reader objects
// to (a name that stands twice, invalid UTF-8, a value that is no object)
// is recorded on the [Message] and judged elsewhere.
//
// Three readers of the same bytes exist here:
//
//   - [Scanner] cuts a stream into lines. Only LF ends a line; CR, U+2028,
//     U+2029 and U+0085 are ordinary. Its memory is bounded by [MaxLine]: of a
//     longer line it keeps the beginning and the count.
//   - [Splitter] does the same for bytes that are pushed into it, so that what
//     a spec writes in arbitrary pieces is seen as the lines that it forms.
//   - [TranscriptReader] reads lines back from a transcript, the JSON Lines
//     format that every recording of this project has.
//
// Numbers are never converted: an [ID] keeps the token and compares by value
// through a canonical decimal form, so that 1e2 and 100 are one id and 2^53+1
// is not 2^53.
package wire
