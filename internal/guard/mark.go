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

// Variable is the environment variable that makes the embedded program redact what it reads. Its value is that of
// [Marker.String].
const Variable = "VAULTWICKET_REDACT"

// Marker replaces secrets with marks such as ‹secret:github-pat:3fa9c1›, and marks with the
// secrets. The last part is a keyed hash of the secret: the same secret gets the same mark in
// every answer, and guesses cannot be verified without the key. A mark is valid text in a YAML
// property, in JSON, in a table and in a link.
//
// The nil Marker replaces nothing. A Marker is safe for concurrent use.
type Marker struct {
	key     []byte
	scope   Scope
	encoded string // what String returns
}

// NewMarker returns a marker of [Secrets], or of [SecretsAndNumbers] if strict, that hashes with key.
func NewMarker(key []byte, strict bool) *Marker {
	scope := Secrets
	mode := "redact:"
	if strict {
		scope = SecretsAndNumbers
		mode = "strict:"
	}
	return &Marker{bytes.Clone(key), scope, mode + hex.EncodeToString(key)}
}

// ParseMarker is the inverse of String. It returns nil for "".
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

// String encodes the marker for [ParseMarker]. The result contains the key: do not log it.
func (m *Marker) String() string {
	if m == nil {
		return ""
	}
	return m.encoded
}

const markPrefix = "‹secret:"

var markPattern = lazily(`‹secret:([a-z0-9-]{1,64}):[0-9a-f]{6}›`)

// longestMark is the maximum length in bytes of a match of markPattern.
const longestMark = len(markPrefix) + 64 + len(":000000›")

// HasMark reports whether a text may contain a mark. It is a fast check before [Marks].
func HasMark(text []byte) bool { return bytes.Contains(text, []byte(markPrefix)) }

// Marks returns the start and end offsets of each mark in a text, in bytes.
func Marks(text []byte) [][]int {
	if !HasMark(text) {
		return nil
	}
	return markPattern().FindAllIndex(text, -1)
}

// Divides reports whether text[start:end] begins or ends inside a mark, given as an element of [Marks].
func Divides(mark []int, start, end int) bool {
	return mark[0] < end && mark[1] > start && (mark[0] < start || mark[1] > end)
}

// Cuts reports whether a change from before to after leaves a fragment of a mark, or what looks like one: it would be
// stored in place of the secret. Removing a whole mark is fine.
func Cuts(before, after []byte) bool {
	removed := map[string]int{}
	for _, mark := range markPattern().FindAll(before, -1) {
		removed[string(mark)]++
	}
	for _, mark := range markPattern().FindAll(after, -1) {
		removed[string(mark)]--
	}
	// Whole marks would match as fragments.
	oldRest := markPattern().ReplaceAll(before, []byte(" "))
	newRest := markPattern().ReplaceAll(after, []byte(" "))
	for mark, times := range removed {
		if times <= 0 {
			continue
		}
		fragment := fragmentOfMark(mark)
		if len(fragment.FindAll(newRest, -1)) > len(fragment.FindAll(oldRest, -1)) {
			return true
		}
	}
	return false
}

// Kinds returns the kinds of the marks in a text, each once, in order of appearance.
func Kinds(text string) (kinds []string) {
	if !strings.Contains(text, markPrefix) {
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
	return markPrefix + kind + ":" + hex.EncodeToString(sum.Sum(nil)[:3]) + "›"
}

// Redact returns the text with marks in place of its secrets, or text itself if it has none. The number of lines does
// not change.
func (m *Marker) Redact(text []byte) []byte {
	out, _ := m.RedactWithin(text, nil) // only spend returns errors
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
		return m.replace(text, found), nil
	}
	out, err := io.ReadAll(m.Reader(bytes.NewReader(text), spend))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// replace returns a text with marks in place of the secrets found in it.
func (m *Marker) replace(text []byte, found []Span) []byte {
	if len(found) == 0 {
		return text
	}
	var out []byte
	at := 0
	for _, s := range found {
		out = append(out, text[at:s.Start]...)
		out = append(out, m.mark(s.Kind, s.secret)...)
		at = s.End
	}
	return append(out, text[at:]...)
}

// redactPieces redacts the pieces of one text: the secrets of each piece alone, and its parts of the secrets that only
// the joined text shows. Each such part gets a mark of its own.
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
		found = merge(found)
		for n, f := range found {
			if f.secret == nil {
				found[n].secret = text[f.Start:f.End]
			}
		}
		redacted[i] = string(m.replace(text, found))
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
	const closing = "---\n"
	var block strings.Builder
	block.WriteString(head)
	for line := range strings.Lines(value) {
		block.WriteString("  " + line)
	}
	lacksNewline := !strings.HasSuffix(value, "\n")
	if lacksNewline {
		block.WriteString("\n")
	}
	shown := string(m.Redact([]byte(block.String() + closing)))
	for range strings.Count(head, "\n") { // not its length: the name may have become a mark
		_, rest, found := strings.Cut(shown, "\n")
		if !found {
			return shown // a secret extends from the name into the value
		}
		shown = rest
	}
	var out strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(shown, closing)) {
		out.WriteString(strings.TrimPrefix(line, "  "))
	}
	if lacksNewline {
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
	// longestProperties is the size up to which properties are searched as a whole.
	longestProperties = 1 << 20
)

