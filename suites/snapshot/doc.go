// Package snapshot keeps what a server writes in a few standard situations as text,
// so that a change of the wire shows as a diff.
//
// It judges nothing: the wire of a snapshot may be right or wrong. Where the
// suite says whether a requirement holds, a snapshot says whether anything is
// different from last time, members and events that no requirement names included.
//
//	got, err := snapshot.Record(ctx, cfg)   // one Scenario for each situation
//	err = snapshot.Save(dir, got)           // a text file for each
//	want, err := snapshot.Load(dir)
//	for _, d := range snapshot.Compare(want, got) { fmt.Print(d.Text) }
//
// # Situations
//
// Each runs on a process of its own, from initialize to the exit: [Scenarios] lists
// them. The model is the stub of harness/model, so a turn says the same each time.
//
// # What makes two runs equal
//
// Values that no two runs share are masked: ids that the server made up, times,
// versions, paths of the run, the address and the key of the model (mask.go). A value
// that stands in several places has one name, so that what belongs together still
// shows. Sequence numbers, kinds, texts and the order stay.
//
// Sessions run side by side, so the order between them is chance. A text has the
// client's frames, then a section for each session with what the server wrote about
// it in the order of the wire, then the responses that belong to no session's order
// (canon.go). Members of an object are sorted.
package snapshot
