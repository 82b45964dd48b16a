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

// State is the state of a question.
type State uint8

// The states of a question. Only [Approved] is an approval. The order matters: if a call was asked about twice, the
// state that is later in this list counts.
const (
	Unasked State = iota
	Pending
	Approved
	Denied
	Withdrawn // by the user, after the approval and before its use
)

var stateNames = [...]string{"unasked", "pending", "approved", "denied", "withdrawn"}

// String returns the name of the state, as stored in the file.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("unknown state %d", int(s))
	}
	return stateNames[s]
}

// StoredQuestion is a question to the user about one call. Fields marked "input" are set by the caller
// of [Store.Ask], who must set those marked "required"; it sets all others. The limits are 16 KiB for
// Text, 8 MiB for Lines, and 1 KiB for any other field. All are UTF-8 without characters that control
// a terminal or change the direction of a line; the caller makes sure that no text poses as another
// question.
type StoredQuestion struct {
	Code    string // such as 7ZBC-2GX4
	State   State
	Made    time.Time
	Expires time.Time // [Life] after it was made or refused

	// Ref identifies the question in links. It does not reveal the code.
	Ref string

	Session string // input, required: who asks
	Client  string // input: the name that the client gives itself
	Vault   string // input, required
	Command string // input, required
	Effect  string // input
	Text    string // input, required: the question in a few rows, cleaned by the caller
	Lines   []Line // input: the whole question; see [Store.Shown]
	Rows    int    // number of lines
	Cost    int    // size of the lines, see [linesCost]
	By      string // where the user answered, see [Answer]; "" before that
	Digest  Digest // input, required: of the exact call
	// Call is input: the digest of the call whatever the notes contain, by which a denied call
	// is recognized; zero for none.
	Call CallDigest

	// Only is input: [Terminal] if the question can only be approved there, "" for anywhere.
	Only string
	// Typed is input: the words that the user must type to approve something very large, "" for none.
	Typed string

	// Offer is input: the terms of a grant that is offered with the question, encoded by the caller; "" for none.
	Offer string

	linesDigest string // the SHA-256 of the file with the lines, "" if they are in Lines
}

// Line is one line of a question: text of this program, or of a note or value that the question
// shows. Its kind does not depend on how its text begins.
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
	// NoEnd is set if the note ends with the line and without a newline, and the other side differs in this.
	NoEnd bool `json:"noEnd,omitempty"`
	// Aside is set for a line of a note that goes to the trash. The name, size and hash of the note suffice to identify
	// it, so these lines may be left out.
	Aside bool `json:"aside,omitempty"`
	// For a [File], whose Text is the verb: its path, its path before a move, how many lines are added and removed,
	// and for a deleted file its size in bytes and its hash in the form of results.
	Path    string `json:"path,omitempty"`
	Source  string `json:"source,omitempty"`
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Hash    string `json:"hash,omitempty"`
}

// LineKind is the kind of a line of a question.
type LineKind string

// The kinds of lines.
const (
	Words   LineKind = ""     // text of this program
	Act     LineKind = "act"  // what a call does: the first line of a question, and of each operation in it
	File    LineKind = "file" // a file, before its lines
	Place   LineKind = "at"   // the position of the next lines in the file
	Quoted  LineKind = ">"    // a line of a value
	Same    LineKind = " "    // an unchanged line of a note
	Removed LineKind = "-"
	Added   LineKind = "+"
)

var kindsOfLines = []LineKind{Words, Act, File, Place, Quoted, Same, Removed, Added}

// Life is how long a question can be answered: enough to notice it, read it and answer.
const Life = 10 * time.Minute

const (
	maxText      = 16 << 10 // bytes; more than the user reads before approving
	maxInline    = 64 << 10 // cost of lines, see [linesCost], up to which they are stored in the file of the question
	lineOverhead = 8        // bytes counted for each line besides its text
	maxField     = 1 << 10  // bytes of any other field
)

