package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// pieces are what random notes and random queries are made of.
var pieces = []string{
	"zebra", "Zebra", "ZEBRA crossing", "straße", "STRASSE", "İstanbul", "istanbul", "\u212aelvin", "kelvin", "naïve",
	"nai\u0308ve", "снег", "СНЕГ", "日本語の文", "a", "of", "ab-cd",
	"#fruit/apple", "- [ ] buy apples", "- [x] sold pears", "> quoted words", "\n", "\n\n", "# Heading one\n", "```\n",
	"%%", "[[zebra]]", "\xff", "12.5", "under_score", "end",
}

func randomText(r *rand.Rand) string {
	var text strings.Builder
	if r.IntN(3) == 0 {
		fmt.Fprintf(&text, "---\nstatus: %s\ntags: [fruit]\n---\n", []string{"zebra", "draft", "\"\\u007aebra\""}[r.IntN(3)])
	}
	for range r.IntN(40) {
		text.WriteString(pieces[r.IntN(len(pieces))] + []string{" ", "", "\n"}[r.IntN(3)])
	}
	return text.String()
}

// searches are queries of every kind over the pieces.
func searches(r *rand.Rand, count int) []string {
	var all []string
	for range count {
		word := strings.Fields(strings.ToValidUTF8(pieces[r.IntN(17)], ""))[0]
		other := strings.Fields(pieces[r.IntN(17)])[0]
		all = append(all, []string{
			word, `"` + word + `"`, "-" + word, word + " " + other, word + " OR " + other, word + " -" + other,
			"line:(" + word + " " + other + ")", "section:" + word,
			"block:-" + word, "task-todo:apples " + word, "match-case:" + word, "file:" + word, "path:Sub " + word,
			"-path:Sub -" + word, "/" + word + "s?/", "/[a-z]+" + word + "/ OR " + other,
			"content:" + word, "tag:#fruit " + word, "[status:" + word + "]", "[status] -" + word, "(" + word + " OR -" + other + ") -line:" + other,
		}[r.IntN(21)])
	}
	return all
}

// TestSearchesFindTheSameWithFilters has the same queries answered without anything that
// was kept, by processes that find a cache, and by a worker while notes change.
func TestSearchesFindTheSameWithFilters(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	files := map[string]string{"zebra.md": "", "Sub/Naïve.md": "x"}
	for i := range 60 {
		files[fmt.Sprintf("Sub %d/Note %d.md", i%4, i)] = randomText(r)
	}
	h := embedded.New(t, files)
	h.Env["XDG_CACHE_HOME"] = t.TempDir()
	h.Later = time.Hour
	w := h.Worker()
	for round := range testenv.Count(2, 4) {
		if status, _, stderr := h.Run("tags"); status != 0 { // which keeps texts without filters
			t.Fatal(status, stderr)
		}
		for _, query := range searches(r, 40) {
			for _, call := range [][]string{{"search", "query=" + query}, {"search:context", "query=" + query, "format=json"}} {
				wantStatus, want, _ := without(h).Run(call...)
				status, got, _ := h.Run(call...)
				require.Equal(t, status, wantStatus, "%q with a cache: %d\n%s\nwant %d\n%s", call, status, got, wantStatus, want)
				require.Equal(t, got, want, "%q with a cache: %d\n%s\nwant %d\n%s", call, status, got, wantStatus, want)
				var answered embedded.Said
				assert.Await(20*time.Second, func() bool {
					answered = w.Ask(nil, call...)
					return answered.Stdout == want
				})
				if int(answered.End.Status) != wantStatus || answered.Stdout != want {
					t.Fatalf("%q in a worker: %d\n%s\nwant %d\n%s", call, answered.End.Status, answered.Stdout, wantStatus, want)
				}
			}
		}
		for i := range 10 {
			h.Put(fmt.Sprintf("Sub %d/Note %d.md", i%4, 10*round+i), randomText(r))
		}
	}
}
