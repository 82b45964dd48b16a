package guard

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	key   []byte
	scope Scope
	text  string // of String
}

// NewMarker returns a marker with a key, of secrets or if it is strict of [SecretsAndNumbers].
func NewMarker(key []byte, strict bool) *Marker {
	scope := Secrets
	mode := "redact:"
	if strict {
		scope = SecretsAndNumbers
		mode = "strict:"
	}
	return &Marker{bytes.Clone(key), scope, mode + hex.EncodeToString(key)}
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

// String returns the text from which [ParseMarker] makes the marker again. It contains the key: do not log it.
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

// Cuts reports whether after has a part of a mark that before has whole, or something that looks like a part of it: then
// the secret would be lost, and what looks like its mark be stored. A mark may go as a whole.
func Cuts(before, after []byte) bool {
	lost := map[string]int{}
	for _, mark := range markPattern().FindAll(before, -1) {
		lost[string(mark)]++
	}
	for _, mark := range markPattern().FindAll(after, -1) {
		lost[string(mark)]--
	}
	old := markPattern().ReplaceAll(before, []byte(" "))
	now := markPattern().ReplaceAll(after, []byte(" "))
	for mark, times := range lost {
		if times <= 0 {
			continue
		}
		part := partOfMark(mark)
		if len(part.FindAll(now, -1)) > len(part.FindAll(old, -1)) {
			return true
		}
	}
	return false
}

// Kinds returns the kinds of the marks in a text, each once, in order of appearance.
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

// IsKind reports whether any rule finds secrets of a kind. Notes may contain text that looks like a mark of another
// one.
func IsKind(kind string) bool {
	return kind == "card-number" || kind == "iban" ||
		slices.ContainsFunc(allRules(), func(r *rule) bool { return r.kind == kind })
}

func (m *Marker) mark(kind string, secret []byte) string {
	sum := hmac.New(sha256.New, m.key)
	_, _ = sum.Write(secret) // never fails
	return markBegins + kind + ":" + hex.EncodeToString(sum.Sum(nil)[:3]) + "›"
}

// Redact returns the text with marks in place of its secrets, or text itself if it has none. It has as many lines as
// before.
func (m *Marker) Redact(text []byte) []byte {
	out, _ := m.RedactWithin(text, nil) // without spend there is no error
	return out
}

// RedactWithin is Redact with a budget: it calls spend for the work, and returns its error.
func (m *Marker) RedactWithin(text []byte, spend Spend) ([]byte, error) {
	if m == nil {
		return text, nil
	}
	if len(text) <= chunkSize {
		found, err := find(text, m.scope, spend)
		if err != nil {
			return nil, err
		}
		return m.marked(text, found), nil
	}
	out, err := io.ReadAll(m.Reader(bytes.NewReader(text), spend))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// marked returns a text with marks in place of what was found in it.
func (m *Marker) marked(text []byte, found []Span) []byte {
	if len(found) == 0 {
		return text
	}
	var out []byte
	at := 0
	for _, s := range found {
		out = append(append(out, text[at:s.Start]...), m.mark(s.Kind, s.secret)...)
		at = s.End
	}
	return append(out, text[at:]...)
}

func (m *Marker) redactPieces(pieces []string, spend Spend) ([]string, error) {
	if m == nil {
		return pieces, nil
	}
	joined, err := find([]byte(strings.Join(pieces, "")), m.scope, spend)
	if err != nil {
		return nil, err
	}
	redacted := make([]string, len(pieces))
	start := 0
	for i, piece := range pieces {
		text := []byte(piece)
		found, err := find(text, m.scope, spend)
		if err != nil {
			return nil, err
		}
		end := start + len(text)
		for _, f := range joined {
			from := max(f.Start, start)
			to := min(f.End, end)
			if from >= to {
				continue
			}
			if to-from < f.End-f.Start { // the rest is in another piece
				f.secret = nil
			}
			found = append(found, Span{Start: from - start, End: to - start, Kind: f.Kind, secret: f.secret})
		}
		found = united(found)
		for n, f := range found {
			if f.secret == nil {
				found[n].secret = text[f.Start:f.End]
			}
		}
		redacted[i] = string(m.marked(text, found))
		start = end
	}
	return redacted, nil
}

// RedactProperty redacts the printed value of a property, one list item a line. The value is searched as YAML
// under its name, so that rules that need the name apply.
func (m *Marker) RedactProperty(name, value string) string {
	if m == nil {
		return value
	}
	head := "---\n\"" + string(inQuotes([]byte(name))) + "\": |\n"
	const behind = "---\n"
	var block strings.Builder
	block.WriteString(head)
	for line := range strings.Lines(value) {
		block.WriteString("  " + line)
	}
	open := !strings.HasSuffix(value, "\n")
	if open {
		block.WriteString("\n")
	}
	shown := string(m.Redact([]byte(block.String() + behind)))
	for range strings.Count(head, "\n") { // of which the name may have become a mark, too
		_, rest, found := strings.Cut(shown, "\n")
		if !found {
			return shown // a secret goes from the name on into the value
		}
		shown = rest
	}
	var out strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(shown, behind)) {
		out.WriteString(strings.TrimPrefix(line, "  "))
	}
	if open {
		return strings.TrimSuffix(out.String(), "\n")
	}
	return out.String()
}

// Large texts are searched in chunks. All sizes are in bytes.
const (
	chunkSize = 256 << 10
	// Where a long line is split, each piece is searched with lookBehind bytes before it, for the name of a value, and
	// with lookAhead bytes after it, for the rest of a token.
	lookBehind = 2 * longestValue
	lookAhead  = longestToken + longestValue
	// longestProperties is how far properties are searched at once.
	longestProperties = 1 << 20
)

// wanted returns how many bytes of a text are to be there before its first piece is searched.
func wanted(text []byte) int {
	if end, isOpen := propertiesEnd(text); isOpen && len(text) < longestProperties {
		return longestProperties
	} else if end < longestProperties {
		return max(chunkSize, end) + lookAhead
	}
	return chunkSize + lookAhead
}

// chunkOf returns the size of the next chunk. It ends at a line break outside private keys and properties, if it can;
// whole is false if it ends within a line.
func chunkOf(text []byte) (size int, whole bool) {
	size = chunkSize
	if end, isOpen := propertiesEnd(text); !isOpen && end < longestProperties {
		size = max(size, end)
	}
	if len(text) <= size {
		return len(text), true
	}
	part := text[:size]
	begin := []byte("-----BEGIN ")
	if bytes.Contains(part, begin) { // Contains is faster than LastIndex, and most texts have none
		begins := bytes.LastIndex(part, begin)
		if begins > 0 && begins > bytes.LastIndex(part, keyEnds[0]) {
			part = part[:begins]
		}
	}
	for end := len(part); end > 0; {
		if end = bytes.LastIndexByte(part[:end], '\n'); end > 0 && part[end-1] != '\\' {
			return end + 1, true
		}
	}
	return len(part), false
}

// firstRead is how much of a file is read first, in bytes: all of most notes.
const firstRead = 8 << 10

// Reader returns a reader of the redacted text of r. It buffers about two chunks.
func (m *Marker) Reader(r io.Reader, spend Spend) io.Reader {
	return &redacting{m: m, from: r, spend: spend}
}

type redacting struct {
	m        *Marker
	spend    Spend
	from     io.Reader
	behind   int    // how many bytes at the start of raw were already redacted, kept as context
	raw      []byte // not yet shown
	shown    []byte // not yet read
	finished error
}

func (r *redacting) Read(into []byte) (int, error) {
	for len(r.shown) == 0 {
		for r.finished == nil && len(r.raw)-r.behind <= wanted(r.raw[r.behind:]) {
			if len(r.raw) == cap(r.raw) {
				r.raw = slices.Grow(r.raw, max(firstRead, len(r.raw)))
			}
			n, err := r.from.Read(r.raw[len(r.raw):cap(r.raw)])
			r.raw = r.raw[:len(r.raw)+n]
			r.finished = err
		}
		if len(r.raw) == r.behind {
			return 0, r.finished
		}
		if err := r.next(); err != nil {
			r.raw = nil
			r.behind = 0
			r.finished = err
			return 0, err
		}
	}
	n := copy(into, r.shown)
	r.shown = r.shown[n:]
	return n, nil
}

// next redacts the next piece of the text.
func (r *redacting) next() error {
	size, whole := chunkOf(r.raw[r.behind:])
	end := r.behind + size
	window := r.raw[:end:end]
	if !whole {
		window = r.raw[:min(len(r.raw), end+lookAhead)]
	}
	found, err := find(window, r.m.scope, r.spend)
	if err != nil {
		return err
	}
	if !whole {
		end = cutBefore(window, found, r.behind, end)
	}
	var within []Span
	for _, f := range found {
		if start := max(f.Start, r.behind); start < min(
			f.End,
			end,
		) { // all of it, but for one that is longer than what is searched
			within = append(within, Span{Start: start - r.behind, End: min(f.End, end) - r.behind, Kind: f.Kind, secret: f.secret})
		}
	}
	r.shown = r.m.marked(r.raw[r.behind:end:end], within)
	keep := end
	if !whole {
		keep = max(0, end-lookBehind)
	}
	r.behind = end - keep
	r.raw = slices.Clone(r.raw[keep:])
	return nil
}

// cutBefore returns where to split a long line: at near, or before the secret, escape or mark that near is inside of.
// The result is after start.
func cutBefore(window []byte, found []Span, start, near int) int {
	const longestMark = len(markBegins) + 64 + len(":000000›")
	cut := near
	if at := bytes.LastIndexByte(window[start:cut], '\\'); at >= 0 && cut-start-at < len(`\ud800\udc00`) {
		cut = start + at
	}
	if at := bytes.LastIndex(window[max(start, cut-longestMark):cut], []byte("‹")); at >= 0 {
		cut = max(start, cut-longestMark) + at
	}
	for _, f := range found {
		if f.Start < cut && cut < f.End {
			cut = f.Start
		}
	}
	if cut <= start { // a secret that is longer than the piece
		return near
	}
	return cut
}

// UnknownMark says that a text has a mark whose secret is in none of the notes of a change.
type UnknownMark struct{ Mark string }

func (e *UnknownMark) Error() string { return e.Mark + " is the mark of a secret of another note" }

// ErrExposed says that a secret would no longer be recognized in a text, and so be shown the next
// time.
var ErrExposed = errors.New("a secret would no longer be recognized, and so be shown")

// secret is what a mark stands for, in the spellings that it has in texts.
type secret struct {
	value     []byte   // decoded
	spellings [][]byte // each once
	places    [][]int  // by text: which spelling each has, in the order of its places
	ambiguous bool     // another secret has the same mark
}

// spelled notes that a text has the secret once more.
func (s *secret) spelled(text int, as []byte) {
	n := slices.IndexFunc(s.spellings, func(known []byte) bool { return bytes.Equal(known, as) })
	if n < 0 {
		n = len(s.spellings)
		s.spellings = append(s.spellings, bytes.Clone(as))
	}
	s.places[text] = append(s.places[text], n)
}

// spelling returns the spelling for the n-th of places occurrences: that of the n-th occurrence in an original text
// with equally many.
func (s *secret) spelling(n, places int) []byte {
	if len(s.spellings) == 1 {
		return s.spellings[0]
	}
	for _, as := range s.places {
		if len(as) == places {
			return s.spellings[as[n]]
		}
	}
	return s.value
}

// secretsOf returns the secrets of some texts by their marks.
func (m *Marker) secretsOf(texts [][]byte, spend Spend) (map[string]*secret, error) {
	secrets := map[string]*secret{}
	for i, text := range texts {
		found, err := find(text, m.scope, spend)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			mark := m.mark(f.Kind, f.secret)
			known := secrets[mark]
			if known == nil {
				known = &secret{value: bytes.Clone(f.secret), places: make([][]int, len(texts))}
				secrets[mark] = known
			}
			known.ambiguous = known.ambiguous || !bytes.Equal(known.value, f.secret)
			known.spelled(i, text[f.Start:f.End])
		}
	}
	return secrets, nil
}

