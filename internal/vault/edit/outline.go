package edit

import (
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Outline has the headings of a note for many lookups. The time of a lookup does not depend on the number of
// headings, unless many have the same name.
type Outline struct {
	headings []markdown.Heading
	names    []string                      // normalized as for comparing links
	above    []int                         // parent of each heading, or noHeading
	named    map[string][]int              // indexes by name
	below    func() map[underHeading][]int // computed on first use, see pairs
}

// underHeading is the name of a heading and the name of one of the headings above it.
type underHeading struct{ above, name string }

const noHeading = -1

// NewOutline returns the outline of a note.
func NewOutline(note markdown.Note) *Outline {
	o := &Outline{headings: note.Headings, named: map[string][]int{}}
	for i, h := range o.headings {
		name := plain(h.Text)
		above := i - 1
		for above != noHeading && o.headings[above].Level >= h.Level {
			above = o.above[above]
		}
		o.names = append(o.names, name)
		o.above = append(o.above, above)
		o.named[name] = append(o.named[name], i)
	}
	o.below = sync.OnceValue(o.pairs)
	return o
}

// pairs returns the headings by their names and the names of the headings above them.
func (o *Outline) pairs() map[underHeading][]int {
	pairs := map[underHeading][]int{}
	for i, name := range o.names {
		for above := o.above[i]; above != noHeading; above = o.above[above] {
			key := underHeading{o.names[above], name}
			if same := pairs[key]; len(same) == 0 || same[len(same)-1] != i {
				pairs[key] = append(same, i)
			}
		}
	}
	return pairs
}

// Above returns the parent of a heading; -1 if it has none.
func (o *Outline) Above(heading int) int { return o.above[heading] }

// Find returns the index of the only heading that matches, as [FindHeading] does.
func (o *Outline) Find(wanted string) (int, error) {
	chain := chainOf(wanted)
	matches := &Ambiguous{What: "heading", Wanted: wanted}
	last := 0
	for _, i := range o.candidates(chain) {
		if o.places(i, chain) != nil {
			matches.add(o.headings[i].Line)
			last = i
		}
	}
	switch matches.Count {
	case 0:
		return 0, &NotFound{What: "heading", Wanted: wanted}
	case 1:
		return last, nil
	}
	return 0, matches
}

// Linked returns the indexes of the headings to which a link leads, one for each name in subpath. Of several
// matches, it returns the first one, as the app does. It returns nil if there is none, and for a link to a
// block.
func (o *Outline) Linked(subpath string) []int {
	if strings.HasPrefix(subpath[strings.LastIndexByte(subpath, '#')+1:], "^") {
		return nil
	}
	chain := chainOf(subpath)
	for _, i := range o.candidates(chain) {
		if indexes := o.places(i, chain); indexes != nil {
			return indexes
		}
	}
	return nil
}

// chainOf returns the normalized names of the headings in "#A#B".
func chainOf(subpath string) []string {
	chain := strings.Split(strings.TrimLeft(subpath, "#"), "#")
	for i, name := range chain {
		chain[i] = plain(name)
	}
	return chain
}

// candidates returns the headings with the last name of a chain that are, if there are more names, below a
// heading with the name before it.
func (o *Outline) candidates(chain []string) []int {
	last := len(chain) - 1
	if last == 0 {
		return o.named[chain[0]]
	}
	return o.below()[underHeading{chain[last-1], chain[last]}]
}

// places returns the indexes of the headings of a chain whose last heading is given. The others must be above
// it in order, but not necessarily directly. It returns nil if there is no such chain.
func (o *Outline) places(last int, chain []string) []int {
	places := make([]int, len(chain))
	at := len(chain) - 1
	places[at] = last
	for above := o.above[last]; above != noHeading && at > 0; above = o.above[above] {
		if o.names[above] == chain[at-1] {
			at--
			places[at] = above
		}
	}
	if at > 0 {
		return nil
	}
	return places
}
