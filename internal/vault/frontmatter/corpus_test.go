package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"pgregory.net/rapid"
)

// corpusCase is a note of testdata/corpus.txt whose lines say for themselves
// which of them an edit may touch. That file has the rules.
type corpusCase struct {
	name, key, head string
	lines           []corpusLine
	set, remove     *refused // nil where the edit is made
	ownEnds         bool
}

// corpusLine is a line with its break. The comment is the part of its text that
// stays.
type corpusLine struct {
	mark               byte
	text, comment, end string
}

type refused struct {
	line   int
	reason string
}

// least is how many notes the corpus has at least, and how many edits of them.
const (
	leastNotes = 200
	leastEdits = 5000
)

var corpusSigns = strings.NewReplacer("⇥", "\t", "␍", "\r", "␟", "\ufeff", "␛", "\x1b", "◌", "\u0301", "⏎", "\u2028", "↵", "\u0085", "␘", "\xff")

func readCorpus(t *testing.T) (cases []*corpusCase) {
	t.Helper()
	for n, line := range strings.Split(string(require.Value(os.ReadFile("testdata/corpus.txt"))(t)), "\n") {
		if name, ok := strings.CutPrefix(line, "= "); ok {
			cases = append(cases, &corpusCase{name: name, key: "b"})
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		require.That(t, cases[len(cases)-1].read(line), "testdata/corpus.txt:%d: %q means nothing", n+1, line)
	}
	for _, c := range cases {
		if c.head == "" {
			c.head = c.key + ":"
		}
	}
	return cases
}

func (c *corpusCase) read(line string) bool {
	if len(line) > 1 && line[1] == '|' && strings.IndexByte(" *c+-", line[0]) >= 0 {
		text, open := strings.CutSuffix(line[2:], "¬")
		l := corpusLine{mark: line[0], end: "\n"}
		if open {
			l.end = ""
		}
		l.text, l.comment, _ = strings.Cut(corpusSigns.Replace(text), "¦")
		for _, part := range []*string{&l.text, &l.comment} {
			if bare, cr := strings.CutSuffix(*part, "\r"); cr {
				*part, l.end = bare, "\r\n"
			}
		}
		c.lines = append(c.lines, l)
		return true
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "key":
		c.key = rest
	case "head":
		c.head = rest
	case "cr":
		c.ownEnds = true
	case "set", "remove":
		number, reason, _ := strings.Cut(rest, " ")
		at, err := strconv.Atoi(number)
		if err != nil {
			return false
		}
		if word == "set" {
			c.set = &refused{at, reason}
		} else {
			c.remove = &refused{at, reason}
		}
	default:
		return false
	}
	return true
}

// variants are the note as it is, with line ends of another system, after a byte
// order mark and without a break at its end, as far as each is another one.
func (c *corpusCase) variants() map[string]*corpusCase {
	all := map[string]*corpusCase{"": c}
	with := func(name string, change func(*corpusCase)) {
		copied := *c
		copied.lines = append([]corpusLine(nil), c.lines...)
		change(&copied)
		all[name] = &copied
	}
	if !c.ownEnds {
		with(", CRLF", func(c *corpusCase) {
			for i := range c.lines {
				c.lines[i].end = strings.Replace(c.lines[i].end, "\n", "\r\n", 1)
			}
		})
	}
	if !strings.HasPrefix(c.lines[0].text, "\ufeff") {
		with(", BOM", func(c *corpusCase) { c.lines = append([]corpusLine{{mark: ' ', text: "\ufeff"}}, c.lines...) })
	}
	if last := len(c.lines) - 1; strings.IndexByte(" -", c.lines[last].mark) >= 0 && c.lines[last].text != "" {
		with(", no break at the end", func(c *corpusCase) { c.lines[last].end = "" })
	}
	return all
}

// join writes out the lines that take keeps, with what it makes of them.
func (c *corpusCase) join(take func(l corpusLine) string) string {
	var out strings.Builder
	for _, l := range c.lines {
		out.WriteString(take(l))
	}
	return out.String()
}

func (l corpusLine) whole() string { return l.text + l.comment + l.end }

func (c *corpusCase) note() []byte {
	return []byte(c.join(func(l corpusLine) string {
		if l.mark == '+' {
			return ""
		}
		return l.whole()
	}))
}

// withValue is the note with the lines of the property written anew: form is what
// follows the head. All other lines are as they were.
func (c *corpusCase) withValue(form string) string {
	end, written := c.lineEnd(), false
	return c.join(func(l corpusLine) string {
		switch {
		case l.mark == '+' && l.text != "":
			return l.text + end
		case l.mark == ' ' || l.mark == '-':
			return l.whole()
		case written:
			return ""
		}
		written = true
		first, more, lines := strings.Cut(form, "\n")
		text := c.head + first + l.comment + "\n"
		if lines {
			indent := c.head[:len(c.head)-len(strings.TrimLeft(c.head, " "))]
			for _, line := range strings.Split(more, "\n") {
				if line != "" {
					line = indent + line
				}
				text += line + "\n"
			}
		}
		return strings.ReplaceAll(text, "\n", end)
	})
}

// lineEnd is the break for the lines that are written: that of the first line of
// the property, else that of the line before its place, else after it.
func (c *corpusCase) lineEnd() string {
	before := ""
	for _, l := range c.lines {
		switch {
		case l.mark == '*' || l.mark == 'c':
			return l.end
		case l.mark == '+' && before != "":
			return before
		case l.mark == ' ' && l.end != "":
			before = l.end
			if c.opens() {
				return before
			}
		}
	}
	return "\n"
}

// opens reports whether the property begins a block of its own.
func (c *corpusCase) opens() bool {
	for _, l := range c.lines {
		if l.mark == '+' && l.text != "" {
			return true
		}
	}
	return false
}

// without is the note without the property.
func (c *corpusCase) without() string {
	return c.join(func(l corpusLine) string {
		if l.mark != ' ' {
			return ""
		}
		return l.whole()
	})
}

// corpusValues are values and how they follow the head of their line. A
// text of lines may be written in quotes where it would not survive otherwise.
var corpusValues = []struct {
	value Value
	forms []string
}{
	{textValue("xyzzy"), []string{" xyzzy"}},
	{textValue("xyzzy # no: comment"), []string{` "xyzzy # no: comment"`}},
	{textValue("2024-12-31"), []string{" 2024-12-31"}},
	{textValue("[[Xyzzy]]"), []string{` "[[Xyzzy]]"`}},
	{textValue("héllo 🌍"), []string{" héllo 🌍"}},
	{textValue("xy\nzzy"), []string{" |-\n  xy\n  zzy", ` "xy\nzzy"`}},
	{textValue("xy\n\nzzy\n\n"), []string{" |+\n  xy\n\n  zzy\n", ` "xy\n\nzzy\n\n"`}},
	{num(-7.25), []string{" -7.25"}},
	{Value{kind: Bool, truth: false}, []string{" false"}},
	{strs("p", "q: r", "# s"), []string{"\n  - p\n  - \"q: r\"\n  - \"# s\""}},
	{Value{kind: List, more: []Value{num(1), {kind: Bool, truth: true}, textValue("")}}, []string{"\n  - 1\n  - true\n  - \"\""}},
}

// Every edit of every note changes the lines of one property and no other byte,
// and can be read back; or it is refused with the line.
func TestCorpus(t *testing.T) {
	cases := readCorpus(t)
	notes, edits, refusals := 0, 0, 0
	for _, c := range cases {
		for name, variant := range c.variants() {
			notes++
			t.Run(c.name+name, func(t *testing.T) {
				for _, v := range corpusValues {
					variant.judgeSet(t, v.value, v.forms)
					edits++
				}
				variant.judgeRemove(t)
				edits++
				if variant.set != nil {
					refusals++
				}
			})
		}
	}
	t.Logf("%d documents, %d with their variants; %d edits; %d notes in which the property cannot be set", len(cases), notes, edits, refusals)
	assert.That(t, len(cases) >= leastNotes, "%d documents and %d edits, want %d and %d", len(cases), edits, leastNotes, leastEdits)
	assert.That(t, edits >= leastEdits, "%d documents and %d edits, want %d and %d", len(cases), edits, leastNotes, leastEdits)
}

func (c *corpusCase) judgeSet(t *testing.T, value Value, forms []string) {
	t.Helper()
	note := c.note()
	edited, err := Set(bytes.Clone(note), c.key, value)
	if c.set != nil {
		c.set.judge(t, note, edited, err)
		return
	}
	if err != nil {
		t.Errorf("%q, set to %s: %v", note, value.JSON(), err)
		return
	}
	fits := false
	for _, form := range forms {
		fits = fits || string(edited) == c.withValue(form)
	}
	if !fits {
		t.Errorf("%q, set to %s:\n%q, want\n%q", note, value.JSON(), edited, c.withValue(forms[0]))
		return
	}
	got, found := propertiesIn(t, edited).Lookup(c.key)
	if !found || !got.Value.Equal(value) {
		t.Errorf("%q reads as %s, want %s", edited, got.Value.JSON(), value.JSON())
	}
	c.judgeOthers(t, note, edited)
}

func (c *corpusCase) judgeRemove(t *testing.T) {
	t.Helper()
	note := c.note()
	edited, err := Remove(bytes.Clone(note), c.key)
	if c.remove != nil {
		c.remove.judge(t, note, edited, err)
		return
	}
	if err != nil || string(edited) != c.without() {
		t.Errorf("%q without %q:\n%q, %v, want\n%q", note, c.key, edited, err, c.without())
		return
	}
	c.judgeOthers(t, note, edited)
}

// judge wants a refusal that gives nothing but the note as it was.
func (r *refused) judge(t *testing.T, note, edited []byte, err error) {
	t.Helper()
	line := -1
	var malformed *Malformed
	var refusal *Refusal
	switch {
	case errors.As(err, &malformed):
		line = malformed.Line
	case errors.As(err, &refusal):
		line = refusal.Line
	}
	if edited != nil && !bytes.Equal(edited, note) || line != r.line || !strings.Contains(err.Error(), r.reason) {
		t.Errorf("%q, %v, want a refusal of line %d with %q", edited, err, r.line, r.reason)
	}
}

// propertiesIn reads the properties of a note, none where they cannot be read.
func propertiesIn(t *testing.T, note []byte) Properties {
	t.Helper()
	at := markdown.Scan(note).Frontmatter
	p, err := Parse(note[at.Start:at.End])
	assert.That(t, err == nil, "%q: %v", note, err)
	return p
}

// judgeOthers compares all properties but the one that was edited.
func (c *corpusCase) judgeOthers(t *testing.T, note, edited []byte) {
	t.Helper()
	before, after := propertiesIn(t, note), propertiesIn(t, edited)
	key := c.key
	if found, ok := before.Lookup(key); ok {
		key = found.Key
	}
	others := func(p Properties) string {
		return slices.DeleteFunc(slices.Clone(p), func(p Property) bool { return p.Key == key }).JSON()
	}
	now, then := others(after), others(before)
	assert.That(t, now == then, "%q: the other properties are %s, were %s", edited, now, then)
}

// sound fails unless a block is malformed, or has properties that are valid
// JSON and that survive being written as YAML.
func sound(t require.T, block []byte) {
	p, err := Parse(block)
	if err != nil {
		var malformed *Malformed
		require.That(t, errors.As(err, &malformed), "%q: %v, %v", block, p, err)
		require.That(t, malformed.Reason != "", "%q: %v, %v", block, p, err)
		require.That(t, p == nil, "%q: %v, %v", block, p, err)
		return
	}
	if !json.Valid([]byte(p.JSON())) {
		t.Fatalf("%q: no JSON: %s", block, p.JSON())
	}
	Tags(p)
	Aliases(p)
	Links(p)
	written := p.YAML()
	again, err := Parse([]byte(written))
	if err != nil || again.JSON() != p.JSON() {
		t.Fatalf("%q: written %q, read %s instead of %s, %v", block, written, again.JSON(), p.JSON(), err)
	}
}

func TestEveryBlockIsMalformedOrSound(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "b", ": ", ":", "\n", "\n  ", "- ", "[", "]", "{", "}", ",", "'", "\"", "|", ">", "&x ", "*x", "#", " ", "1", "~", "? ",
		"!!str ", "\\", "\t", "\x00", "\xff", "\u2028", "é", "---", "%", "@", "true", "|-\n  ", "x\n", "k: ",
	})
	rapid.Check(t, func(t *rapid.T) {
		sound(t, []byte(strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")))
	})
}

func TestEveryTextIsReadAsItWasWritten(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "\n", "\t", ":", "#", "-", "?", "'", "\"", "|", "1", "\r", "\x01",
		"\u0085", "é", "[", ",", "~", "\\", "---", "\n\n", "😀"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		key, value := text.Draw(t, "key"), text.Draw(t, "value")
		element := Value{kind: List, more: []Value{{kind: String, text: value}}}
		written := Properties{{Key: key, Value: Value{kind: String, text: value}}, {Key: key + "x", Value: element}}
		p, err := Parse([]byte(written.YAML()))
		if err != nil || p.JSON() != written.JSON() {
			t.Fatalf("%q is read as %s instead of %s, %v", written.YAML(), p.JSON(), written.JSON(), err)
		}
	})
}

func FuzzFrontmatter(f *testing.F) {
	for _, name := range []string{"scalars.txt", "keys.txt"} {
		for line := range strings.Lines(string(require.Value(os.ReadFile("testdata/" + name))(f))) {
			encoded, _, _ := strings.Cut(line, "\t")
			var text string
			if json.Unmarshal([]byte(encoded), &text) == nil {
				f.Add([]byte("k: " + text))
				f.Add([]byte(text + ": 0\nb: 1"))
			}
		}
	}
	f.Add([]byte("a: &a [1, 2]\nb: &b [*a, *a]\nc: [*b, *b]"))
	f.Add([]byte("tags: [a, b]\naliases:\n  - c\nup: \"[[d]]\"\n"))
	f.Fuzz(func(t *testing.T, block []byte) { sound(t, block) })
}