// bytesNeeded returns how many bytes of a text must be buffered before its next chunk can be searched.
func bytesNeeded(text []byte) int {
	end, isOpen := propertiesEnd(text)
	switch {
	case isOpen && len(text) < longestProperties:
		return longestProperties
	case end < longestProperties:
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
	chunk := text[:size]
	keyStart := []byte("-----BEGIN ")
	if bytes.Contains(chunk, keyStart) { // Contains is faster than LastIndex, and most texts have none
		lastKey := bytes.LastIndex(chunk, keyStart)
		isUnclosed := lastKey > bytes.LastIndex(chunk, keyEnds[0])
		if lastKey > 0 && isUnclosed {
			chunk = chunk[:lastKey]
		}
	}
	end := bytes.LastIndexByte(chunk, '\n')
	for end > 0 {
		if chunk[end-1] != '\\' { // not a continued line
			return end + 1, true
		}
		end = bytes.LastIndexByte(chunk[:end], '\n')
	}
	return len(chunk), false
}

// firstRead is the size of the first read, in bytes: enough for most notes.
const firstRead = 8 << 10

// Reader returns a reader of the redacted text of r. It buffers about two chunks.
func (m *Marker) Reader(r io.Reader, spend Spend) io.Reader {
	return &redactingReader{m: m, from: r, spend: spend}
}

// redactingReader is the reader that [Marker.Reader] returns.
type redactingReader struct {
	m        *Marker
	spend    Spend
	from     io.Reader
	context  int    // how many bytes at the start of raw were already redacted, kept as context
	raw      []byte // read from from, not yet redacted after context
	redacted []byte // not yet returned by Read
	finished error  // error of from, such as io.EOF, or of the search
}

func (r *redactingReader) Read(buf []byte) (int, error) {
	for len(r.redacted) == 0 {
		for r.finished == nil && len(r.raw)-r.context <= bytesNeeded(r.raw[r.context:]) {
			if len(r.raw) == cap(r.raw) {
				r.raw = slices.Grow(r.raw, max(firstRead, len(r.raw)))
			}
			n, err := r.from.Read(r.raw[len(r.raw):cap(r.raw)])
			r.raw = r.raw[:len(r.raw)+n]
			r.finished = err
		}
		if len(r.raw) == r.context {
			return 0, r.finished
		}
		if err := r.redactNext(); err != nil {
			r.raw = nil
			r.context = 0
			r.finished = err
			return 0, err
		}
	}
	n := copy(buf, r.redacted)
	r.redacted = r.redacted[n:]
	return n, nil
}

// redactNext redacts the next chunk of the text.
func (r *redactingReader) redactNext() error {
	size, whole := chunkOf(r.raw[r.context:])
	end := r.context + size
	window := r.raw[:end:end]
	if !whole {
		window = r.raw[:min(len(r.raw), end+lookAhead)]
	}
	found, err := find(window, r.m.scope, r.spend)
	if err != nil {
		return err
	}
	if !whole {
		end = splitPoint(window, found, r.context, end)
	}
	var within []Span
	for _, f := range found {
		// A span is within the chunk as a whole, unless it is longer than what is searched.
		spanStart := max(f.Start, r.context)
		spanEnd := min(f.End, end)
		if spanStart >= spanEnd {
			continue
		}
		within = append(within, Span{
			Start:  spanStart - r.context,
			End:    spanEnd - r.context,
			Kind:   f.Kind,
			secret: f.secret,
		})
	}
	r.redacted = r.m.replace(r.raw[r.context:end:end], within)
	contextStart := end
	if !whole {
		contextStart = max(0, end-lookBehind)
	}
	r.context = end - contextStart
	r.raw = slices.Clone(r.raw[contextStart:])
	return nil
}

// splitPoint returns where to split a long line: at near, or before the secret, escape or mark that near is inside of.
// The result is after start.
func splitPoint(window []byte, found []Span, start, near int) int {
	const longestEscape = len(`\ud800\udc00`)
	split := near
	escape := bytes.LastIndexByte(window[start:split], '\\')
	if escape >= 0 && split-start-escape < longestEscape {
		split = start + escape
	}
	markStart := max(start, split-longestMark)
	mark := bytes.LastIndex(window[markStart:split], []byte("‹"))
	if mark >= 0 {
		split = markStart + mark
	}
	for _, f := range found {
		if f.Start < split && split < f.End {
			split = f.Start
		}
	}
	if split <= start { // a secret is longer than the chunk
		return near
	}
	return split
}

// UnknownMark reports a mark whose secret is in none of the notes of a change.
type UnknownMark struct{ Mark string }

func (e *UnknownMark) Error() string { return e.Mark + " is the mark of a secret of another note" }

// ErrExposed reports that a restored secret would not be recognized, and therefore shown, at the next read.
var ErrExposed = errors.New("a secret would no longer be recognized, and so be shown")

// secret is the secret of a mark, in the spellings that it has in texts.
type secret struct {
	value       []byte   // decoded
	spellings   [][]byte // each once
	occurrences [][]int  // for each text, the index of the spelling at each occurrence
	ambiguous   bool     // another secret has the same mark
}

// addSpelling records an occurrence of the secret in the text with an index.
func (s *secret) addSpelling(text int, spelling []byte) {
	n := slices.IndexFunc(s.spellings, func(known []byte) bool { return bytes.Equal(known, spelling) })
	if n < 0 {
		n = len(s.spellings)
		s.spellings = append(s.spellings, bytes.Clone(spelling))
	}
	s.occurrences[text] = append(s.occurrences[text], n)
}

// spellingAt returns the spelling for the n-th of count occurrences: that of the n-th occurrence in an original text
// with equally many.
func (s *secret) spellingAt(n, count int) []byte {
	if len(s.spellings) == 1 {
		return s.spellings[0]
	}
	for _, indexes := range s.occurrences {
		if len(indexes) == count {
			return s.spellings[indexes[n]]
		}
	}
	return s.value
}

// secretsOf returns the secrets of the texts by their marks.
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
				known = &secret{value: bytes.Clone(f.secret), occurrences: make([][]int, len(texts))}
				secrets[mark] = known
			}
			known.ambiguous = known.ambiguous || !bytes.Equal(known.value, f.secret)
			known.addSpelling(i, text[f.Start:f.End])
		}
	}
	return secrets, nil
}