// check returns an *[Invalid] unless q can be displayed: it is complete, not too large, and has no
// characters that control a terminal or reorder a line.
func (q StoredQuestion) check() error {
	if (q.Digest == Digest{}) {
		return &Invalid{"digest", "is empty"}
	}
	for _, f := range []struct {
		name, value string
		required    bool
	}{
		{"session", q.Session, true},
		{"vault", q.Vault, true},
		{"command", q.Command, true},
		{"client", q.Client, false},
		{"effect", q.Effect, false},
		{"by", q.By, false},
		{"ref", q.Ref, false},
		{"only", q.Only, false},
		{"typed", q.Typed, false},
		{"offer", q.Offer, false},
	} {
		if err := checkText(f.name, f.value, maxField, isUnprintable); err != nil {
			return err
		}
		if f.required && f.value == "" {
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

// checkLines returns an *[Invalid] unless lines can be displayed.
func checkLines(lines []Line) error {
	if linesCost(lines) > maxQuestion {
		return &Invalid{"lines", "are too long"}
	}
	isBad := func(r rune) bool { return r != '\t' && isUnprintable(r) }
	for _, l := range lines {
		if !slices.Contains(kindsOfLines, l.Kind) {
			return &Invalid{"lines", "have an unknown kind"}
		}
		for _, text := range []string{l.Text, l.Path, l.Source, l.Hash} {
			if err := checkText("lines", text, maxQuestion, isBad); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodeLines returns lines as the content of a file of their own.
func encodeLines(lines []Line) ([]byte, error) {
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if err := json.NewEncoder(zw).Encode(lines); err != nil {
		return nil, err
	}
	err := zw.Close()
	return b.Bytes(), err
}

// decodeLines is the inverse of encodeLines. Any other content is an error.
func decodeLines(data []byte) (lines []Line, err error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(zr, maxDecoded))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &lines); err != nil {
		return nil, err
	}
	return lines, checkLines(lines)
}

// maxDecoded is more than the JSON of the longest lines, in bytes: JSON writes some characters as six bytes.
const maxDecoded = 16 * maxQuestion

// checkText returns an *[Invalid] unless value is UTF-8 of at most limit bytes without bad characters.
func checkText(field, value string, limit int, isBad func(rune) bool) error {
	switch {
	case len(value) > limit:
		return &Invalid{field, "is too long"}
	case !utf8.ValidString(value):
		return &Invalid{field, "is not UTF-8"}
	case strings.ContainsFunc(value, isBad):
		return &Invalid{field, "has characters that cannot be shown"}
	}
	return nil
}

// isUnprintable reports whether a character controls a terminal, ends a line or changes
// its direction.
func isUnprintable(r rune) bool {
	isSeparator := r == '\u2028' || r == '\u2029'
	return isSeparator || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// maxClockStep is how far the clock may be set back, as time services do, before questions that then
// lie in the future are dropped: otherwise they could live twice.
const maxClockStep = time.Minute

// isLive reports whether q can still be answered, or its answer used.
func (q StoredQuestion) isLive(now time.Time) bool {
	return now.Before(q.Expires) && now.After(q.Made.Add(-maxClockStep))
}

// isSameCall reports whether q and other are about the same call of the same session, whatever
// the notes contained.
func (q StoredQuestion) isSameCall(other StoredQuestion) bool {
	hasDigest := q.Call != CallDigest{}
	isSameCaller := q.Vault == other.Vault && q.Session == other.Session
	return hasDigest && isSameCaller && q.Call == other.Call
}

// Digest is the digest of an exact call. The zero Digest means none and is refused.
type Digest = [sha256.Size]byte

// maxLife is the longest time that a question may wait for an answer. A user who was away
// for longer must be asked again: the notes may have changed.
const maxLife = time.Hour

// record is a question as stored. Sum is the SHA-256 of the record with an empty Sum.
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

// ID returns the name of a question for the agent that asks. It is not the code.
func (q StoredQuestion) ID() string { return hex.EncodeToString(q.Digest[:4]) }

// maxRecord is more than the largest question takes in bytes, even if JSON writes each of its bytes
// as six.
const maxRecord = 1 << 20

// storedStates are the states that a stored question can have.
var storedStates = []State{Pending, Approved, Denied, Withdrawn}

// encode returns q as the content of its file.
func (q StoredQuestion) encode() ([]byte, error) {
	code, _ := parseCode(q.Code)
	r := record{
		Code:    code,
		State:   q.State.String(),
		Made:    q.Made,
		Expires: q.Expires,
		Session: q.Session,
		Client:  q.Client,
		Vault:   q.Vault,
		Command: q.Command,
		Effect:  q.Effect,
		Text:    q.Text,
		Digest:  hex.EncodeToString(q.Digest[:]),
		By:      q.By,
		Ref:     q.Ref,
		Lines:   q.Lines,
		Rows:    q.Rows,
		Cost:    q.Cost,
		Shown:   q.linesDigest,
		Only:    q.Only,
		Typed:   q.Typed,
		Offer:   q.Offer,
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

// parseQuestion parses the file of the question with a code. It accepts exactly the bytes that encode writes: a field
// that is unknown, repeated or spelled in another case could mean something else to another reader.
func parseQuestion(code string, data []byte) (StoredQuestion, bool) {
	var r record
	if len(data) > maxRecord || json.Unmarshal(data, &r) != nil {
		return StoredQuestion{}, false
	}
	if r.Code != code || !isCode(code) {
		return StoredQuestion{}, false
	}
	state := slices.IndexFunc(storedStates, func(s State) bool { return s.String() == r.State })
	digest, err := hex.DecodeString(r.Digest)
	if state < 0 || err != nil || len(digest) != len(Digest{}) {
		return StoredQuestion{}, false
	}
	var call CallDigest
	if r.Call != "" {
		callDigest, err := hex.DecodeString(r.Call)
		if err != nil || len(callDigest) != len(call) {
			return StoredQuestion{}, false
		}
		call = CallDigest(callDigest)
	}
	q := StoredQuestion{
		Code:        displayCode(r.Code),
		State:       storedStates[state],
		Made:        r.Made.UTC(),
		Expires:     r.Expires.UTC(),
		Session:     r.Session,
		Client:      r.Client,
		Vault:       r.Vault,
		Command:     r.Command,
		Effect:      r.Effect,
		Text:        r.Text,
		Digest:      Digest(digest),
		Call:        call,
		By:          r.By,
		Ref:         r.Ref,
		Lines:       r.Lines,
		Rows:        r.Rows,
		Cost:        r.Cost,
		Only:        r.Only,
		Typed:       r.Typed,
		Offer:       r.Offer,
		linesDigest: r.Shown,
	}
	haveLinesOnePlace := r.Shown == "" || len(r.Lines) == 0
	life := q.Expires.Sub(q.Made)
	isLifeValid := life > 0 && life <= maxLife
	if !haveLinesOnePlace || !isLifeValid || q.check() != nil {
		return StoredQuestion{}, false
	}
	encoded, err := q.encode()
	return q, err == nil && bytes.Equal(encoded, data)
}

// alphabet omits characters that the user could confuse: 0 and O, 1, I and L.
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const codeLength = 8 // characters; nobody types the code of another question by mistake

// codeFrom returns an unguessable code from a random source that never fails. All codes are equally
// likely.
func codeFrom(source io.Reader) string {
	// Larger bytes are drawn again: they would make some characters likelier than others.
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

// displayCode returns a code as the user reads it, with a dash.
func displayCode(code string) string { return code[:codeLength/2] + "-" + code[codeLength/2:] }

// parseCode normalizes a code that the user typed. ok is false for anything but a well-formed code, so a code is safe
// as part of a file name.
func parseCode(typed string) (code string, ok bool) {
	code = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' { // not strings.ToUpper: some non-ASCII letters, such as ı, have ASCII capitals
			return r - 'a' + 'A'
		}
		return r
	}, strings.ReplaceAll(typed, "-", ""))
	return code, isCode(code)
}

// isCode reports whether a text is a code without its dash.
func isCode(text string) bool {
	return len(text) == codeLength && strings.Trim(text, alphabet) == ""
}
