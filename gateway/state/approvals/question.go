package approvals

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// State says what became of a question.
type State uint8

// The states of a question. Only [Approved] is an approval. The order matters: if a
// call was asked about twice, the later state counts.
const (
	Unasked State = iota
	Pending
	Approved
	Denied
	Expired
)

var stateNames = [...]string{"unasked", "pending", "approved", "denied", "expired"}

// String returns the name of the state, as it is in its file.
func (s State) String() string { return stateNames[min(int(s), len(stateNames)-1)] }

// Question is a question to the user about one call. What [Store.Ask] takes of it
// is marked; the rest is what it gives. It takes 16 KiB of text, 128 KiB of lines, 1 KiB
// of anything else, and UTF-8 without characters that act on a terminal or turn the
// direction of a line: the caller makes sure that no text poses as another
// question.
type Question struct {
	Code    string // such as 7ZBC-2GX4
	State   State
	Made    time.Time
	Expires time.Time // taken: ten minutes from now if zero, an hour at most

	Session string // taken, needed: who asks
	Client  string // taken: what it says that it is
	Vault   string // taken, needed
	Command string // taken, needed
	Effect  string // taken
	Text    string // taken, needed: the question in a few rows, made fit for it by the caller
	Lines   []Line // taken: the whole question, while it waits for its answer
	By      string // where the user answered, see [OpenAt]; "" before that
	Digest  Digest // taken, needed: of the exact call
	// Call is taken: the digest of the call whatever the notes contain, by which a call
	// that was denied is known again; zero for none.
	Call   Digest
	Params []string // taken: the names of the parameters
}

// Line is one line of a question: of the program that asks, or of a note or value that it
// shows. What it is does not depend on how its text begins.
type Line struct {
	Kind LineKind `json:"kind,omitempty"`
	Text string   `json:"text,omitempty"`
	More bool     `json:"more,omitempty"` // the text goes on the line before, of which a part is left out
}

// LineKind says what a line of a question is.
type LineKind string

// The kinds of lines.
const (
	Words   LineKind = ""  // of the program that asks
	Quoted  LineKind = ">" // of a value
	Same    LineKind = " " // of a note, before and after
	Removed LineKind = "-"
	Added   LineKind = "+"
)

const (
	defaultLife = 10 * time.Minute // to notice the question, read it and answer

	maxText   = 16 << 10  // more than the user reads before approving
	maxLines  = 128 << 10 // bytes of all lines, which can be scrolled
	lineBytes = 8         // that a line counts with besides its text
	maxField  = 1 << 10
	maxParams = 64
)

// check returns an error unless q is a question that can be shown: complete, not
// too large, and without characters that steer a terminal or reorder a line.
func (q Question) check() error {
	if (q.Digest == Digest{}) {
		return &Invalid{"digest", "is empty"}
	}
	for _, f := range []struct {
		name, value string
		needed      bool
	}{
		{"session", q.Session, true}, {"vault", q.Vault, true}, {"command", q.Command, true},
		{"client", q.Client, false}, {"effect", q.Effect, false}, {"by", q.By, false},
	} {
		if err := checkText(f.name, f.value, maxField, isUnprintable); err != nil {
			return err
		}
		if f.needed && f.value == "" {
			return &Invalid{f.name, "is empty"}
		}
	}
	if q.Text == "" {
		return &Invalid{"text", "is empty"}
	}
	if len(q.Params) > maxParams {
		return &Invalid{"params", "are too many"}
	}
	for _, name := range q.Params {
		if err := checkText("params", name, maxField/8, isUnprintable); err != nil {
			return err
		}
	}
	left := maxLines
	for _, l := range q.Lines {
		if !slices.Contains([]LineKind{Words, Quoted, Same, Removed, Added}, l.Kind) {
			return &Invalid{"lines", "have an unknown kind"}
		}
		if left -= lineBytes + len(l.Text); left < 0 {
			return &Invalid{"lines", "are too long"}
		}
		if err := checkText("lines", l.Text, maxLines, func(r rune) bool { return r != '\t' && isUnprintable(r) }); err != nil {
			return err
		}
	}
	return checkText("text", q.Text, maxText, isUnprintableText)
}

func checkText(field, value string, limit int, bad func(rune) bool) error {
	switch {
	case len(value) > limit:
		return &Invalid{field, "is too long"}
	case !utf8.ValidString(value):
		return &Invalid{field, "is not UTF-8"}
	case strings.ContainsFunc(value, bad):
		return &Invalid{field, "has characters that cannot be shown"}
	}
	return nil
}

// isUnprintable reports whether a character acts on a terminal, ends a line or turns
// its direction.
func isUnprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

func isUnprintableText(r rune) bool { return r != '\n' && r != '\t' && isUnprintable(r) }

// prepared returns q as it is stored, without a code.
func (q Question) prepared(now time.Time) (Question, error) {
	if err := q.check(); err != nil {
		return Question{}, err
	}
	now = now.UTC().Round(0)
	if q.Expires.IsZero() {
		q.Expires = now.Add(defaultLife)
	}
	q.Expires = q.Expires.UTC().Round(0)
	if life := q.Expires.Sub(now); life <= 0 || life > maxLife {
		return Question{}, &Invalid{"expires", "is not within an hour"}
	}
	q.Made, q.State, q.By, q.Params = now, Pending, "", slices.Clone(q.Params)
	return q, nil
}

// setBack is how far a clock may be put back, as time services do, before the
// questions from the time ahead are dropped. Else they could live twice.
const setBack = time.Minute

// isLive reports whether q can still be answered, and its answer used.
func (q Question) isLive(now time.Time) bool {
	return now.Before(q.Expires) && now.After(q.Made.Add(-setBack))
}

// denied returns q as denied, which lasts as long as a question that was just asked.
func (q Question) denied(now time.Time) Question {
	q.State = Denied
	until := now.UTC().Round(0).Add(defaultLife)
	if last := q.Made.Add(maxLife); until.After(last) {
		until = last
	}
	if until.After(q.Expires) {
		q.Expires = until
	}
	return q
}

// isSameCall reports whether q and other are about one call of one session, whatever
// the notes were.
func (q Question) isSameCall(other Question) bool {
	return q.Call != Digest{} && q.Call == other.Call && q.Vault == other.Vault && q.Session == other.Session
}

// isFor reports whether q was asked about this call in this session.
func (q Question) isFor(vault string, digest Digest, session string) bool {
	return q.Vault == vault && q.Digest == digest && q.Session == session
}
