package edit

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// An outline finds what a look at all headings finds.
func TestAnOutlineFindsWhatAllHeadingsSay(t *testing.T) {
	names := []string{"A", "a!", "B", "b", "C d", "", "^id", "c  D"}
	rapid.Check(t, func(t *rapid.T) {
		var found markdown.Note
		for i := range rapid.IntRange(0, 12).Draw(t, "headings") {
			found.Headings = append(found.Headings, markdown.Heading{
				Level: rapid.IntRange(1, 6).Draw(t, "level"), Text: rapid.SampledFrom(names).Draw(t, "text"), Line: i + 1,
			})
		}
		o := NewOutline(found)
		for range 4 {
			subpath := rapid.SampledFrom([]string{"", "#", "##"}).Draw(t, "marks") + strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "chain"), "#")
			var first []int
			var lines []int
			for i := range found.Headings {
				places := placesAbove(found.Headings[:i+1], strings.Split(strings.TrimLeft(subpath, "#"), "#"))
				if places == nil {
					continue
				}
				lines = append(lines, i+1)
				if first == nil {
					first = places
				}
			}
			if strings.HasPrefix(subpath[strings.LastIndexByte(subpath, '#')+1:], "^") {
				first = nil
			}
			require.That(t, slices.Equal(o.Linked(subpath), first), "%+v: %q leads to %v, want %v", found.Headings, subpath, o.Linked(subpath), first)
			place, err := o.Find(subpath)
			several, isAmbiguous := err.(*Ambiguous)
			switch {
			case len(lines) == 1:
				require.Equal(t, err, nil, "%+v: %q is %d, %v; want line %v", found.Headings, subpath, place, err, lines)
				require.Equal(t, place, lines[0]-1, "%+v: %q is %d, %v; want line %v", found.Headings, subpath, place, err, lines)
			case len(lines) > 1:
				require.That(t, isAmbiguous, "%+v: %q: %v, want lines %v", found.Headings, subpath, err, lines)
				require.Equal(t, several.Count, len(lines), "%+v: %q: %v, want lines %v", found.Headings, subpath, err, lines)
			default:
				require.That(t, err != nil, "%+v: %q: %v", found.Headings, subpath, err)
				require.That(t, !isAmbiguous, "%+v: %q: %v", found.Headings, subpath, err)
			}
		}
	})
}

// placesAbove returns the places of a chain of headings of which the last heading is the last, by a look at all above
// it.
func placesAbove(headings []markdown.Heading, chain []string) []int {
	last, at := len(headings)-1, len(chain)-1
	if plain(headings[last].Text) != plain(chain[at]) {
		return nil
	}
	places := make([]int, len(chain))
	places[at] = last
	level := headings[last].Level
	for i := last - 1; i >= 0 && at > 0; i-- {
		if headings[i].Level >= level {
			continue
		}
		level = headings[i].Level
		if plain(headings[i].Text) == plain(chain[at-1]) {
			at--
			places[at] = i
		}
	}
	if at > 0 {
		return nil
	}
	return places
}
