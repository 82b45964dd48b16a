package change_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// mostGrowth is how many times as much a plan about ten times as much may take.
const mostGrowth = 11

// What a plan takes grows with the links, notes and cards that it is about, not with their square. Allocations are
// counted, which do not depend on other work of the machine.
func TestAPlanGrowsWithWhatItIsAbout(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	putNotes := func(h *embedded.Vault, notes int, text string) {
		for i := range notes {
			h.Put(fmt.Sprintf("P/%d/n%d.md", i%10, i), strings.ReplaceAll(text, "N", fmt.Sprint(i)))
		}
	}
	for name, c := range map[string]struct {
		size  int
		fill  func(h *embedded.Vault, n int)
		words []string
	}{
		"links in a line": {3000, func(h *embedded.Vault, n int) {
			h.Put("t.md", "target\n")
			h.Put("links.md", strings.Repeat("[[t]] ", n)+"\n")
		}, []string{"move", "path=t.md", "to=Far/u.md"}},
		"links in lines": {3000, func(h *embedded.Vault, n int) {
			h.Put("t.md", "target\n")
			h.Put("links.md", strings.Repeat("[[t]] and text\n", n))
		}, []string{"move", "path=t.md", "to=Far/u.md"}},
		"notes that link": {100, func(h *embedded.Vault, n int) {
			h.Put("t.md", "target\n")
			putNotes(h, n, "a [[t]]\n")
		}, []string{"move", "path=t.md", "to=Far/u.md"}},
		"a folder moves": {100, func(h *embedded.Vault, n int) {
			putNotes(h, n, "[[nN]] [n](/P/nN.md)\n")
		}, []string{"folder:move", "path=P", "to=Far/"}},
		"a folder is deleted": {100, func(h *embedded.Vault, n int) { putNotes(h, n, "note N\n") }, []string{"folder:delete", "path=P"}},
		"a tag":               {100, func(h *embedded.Vault, n int) { putNotes(h, n, "#t N\n") }, []string{"tag:rename", "name=t", "to=u"}},
		"a text":              {100, func(h *embedded.Vault, n int) { putNotes(h, n, "word N\n") }, []string{"vault:replace", "old=word", "new=term"}},
		"cards": {3000, func(h *embedded.Vault, n int) {
			card := `{"id":"cN","type":"text","text":"card N","x":N,"y":0,"width":100,"height":60}`
			var cards []string
			for i := range n {
				cards = append(cards, strings.ReplaceAll(card, "N", fmt.Sprint(i)))
			}
			h.Put("b.canvas", `{"nodes":[`+strings.Join(cards, ",")+`],"edges":[]}`)
		}, []string{"canvas:remove", "path=b.canvas", "id=c500"}},
	} {
		t.Run(name, func(t *testing.T) {
			measure := func(n int) (allocations uint64) {
				h := embedded.New(t, nil)
				c.fill(h, n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				h.Does(append([]string{"--plan"}, c.words...)...)
				runtime.ReadMemStats(&after)
				return after.Mallocs - before.Mallocs
			}
			few := measure(c.size)
			many := measure(10 * c.size)
			assert.That(t, many <= mostGrowth*few, "%d allocations for %d, and %d for ten times as much", few, c.size, many)
		})
	}
}
