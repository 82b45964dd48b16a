package guard

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Variable names the environment variable with which the embedded program is told to redact
// what it reads: the text of [Marker.String].
const Variable = "VAULTWICKET_REDACT"

// Marker replaces secrets by marks such as ‹secret:github-pat:3fa9c1›, and marks by the
// secrets. The last part is made from the secret with a key, so that the same secret has the
// same mark in every answer, and guesses cannot be verified without the key. A mark is valid
// text in a property of YAML, in JSON, in a table and in a link.
//
// The nil Marker replaces nothing. A Marker is safe for concurrent use.
type Marker struct {
	key    []byte
	strict bool
	text   string // of String
}

// NewMarker returns a marker with a key; strict is that of [Find].
func NewMarker(key []byte, strict bool) *Marker {
	mode := "redact:"
	if strict {
		mode = "strict:"
	}
	return &Marker{bytes.Clone(key), strict, mode + hex.EncodeToString(key)}
}

// ParseMarker reads what String has written. The marker of "" is nil.
func ParseMarker(text string) (*Marker, error) {
	if text == "" {
		return nil, nil
	}
	mode, digits, _ := strings.Cut(text, ":")
	key, err := hex.DecodeString(digits)
	if err != nil || len(key) == 0 || mode != "redact" && mode != "strict" {
		return nil, fmt.Errorf("invalid value of %s", Variable)
	}
	return NewMarker(key, mode == "strict"), nil
}

// String returns the text from which [ParseMarker] makes the marker again. It has the key.
func (m *Marker) String() string {
	if m == nil {
		return ""
	}
	return m.text
}

const markBegins = "‹secret:"

var markPattern = lazily(`‹secret:([a-z0-9-]{1,64}):[0-9a-f]{6}›`)

// HasMark reports whether a text may have a mark. It costs one search.
func HasMark(text []byte) bool { return bytes.Contains(text, []byte(markBegins)) }

// Marks returns the start and the end of each mark of a text, in bytes.
func Marks(text []byte) [][]int {
	if !HasMark(text) {
		return nil
	}
	return markPattern().FindAllIndex(text, -1)
}

// Divides reports whether a part of a text, from start up to end in bytes, begins or ends within a
// mark of [Marks].
func Divides(mark []int, start, end int) bool {
	return mark[0] < end && mark[1] > start && (mark[0] < start || mark[1] > end)
}

// Cuts reports whether after has a part of a mark that before has whole: then the secret would be
// lost, and something that looks like its mark be stored. A mark may go as a whole.
func Cuts(before, after []byte) bool {
	lost := map[string]int{}
	for _, mark := range markPattern().FindAll(before, -1) {
		lost[string(mark)]++
	}
	for _, mark := range markPattern().FindAll(after, -1) {
		lost[string(mark)]--
	}
	old, now := markPattern().ReplaceAll(before, []byte(" ")), markPattern().ReplaceAll(after, []byte(" "))
	for mark, times := range lost {
		for _, part := range []string{markBegins, mark[len(mark)-len("00›"):]} {
			if times > 0 && bytes.Count(now, []byte(part)) > bytes.Count(old, []byte(part)) {
				return true
			}
		}
	}
	return false
}

// Kinds returns the kinds of the secrets whose marks a text has, each once, in order.
func Kinds(text string) (kinds []string) {
	if !strings.Contains(text, markBegins) {
		return nil
	}
	for _, m := range markPattern().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(kinds, m[1]) {
			kinds = append(kinds, m[1])
		}
	}
	return kinds
}

// IsKind reports whether there is a rule of a kind: a note can have a mark of any other one.
func IsKind(kind string) bool {
	return kind == "card-number" || kind == "iban" || slices.ContainsFunc(allRules(), func(r *rule) bool { return r.kind == kind })
}

func (m *Marker) mark(kind string, secret []byte) string {
	sum := hmac.New(sha256.New, m.key)
	_, _ = sum.Write(secret) // a hash takes everything
	return markBegins + kind + ":" + hex.EncodeToString(sum.Sum(nil)[:3]) + "›"
}

// binaryStart is how much of a file is searched for a NUL byte, which no text has.
const binaryStart = 8 << 10

// Redact returns the text with marks in place of its secrets: the very same slice if it has
// none, or if it is no text. It has as many lines as before.
func (m *Marker) Redact(text []byte) []byte {
	out, _ := m.RedactWithin(text, nil) // nothing is charged
	return out
}

// RedactWithin is Redact that is charged. With an error, which is that of spend, there is no text.
func (m *Marker) RedactWithin(text []byte, spend Spend) ([]byte, error) {
	if m == nil || isBinary(text) {
		return text, nil
	}
	if len(text) <= chunkSize {
		return m.chunk(text, spend)
	}
	out, err := io.ReadAll(m.Reader(bytes.NewReader(text), spend))
	if err != nil {
		return nil, err
	}
	return out, nil
}

func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), binaryStart)], 0) >= 0 }

// chunkSize is how much of a large text is searched at once, in bytes.
const chunkSize = 256 << 10