// spellers write a secret into a text, at the n-th of some places. They are tried in this order until the result
// redacts back to the same marks: the original spelling, the decoded value, the value escaped for a quoted string.
var spellers = []func(s *secret, n, places int) []byte{
	(*secret).spelling,
	func(s *secret, _, _ int) []byte { return s.value },
	func(s *secret, _, _ int) []byte { return inQuotes(s.value) },
}

// inQuotes writes a text as a part of a string in double quotes, of JSON and of YAML.
func inQuotes(text []byte) []byte {
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return text
	}
	return quoted[1 : len(quoted)-1]
}

// Restore returns a function that puts the secrets of the texts in place of their marks, and of what is nearly one of
// them. A mark that one of the texts has itself stays as it is; for any other one the error is an
// [*UnknownMark], as for a mark that two secrets have, and a [*NearMark] for what is nearly another one. It is
// [ErrExposed] where redacting the result does not bring the marks back, such as for a password without its name, or
// that of spend.
func (m *Marker) Restore(spend Spend, from ...[]byte) func(text []byte) ([]byte, error) {
	r := m.Restorer(spend, from...)
	return func(text []byte) ([]byte, error) {
		text, err := r.Marked(text)
		if err != nil {
			return nil, err
		}
		return r.Restored(text)
	}
}

