package search

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

// checkOutlook fails if a query finds a note of which it said never, or does not find one
// of which it said always.
func checkOutlook(t require.T, q *Query, n *fakeNote) {
	for _, filter := range []index.Trigrams{"", index.TrigramsOf(n.text)} {
		outlook := q.Foresee(n, filter)
		require.That(t, len(n.asked) == 0, "%s: foresight has asked for %q", q, n.asked)
		found, lines := q.Match(n), q.Lines(n)
		n.asked = nil
		if q.Err() != nil {
			return
		}
		if outlook == Never && (found || lines != nil) || outlook == Always && (!found || lines == nil) {
			t.Fatalf("%s in %q of %q: outlook %d, found %v, filter of %d bytes", q, n.text, n.path, outlook, found, len(filter))
		}
		require.That(t, q.NeedsText() || outlook != Perhaps, "%s needs no text and does not know", q)
	}
}

func TestNothingIsForeseenWrongly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, err := ParseQuery(randomQuery(3).Draw(t, "query"), QueryOptions{CaseSensitive: rapid.Bool().Draw(t, "exact")})
		if err != nil {
			t.Skip("too deep")
		}
		checkOutlook(t, q, randomNote().Draw(t, "note"))
	})
}

// TestWordsOfStrangeLettersAreForeseen has the letters that change their length with
// their case, in texts that are no valid UTF-8 throughout.
func TestWordsOfStrangeLettersAreForeseen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := textOf(60).Draw(t, "text") + rapid.SampledFrom([]string{"", "\xff", "\xe2\x84"}).Draw(t, "broken") + textOf(60).Draw(t, "more")
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		word := string(runes[from:rapid.IntRange(from, min(from+9, len(runes))).Draw(t, "to")])
		word = strings.NewReplacer(`"`, "", `\`, "").Replace(word)
		if rapid.Bool().Draw(t, "upper") {
			word = strings.ToUpper(word)
		}
		q, err := ParseQuery(`"`+word+`" OR line:"`+word+`" OR /`+strings.NewReplacer("\n", "", "\r",
			"").Replace(word)+`x?/`, QueryOptions{CaseSensitive: rapid.Bool().Draw(t, "exact")})
		if err != nil {
			t.Skip(err)
		}
		checkOutlook(t, q, &fakeNote{path: "x.md", text: []byte(text)})
	})
}

func TestWhatIsForeseen(t *testing.T) {
	note := &fakeNote{path: "Fruit/Apples.md", text: []byte("A pear and a quince, sliced.\n")}
	filter := index.TrigramsOf(note.text)
	for query, want := range map[string]Outlook{
		"quince":                   Perhaps,
		"QUINCE":                   Perhaps,
		"zebra":                    Never,
		`"zebra crossing"`:         Never,
		"-zebra":                   Always,
		"zebra OR pear":            Perhaps,
		"zebra pear":               Never,
		"line:(pear zebra)":        Never,
		"line:-zebra":              Perhaps,
		"line:-pear":               Perhaps,
		"apples":                   Always,
		"content:apples":           Never,
		"apples -zebra":            Always,
		"apples -pear":             Perhaps,
		"file:apples":              Always,
		"path:vegetables":          Never,
		"ap":                       Always,
		"zz":                       Perhaps,
		"/ze*bra?s/":               Perhaps,
		"/zebras?/":                Never,
		"/zebra|pear/":             Perhaps,
		"tag:#zebra":               Perhaps,
		"[zebra]":                  Perhaps,
		"[zebra] zebra":            Never,
		"section:(block:zebra)":    Never,
		"task:\"\"":                Perhaps,
		"match-case:Quince":        Perhaps,
		"match-case:(Zebra OR pe)": Perhaps,
		"match-case:Zebra":         Never,
	} {
		assert.Equal(t, mustParse(t, query, QueryOptions{}).Foresee(note, filter), want, "%s", query)
	}
}

func FuzzForesee(f *testing.F) {
	f.Add("line:(a -b) OR /(a|b)+$/", "a b\n\nc", "x/y.md", false)
	f.Add(`match-case:"İstanbul" OR straße`, "\u212aİSTANBUL \xff Straẞe", "n.md", true)
	f.Add("-zebra /zeb[r]a/i -path:x", "ZEBRA", "n.md", false)
	f.Fuzz(func(t *testing.T, query, text, path string, exact bool) {
		q, err := ParseQuery(query, QueryOptions{CaseSensitive: exact})
		if err != nil {
			t.Skip()
		}
		checkOutlook(t, q, &fakeNote{path: path, text: []byte(text)})
	})
}

// fakeNote is a note in memory. It remembers what it was asked for.
type fakeNote struct {
	path       string
	text       []byte
	properties frontmatter.Properties
	asked      []string
}

func (n *fakeNote) Path() string { return n.path }

func (n *fakeNote) Text() []byte {
	n.asked = append(n.asked, "text")
	return n.text
}

func (n *fakeNote) Properties() frontmatter.Properties {
	n.asked = append(n.asked, "properties")
	return n.properties
}

func (n *fakeNote) Scan() *markdown.Note {
	n.asked = append(n.asked, "scan")
	found := markdown.Scan(n.text)
	return &found
}
