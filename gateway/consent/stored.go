package consent

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// State says what became of a question.
type State uint8

// The states of a question. Only [Approved] is an approval. The order matters: if a call was asked about twice, the
// state that is later in this list counts.
const (
	Unasked State = iota
	Pending
	Approved
	Denied
	Withdrawn // by the user, after it was approved and before it was used
)

var stateNames = [...]string{"unasked", "pending", "approved", "denied", "withdrawn"}

// String returns the name of the state, as it is in its file.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("unknown state %d", int(s))
	}
	return stateNames[s]
}

// StoredQuestion is a question to the user about one call. What [Store.Ask] takes of it is marked;
// the rest is what it gives. It takes 16 KiB of text, 8 MiB of lines, 1 KiB of anything else,
// and UTF-8 without characters that act on a terminal or turn the direction of a line: the caller
// makes sure that no text poses as another question.
type StoredQuestion struct {
	Code    string // such as 7ZBC-2GX4
	State   State
	Made    time.Time
	Expires time.Time // [Life] later

	// Ref names the question in links, and does not reveal its code.
	Ref string

	Session string // taken, needed: who asks
	Client  string // taken: what it says that it is
	Vault   string // taken, needed
	Command string // taken, needed
	Effect  string // taken
	Text    string // taken, needed: the question in a few rows, made fit for it by the caller
	Lines   []Line // taken: the whole question; see [Store.Shown]
	Rows    int    // how many lines it has
	Cost    int    // bytes of them
	By      string // where the user answered, see [Answer]; "" before that
	Digest  Digest // taken, needed: of the exact call
	// Call is taken: the digest of the call whatever the notes contain, by which a call
	// that was denied is known again; zero for none.
	Call CallDigest

	// Only is taken: the one place where it can be approved, [Terminal], or "" for any.
	Only string
	// Typed is taken: the words that the user types to approve something very large, "" for none.
	Typed string

	// Offer is taken: the terms of a grant that is offered with the question, as they are read where it is given; "" for
	// none.
	Offer string

	shown string // the SHA-256 of the file of its lines, "" where they are here
}