// Restorer knows the secrets of some texts by their marks. The texts are searched at the first mark to restore.
type Restorer struct {
	m     *Marker
	spend Spend
	from  [][]byte
	known func() (map[string]*secret, error)
}

// Restorer returns what restores the secrets of the texts, see [Marker.Restore].
func (m *Marker) Restorer(spend Spend, from ...[]byte) *Restorer {
	known := sync.OnceValues(func() (map[string]*secret, error) { return m.secretsOf(from, spend) })
	return &Restorer{m, spend, from, known}
}

// Marked returns a text with marks in place of what is nearly a mark.
func (r *Restorer) Marked(text []byte) ([]byte, error) {
	if r.m == nil || !mayBeNear(text) {
		return text, nil
	}
	secrets, err := r.known()
	if err != nil {
		return nil, err
	}
	return nearly(text, secrets, r.from)
}

// Restored returns a text with secrets in place of marks.
func (r *Restorer) Restored(text []byte) ([]byte, error) {
	if r.m == nil || !HasMark(text) {
		return text, nil
	}
	secrets, err := r.known()
	if err != nil {
		return nil, err
	}
	places := map[string]int{}
	for _, at := range Marks(text) {
		mark := string(text[at[0]:at[1]])
		places[mark]++
		isKnown := secrets[mark] != nil && !secrets[mark].ambiguous
		if !isKnown &&
			!slices.ContainsFunc(r.from, func(raw []byte) bool { return bytes.Contains(raw, []byte(mark)) }) {
			return nil, &UnknownMark{mark}
		}
	}
	var before []byte
	for _, spell := range spellers {
		done := map[string]int{}
		restored := markPattern().ReplaceAllFunc(text, func(mark []byte) []byte {
			known := secrets[string(mark)]
			if known == nil || known.ambiguous {
				return mark
			}
			n := done[string(mark)]
			done[string(mark)]++
			return spell(known, n, places[string(mark)])
		})
		if bytes.Equal(restored, before) {
			continue
		}
		before = restored
		again, err := r.m.RedactWithin(restored, r.spend)
		if err != nil {
			return nil, err
		}
		if covers(again, text) {
			return restored, nil
		}
	}
	return nil, ErrExposed
}

// covers reports whether text has each mark of other at least as often, ignoring the kind.
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
