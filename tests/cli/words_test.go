//go:build unix

package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// In no window is a word broken: the words are those of a window that is wider than all lines. A word that is wider
// than the window stays in one piece, as the terminal shows it over two rows.
func TestNoWordIsBroken(t *testing.T) {
	t.Parallel()
	r := changed(t)
	for range 2 { // doctor counts the lines of the log, which the calls below add to
		r.Run("run", "raed", "path=Plan.md")
	}
	for _, command := range []string{
		"doctor", "access " + "Plan.md", "explain delete", "explain --tier v1 tasks", "config show",
		"run daily:append content=x", "run --tier v0 search query=x", "run raed path=Plan.md", "help", "help exit-codes", "help run", "help audit",
		"dry-run delete path=Plan.md", "explain publish:add", "config check", "scan", "install nowhere", "nosuch",
	} {
		line := "vaultwicket " + command + " 2>&1"
		want := words(open(t, 390, setting(r), line).end())
		for _, width := range []int{40, 60, 80, 120} {
			t.Run(fmt.Sprintf("%s in %d", command, width), func(t *testing.T) {
				t.Parallel()
				got := words(open(t, width, setting(r), line).end())
				if !slices.Equal(got, want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, " "), strings.Join(want, " "))
				}
			})
		}
	}
	assert.That(t, len(words([]string{"a b", "c"})) == 3, "words are counted")
}

// words returns the words of lines, without what tells a time.
func words(lines []string) (list []string) {
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			if !strings.ContainsAny(word, "0123456789") {
				list = append(list, word)
			}
		}
	}
	return list
}
