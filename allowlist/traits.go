package allowlist

// PathAccess says which access a call needs for a path that it spells out.
type PathAccess uint8

const (
	// AccessByEffect is the zero value: to read, to write or to delete the note, as
	// the effect of the call says.
	AccessByEffect PathAccess = iota
	// AccessToRead is for a call that writes something else than what is at its path.
	AccessToRead
	// AccessToWrite is for a call that removes no more than a part of the note.
	AccessToWrite
	// AccessToMove is that to write the note within its folder, and that to delete it
	// where it leaves the folder.
	AccessToMove
)

// PathAccess returns which access the paths of the call need.
func (c Call) PathAccess() PathAccess {
	if c.row == nil {
		return AccessByEffect
	}
	return c.row.access
}

// PrintsNote reports whether the answer of the call is the text of one note, from its
// first byte to its last.
func (c Call) PrintsNote() bool { return c.row != nil && c.row.printsNote }

// IsDaily reports whether the call is about the daily note of some day, so that it may
// be about another note tomorrow.
func (c Call) IsDaily() bool { return c.row != nil && c.row.target == targetDaily }

// IsRandom reports whether the same call has another answer each time.
func (c Call) IsRandom() bool { return c.row != nil && c.row.random }

// OwnAnswer is what the gateway itself answers a call with, because no program knows it.
type OwnAnswer uint8

const (
	// AnswersNothing is the zero value: a program answers.
	AnswersNothing OwnAnswer = iota
	// AnswersHelp is for a call that asks what the gateway allows.
	AnswersHelp
	// AnswersUndoList is for a call that asks for the changes of who asks.
	AnswersUndoList
)

// OwnAnswer returns what the gateway itself answers the call with.
func (c Call) OwnAnswer() OwnAnswer {
	if c.row == nil {
		return AnswersNothing
	}
	return c.row.ownAnswer
}