// chunkOf returns how many bytes of a text are searched at once: whole lines, and no part of a
// private key, unless one is longer than all of it.
func chunkOf(text []byte) int {
	if len(text) <= chunkSize {
		return len(text)
	}
	part := text[:chunkSize]
	if begins := bytes.LastIndex(part, []byte("-----BEGIN ")); begins > 0 && begins > bytes.LastIndex(part, keyEnds) {
		part = part[:begins]
	}
	for end := len(part); end > 0; {
		if end = bytes.LastIndexByte(part[:end], '\n'); end > 0 && part[end-1] != '\\' {
			return end + 1
		}
	}
	return len(part)
}

// chunk redacts a text that is searched at once.
func (m *Marker) chunk(text []byte, spend Spend) ([]byte, error) {
	found, err := find(text, m.strict, spend)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return text, nil
	}
	var out []byte
	at := 0
	for _, s := range found {
		out = append(append(out, text[at:s.Start]...), m.mark(s.Kind, text[s.Start:s.End])...)
		at = s.End
	}
	return append(out, text[at:]...), nil
}

// firstRead is how much of a file is read first, in bytes: all of most notes.
const firstRead = 8 << 10

// Reader returns a reader of what RedactWithin returns for all that r has. It buffers two chunks.
func (m *Marker) Reader(r io.Reader, spend Spend) io.Reader {
	return &redacting{m: m, from: r, spend: spend}
}

type redacting struct {
	m        *Marker
	spend    Spend
	from     io.Reader
	raw      []byte // not yet redacted
	shown    []byte // not yet read
	binary   bool
	begun    bool
	finished error
}

func (r *redacting) Read(into []byte) (int, error) {
	for len(r.shown) == 0 {
		for len(r.raw) <= chunkSize && r.finished == nil {
			if len(r.raw) == cap(r.raw) {
				r.raw = slices.Grow(r.raw, max(firstRead, len(r.raw)))
			}
			n, err := r.from.Read(r.raw[len(r.raw):cap(r.raw)])
			r.raw, r.finished = r.raw[:len(r.raw)+n], err
		}
		if len(r.raw) == 0 {
			return 0, r.finished
		}
		if !r.begun {
			r.begun, r.binary = true, isBinary(r.raw)
		}
		n := chunkOf(r.raw)
		if r.shown = r.raw[:n:n]; !r.binary {
			var err error
			if r.shown, err = r.m.chunk(r.shown, r.spend); err != nil {
				r.raw, r.finished = nil, err
				return 0, err
			}
		}
		r.raw = slices.Clone(r.raw[n:])
	}
	n := copy(into, r.shown)
	r.shown = r.shown[n:]
	return n, nil
}

// UnknownMark says that a text has a mark of a secret that none of the notes of a change has.
type UnknownMark struct{ Mark string }

func (e *UnknownMark) Error() string { return e.Mark + " is the mark of a secret of another note" }

// ErrExposed says that a secret would no longer be recognized in a text, and so be shown the next
// time.
var ErrExposed = errors.New("a secret would no longer be recognized, and so be shown")

// Restore returns a function that puts the secrets of the texts in place of their marks. A mark
// that one of the texts has itself stays as it is; for any other one the error is an
// [*UnknownMark], as for a mark that two secrets have. It is [ErrExposed] where redacting the
// result does not bring the marks back, such as for a password without its name, or that of spend.
func (m *Marker) Restore(spend Spend, from ...[]byte) func(text []byte) ([]byte, error) {
	known := sync.OnceValues(func() (map[string][]byte, error) {
		secrets := map[string][]byte{}
		for _, raw := range from {
			found, err := find(raw, m.strict, spend)
			if err != nil {
				return nil, err
			}
			for _, s := range found {
				secret := raw[s.Start:s.End]
				mark := m.mark(s.Kind, secret)
				if other, ok := secrets[mark]; ok && !bytes.Equal(other, secret) {
					secret = nil
				}
				secrets[mark] = secret
			}
		}
		return secrets, nil
	})
	return func(text []byte) ([]byte, error) {
		if m == nil || !HasMark(text) {
			return text, nil
		}
		secrets, failed := known()
		if failed != nil {
			return nil, failed
		}
		restored := markPattern().ReplaceAllFunc(text, func(mark []byte) []byte {
			if secret := secrets[string(mark)]; secret != nil {
				return secret
			}
			if !slices.ContainsFunc(from, func(raw []byte) bool { return bytes.Contains(raw, mark) }) {
				failed = &UnknownMark{string(mark)}
			}
			return mark
		})
		if failed == nil {
			var again []byte
			if again, failed = m.RedactWithin(restored, spend); failed == nil && !covers(again, text) {
				failed = ErrExposed
			}
		}
		return restored, failed
	}
}

// covers reports whether a text has each mark of another text as often as that one, whatever
// the kind.
func covers(text, other []byte) bool {
	count := map[string]int{}
	for _, mark := range markPattern().FindAll(text, -1) {
		count[string(mark[bytes.LastIndexByte(mark, ':'):])]++
	}
	for _, mark := range markPattern().FindAll(other, -1) {
		count[string(mark[bytes.LastIndexByte(mark, ':'):])]--
	}
	for _, n := range count {
		if n < 0 {
			return false
		}
	}
	return true
}
