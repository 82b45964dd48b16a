package vault

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"
)

// manner says how a command that writes is carried out.
type manner struct {
	task   string // planSwitch, beginSwitch or endSwitch; "" carries the call out
	id     string // of the entry in the journal, "" for a new one
	expect string // the hash that the note has to have, "" for any
	caller string // on whose behalf it is done, "" for nobody known
	batch  string // what is the same for all calls of a batch, "" for a single one
	// sparing refuses a change that loses much: nobody was asked about it.
	sparing bool
	// approved is the digest of the change that a user was shown, "" for any.
	approved string
}

// The switches for it, which stand before the command.
const (
	writeSwitch  = "--write" // without it nothing is changed and nothing kept
	planSwitch   = "--plan"  // show what would be done, and do nothing
	beginSwitch  = "--begin" // keep it besides, for the app to carry it out
	endSwitch    = "--end"   // look at what became of that
	changeSwitch = "--change"
	expectSwitch = "--expect"

	callerSwitch  = "--caller"
	batchSwitch   = "--batch"
	sparingSwitch = "--sparing"
	// approvedSwitch is followed by the digest of a plan that was shown.
	approvedSwitch = "--approved"
)

// maxCaller is the longest name of a caller or a batch that the journal keeps.
const maxCaller = 256

func isName(text string) bool {
	return text != "" && len(text) <= maxCaller && utf8.ValidString(text)
}

// given returns the first switch that was given.
func (m manner) given() string {
	switch {
	case m.task != "":
		return m.task
	case m.id != "":
		return changeSwitch
	case m.caller != "":
		return callerSwitch
	case m.batch != "":
		return batchSwitch
	case m.sparing:
		return sparingSwitch
	case m.approved != "":
		return approvedSwitch
	}
	return expectSwitch
}

// isHash reports whether a text can be the hash of a note.
func isHash(text string) bool { return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == "" }

// isChange reports whether a text can be the digest of a change.
func isChange(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// workerSwitch makes a resident worker of this program.
const workerSwitch = "--worker"

// statusSwitch asks what surrounds the program in place of a command.
const statusSwitch = "--status"

// factsSwitch has a call end with a report on stderr, for the gateway.
const factsSwitch = "--facts"