// Line is one line of a question: of the program that asks, or of a note or value that it
// shows. What it is does not depend on how its text begins.
type Line struct {
	Kind LineKind `json:"kind,omitempty"`
	Text string   `json:"text,omitempty"`
	More bool     `json:"more,omitempty"` // continues the previous line, of which a part was left out
	// For a line of a note: its number before and after the change, from 1, and the bytes of Text that differ from
	// its counterpart, if Text is whole.
	Old  int `json:"old,omitempty"`
	New  int `json:"new,omitempty"`
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// NoEnd says that the note ends with the line and without a newline, and that this differs from the other side.
	NoEnd bool `json:"noEnd,omitempty"`
	// Aside says that the line is of a note that goes to the trash, which its name, size and hash stand for.
	Aside bool `json:"aside,omitempty"`
	// Of a [File], of which Text is the verb: where it is, where it comes from, how many lines are added and removed,
	// and of one that is deleted its size in bytes and its hash as results have it.
	Path    string `json:"path,omitempty"`
	Source  string `json:"source,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Hash    string `json:"hash,omitempty"`
}

// LineKind says what a line of a question is.
type LineKind string

// The kinds of lines.
const (
	Words   LineKind = ""     // of the program that asks
	Act     LineKind = "act"  // what a call does: the first line of a question, and of each operation in it
	File    LineKind = "file" // a file, before the lines of it
	Place   LineKind = "at"   // where in the file the next lines are
	Quoted  LineKind = ">"    // of a value
	Same    LineKind = " "    // of a note, before and after
	Removed LineKind = "-"
	Added   LineKind = "+"
)

var kindsOfLines = []LineKind{Words, Act, File, Place, Quoted, Same, Removed, Added}

// Life is how long a question can be answered: to notice it, read it and answer.
const Life = 10 * time.Minute

const (
	defaultLife = Life

	maxText   = 16 << 10 // more than the user reads before approving
	maxInline = 64 << 10 // bytes of lines, see [linesCost], that are in the file of the question; more have a file of their own
	lineBytes = 8        // that a line counts with besides its text
	maxField  = 1 << 10
)

// check returns an error unless q is a question that can be shown: complete, not
// too large, and without characters that steer a terminal or reorder a line.
func (q StoredQuestion) check() error {
	if (q.Digest == Digest{}) {
		return &Invalid{"digest", "is empty"}
	}
	for _, f := range []struct {
		name, value string
		needed      bool
	}{
		{"session", q.Session, true}, {"vault", q.Vault, true}, {"command", q.Command, true},
		{"client", q.Client, false}, {"effect", q.Effect, false}, {"by", q.By, false}, {"ref", q.Ref, false}, {"only", q.Only, false}, {"typed", q.Typed, false}, {"offer", q.Offer, false},
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
	if err := checkLines(q.Lines); err != nil {
		return err
	}
	return checkText("text", q.Text, maxText, func(r rune) bool { return r != '\n' && r != '\t' && isUnprintable(r) })
}

// checkLines returns an error unless lines can be shown.
func checkLines(lines []Line) error {
	if linesCost(lines) > maxQuestion {
		return &Invalid{"lines", "are too long"}
	}
	bad := func(r rune) bool { return r != '\t' && isUnprintable(r) }
	for _, l := range lines {
		if !slices.Contains(kindsOfLines, l.Kind) {
			return &Invalid{"lines", "have an unknown kind"}
		}
		for _, text := range []string{l.Text, l.Path, l.Source, l.Hash} {
			if err := checkText("lines", text, maxQuestion, bad); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodeLines writes lines as the content of a file of their own.
func encodeLines(lines []Line) ([]byte, error) {
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	if err := json.NewEncoder(packed).Encode(lines); err != nil {
		return nil, err
	}
	err := packed.Close()
	return b.Bytes(), err
}

// decodeLines reads what encodeLines has written. Anything else is an error.
func decodeLines(data []byte) (lines []Line, err error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(packed, maxDecoded))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &lines); err != nil {
		return nil, err
	}
	return lines, checkLines(lines)
}

// maxDecoded is more than the longest lines take: JSON writes some characters as six bytes.
const maxDecoded = 16 * maxQuestion

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
	isSeparator := r == '\u2028' || r == '\u2029'
	return isSeparator || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// setBack is how far a clock may be put back, as time services do, before the
// questions from the time ahead are dropped. Else they could live twice.
const setBack = time.Minute

// isLive reports whether q can still be answered, and its answer used.
func (q StoredQuestion) isLive(now time.Time) bool {
	return now.Before(q.Expires) && now.After(q.Made.Add(-setBack))
}

// isSameCall reports whether q and other are about one call of one session, whatever
// the notes were.
func (q StoredQuestion) isSameCall(other StoredQuestion) bool {
	isSet := q.Call != CallDigest{}
	isOfCaller := q.Vault == other.Vault && q.Session == other.Session
	return isSet && isOfCaller && q.Call == other.Call
}

// Digest is the digest of an exact call. The zero Digest means none and is refused.
type Digest = [sha256.Size]byte

// maxLife is how long a question may wait for an answer. A user who was away
// for longer has to be shown it again: the notes may have changed.
const maxLife = time.Hour

// record is a question in its file. Sum is the SHA-256 of the record with an empty Sum.
type record struct {
	Sum     string    `json:"sum"`
	Code    string    `json:"code"`
	State   string    `json:"state"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	Session string    `json:"session"`
	Client  string    `json:"client"`
	Vault   string    `json:"vault"`
	Command string    `json:"command"`
	Effect  string    `json:"effect"`
	Text    string    `json:"text"`
	Digest  string    `json:"digest"`
	Call    string    `json:"call,omitempty"`
	By      string    `json:"by,omitempty"`
	Ref     string    `json:"ref,omitempty"`
	Lines   []Line    `json:"lines,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	Cost    int       `json:"cost,omitempty"`
	Shown   string    `json:"shown,omitempty"`
	Only    string    `json:"only,omitempty"`
	Typed   string    `json:"typed,omitempty"`
	Offer   string    `json:"offer,omitempty"`
}

// ID names a question for the agent that asks. It is not its code.
func (q StoredQuestion) ID() string { return hex.EncodeToString(q.Digest[:4]) }

// maxRecord is more than the largest question takes: each byte of it six times,
// as JSON writes some characters.
const maxRecord = 1 << 20

// kept are the states that a file can have.
var kept = []State{Pending, Approved, Denied, Withdrawn}

// encode writes q as the content of its file.
func (q StoredQuestion) encode() ([]byte, error) {
	code, _ := parseCode(q.Code)
	r := record{
		Code: code, State: q.State.String(), Made: q.Made, Expires: q.Expires,
		Session: q.Session, Client: q.Client, Vault: q.Vault, Command: q.Command, Effect: q.Effect,
		Text: q.Text, Digest: hex.EncodeToString(q.Digest[:]), By: q.By, Ref: q.Ref, Lines: q.Lines, Rows: q.Rows, Cost: q.Cost, Shown: q.shown, Only: q.Only, Typed: q.Typed, Offer: q.Offer,
	}
	if q.Call != (CallDigest{}) {
		r.Call = hex.EncodeToString(q.Call[:])
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	r.Sum = hex.EncodeToString(sum[:])
	data, err = json.Marshal(r)
	return append(data, '\n'), err
}

// parseQuestion reads the file of the question with a code. It takes nothing but what encode writes, to the byte: a
// field that is unknown, repeated or spelled in another case would mean something else to another reader.
func parseQuestion(code string, data []byte) (StoredQuestion, bool) {
	var r record
	if len(data) > maxRecord || json.Unmarshal(data, &r) != nil {
		return StoredQuestion{}, false
	}
	if r.Code != code || !isCode(code) {
		return StoredQuestion{}, false
	}
	state := slices.IndexFunc(kept, func(s State) bool { return s.String() == r.State })
	digest, err := hex.DecodeString(r.Digest)
	if state < 0 || err != nil || len(digest) != len(Digest{}) {
		return StoredQuestion{}, false
	}
	var call CallDigest
	if of, err := hex.DecodeString(r.Call); err != nil || len(of) != copy(call[:], of) ||
		len(of) != 0 && len(of) != len(call) {
		return StoredQuestion{}, false
	}
	q := StoredQuestion{
		Code: displayCode(r.Code), State: kept[state], Made: r.Made.UTC(), Expires: r.Expires.UTC(),
		Session: r.Session, Client: r.Client, Vault: r.Vault, Command: r.Command, Effect: r.Effect,
		Text: r.Text, Digest: Digest(digest), Call: call, By: r.By, Ref: r.Ref, Lines: r.Lines, Rows: r.Rows, Cost: r.Cost, shown: r.Shown, Only: r.Only, Typed: r.Typed, Offer: r.Offer,
	}
	isShown := r.Shown == "" || len(r.Lines) == 0
	life := q.Expires.Sub(q.Made)
	isLifeValid := life > 0 && life <= maxLife
	if !isShown || !isLifeValid || q.check() != nil {
		return StoredQuestion{}, false
	}
	again, err := q.encode()
	return q, err == nil && bytes.Equal(again, data)
}

// alphabet has no two characters that the user could take for each other: no 0
// and O, no 1, I and L.
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const codeLength = 8 // of 31 characters: no one hits the code of another question by mistake

// codeFrom makes a code that cannot be guessed, of a random source that never fails: every code is as
// likely as another.
func codeFrom(source io.Reader) string {
	const fair = 256 - 256%len(alphabet)
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		var random [1]byte
		_, _ = io.ReadFull(source, random[:])
		if int(random[0]) < fair {
			code = append(code, alphabet[int(random[0])%len(alphabet)])
		}
	}
	return string(code)
}

// displayCode writes a code as the user reads it.
func displayCode(code string) string { return code[:codeLength/2] + "-" + code[codeLength/2:] }

// parseCode reads a code as the user types it. ok is false for anything but a well-formed code, so a code is safe as
// part of a file name.
func parseCode(typed string) (code string, ok bool) {
	code = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' { // not strings.ToUpper: some non-ASCII letters, such as ı, have ASCII capitals
			return r - 'a' + 'A'
		}
		return r
	}, strings.ReplaceAll(typed, "-", ""))
	return code, isCode(code)
}

func isCode(text string) bool {
	return len(text) == codeLength && strings.Trim(text, alphabet) == ""
}
