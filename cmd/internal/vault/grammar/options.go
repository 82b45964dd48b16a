package grammar

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"
)

// WriteOptions says how a command that writes is carried out.
type WriteOptions struct {
	Mode   string // PlanSwitch, BeginSwitch or EndSwitch; "" carries the call out
	ID     string // of the entry in the journal, "" for a new one
	Expect string // the hash that the note has to have, "" for any
	Caller string // on whose behalf it is done, "" for nobody known
	Client string // what the client calls itself, "" for nothing
	Batch  string // what is the same for all calls of a batch, "" for a single one
	// RefuseDestructive refuses a change that loses much: nobody was asked about it.
	RefuseDestructive bool
	// Approved is the digest of the change that a user was shown, "" for any.
	Approved string
}

// The switches for it, which stand before the command.
const (
	WriteSwitch  = "--write" // without it nothing is changed and nothing kept
	PlanSwitch   = "--plan"  // show what would be done, and do nothing
	BeginSwitch  = "--begin" // keep it besides, for the app to carry it out
	EndSwitch    = "--end"   // look at what became of that
	ChangeSwitch = "--change"
	ExpectSwitch = "--expect"

	CallerSwitch  = "--caller"
	ClientSwitch  = "--client"
	BatchSwitch   = "--batch"
	SparingSwitch = "--sparing"
	// ApprovedSwitch is followed by the digest of a plan that was shown.
	ApprovedSwitch = "--approved"
)

// maxCaller is the longest name of a caller or a batch that the journal keeps.
const maxCaller = 256

func isName(text string) bool {
	return text != "" && len(text) <= maxCaller && utf8.ValidString(text)
}

// FirstSwitch returns the first switch that was given.
func (m WriteOptions) FirstSwitch() string {
	switch {
	case m.Mode != "":
		return m.Mode
	case m.ID != "":
		return ChangeSwitch
	case m.Caller != "":
		return CallerSwitch
	case m.Client != "":
		return ClientSwitch
	case m.Batch != "":
		return BatchSwitch
	case m.RefuseDestructive:
		return SparingSwitch
	case m.Approved != "":
		return ApprovedSwitch
	}
	return ExpectSwitch
}

// isHash reports whether a text can be the hash of a note.
func isHash(text string) bool { return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == "" }

// isDigest reports whether a text can be the digest of a change.
func isDigest(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// WorkerSwitch makes a resident worker of this program.
const WorkerSwitch = "--worker"

// StatusSwitch asks what surrounds the program in place of a command.
const StatusSwitch = "--status"

// UnlessSwitch is followed by the state that the facts of an earlier answer had. Where a
// call would answer from the same state, it answers nothing.
const UnlessSwitch = "--unless"

// CompactSwitch has a listing in JSON printed without the space between its tokens.
const CompactSwitch = "--compact"

// FactsSwitch has a call end with a report on stderr, for the gateway.
const FactsSwitch = "--facts"