// spellers return the text of a secret for the n-th of count marks. They are tried in this order until the result
// redacts back to the same marks: the original spelling, the decoded value, the value escaped for a quoted string.
var spellers = []func(s *secret, n, count int) []byte{
	(*secret).spellingAt,
	func(s *secret, _, _ int) []byte { return s.value },
	func(s *secret, _, _ int) []byte { return inQuotes(s.value) },
}

// inQuotes escapes a text for a double-quoted string of JSON or YAML.
func inQuotes(text []byte) []byte {
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return text
	}
	return quoted[1 : len(quoted)-1]
}

// Restore returns a function that replaces marks, and near misses of marks, with the secrets of the texts in from. A
// mark that one of these texts literally contains is left alone. Errors: [*UnknownMark] for a mark that is unknown or
// that two secrets have, [*NearMark] for a near miss that matches no single secret, [ErrExposed] if redacting the
// result would not bring the marks back (such as for a password without its name), and the error of spend.
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

// Restorer returns a restorer of the secrets of the texts, see [Marker.Restore].
func (m *Marker) Restorer(spend Spend, from ...[]byte) *Restorer {
	known := sync.OnceValues(func() (map[string]*secret, error) { return m.secretsOf(from, spend) })
	return &Restorer{m, spend, from, known}
}

// Marked returns a text with marks in place of near misses of marks.
func (r *Restorer) Marked(text []byte) ([]byte, error) {
	if r.m == nil || !mayHaveNearMark(text) {
		return text, nil
	}
	secrets, err := r.known()
	if err != nil {
		return nil, err
	}
	return fixMarks(text, secrets, r.from)
}

// Restored returns a text with secrets in place of marks. The errors are those of [Marker.Restore].
func (r *Restorer) Restored(text []byte) ([]byte, error) {
	if r.m == nil || !HasMark(text) {
		return text, nil
	}
	secrets, err := r.known()
	if err != nil {
		return nil, err
	}
	occurrences := map[string]int{}
	for _, at := range Marks(text) {
		mark := string(text[at[0]:at[1]])
		occurrences[mark]++
		isKnown := secrets[mark] != nil && !secrets[mark].ambiguous
		if !isKnown && !r.isLiteral(mark) {
			return nil, &UnknownMark{mark}
		}
	}
	var previous []byte
	for _, spell := range spellers {
		done := map[string]int{}
		restored := markPattern().ReplaceAllFunc(text, func(mark []byte) []byte {
			known := secrets[string(mark)]
			if known == nil || known.ambiguous {
				return mark
			}
			n := done[string(mark)]
			done[string(mark)]++
			return spell(known, n, occurrences[string(mark)])
		})
		if bytes.Equal(restored, previous) { // this speller changes nothing
			continue
		}
		previous = restored
		redacted, err := r.m.RedactWithin(restored, r.spend)
		if err != nil {
			return nil, err
		}
		if covers(redacted, text) {
			return restored, nil
		}
	}
	return nil, ErrExposed
}

// isLiteral reports whether one of the texts contains the mark itself.
func (r *Restorer) isLiteral(mark string) bool {
	return slices.ContainsFunc(r.from, func(text []byte) bool { return bytes.Contains(text, []byte(mark)) })
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
