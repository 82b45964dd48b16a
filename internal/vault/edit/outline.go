package edit

import (
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Outline has the headings of a note for many lookups: each takes a time that does not depend on how many headings
// there are, unless many have the same name.
type Outline struct {
	headings []markdown.Heading
	names    []string // as links compare them
	above    []int    // the heading that each is directly below, noHeading for none
	named    map[string][]int
	below    func() map[underHeading][]int
}

// underHeading are the names of a heading and of one that is somewhere above it.
type underHeading struct{ above, name string }

const noHeading = -1

// NewOutline returns the outline of a note.
func NewOutline(found markdown.Note) *Outline {
	o := &Outline{headings: found.Headings, named: map[string][]int{}}
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

// pairs returns the headings by their names and those of the headings above them.
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

// Above returns the heading that one is directly below, -1 if it is below none.
func (o *Outline) Above(heading int) int { return o.above[heading] }

// Find returns the index of the one heading that is meant, as [FindHeading] does.
func (o *Outline) Find(wanted string) (int, error) {
	chain := chainOf(wanted)
	all := &Ambiguous{What: "heading", Wanted: wanted}
	last := 0
	for _, i := range o.candidates(chain) {
		if o.places(i, chain) != nil {
			all.add(o.headings[i].Line)
			last = i
		}
	}
	switch all.Count {
	case 0:
		return 0, &NotFound{What: "heading", Wanted: wanted}
	case 1:
		return last, nil
	}
	return 0, all
}

// Linked returns the indices of the headings that a link to a part of the note names, one for each part of
// subpath: of several matches the first, as in the app. It returns nil if there is none, and for a link to a block.
func (o *Outline) Linked(subpath string) []int {
	if strings.HasPrefix(subpath[strings.LastIndexByte(subpath, '#')+1:], "^") {
		return nil
	}
	chain := chainOf(subpath)
	for _, i := range o.candidates(chain) {
		if places := o.places(i, chain); places != nil {
			return places
		}
	}
	return nil
}

// chainOf returns the names of headings in "#A#B", as links compare them.
func chainOf(subpath string) []string {
	chain := strings.Split(strings.TrimLeft(subpath, "#"), "#")
	for i, name := range chain {
		chain[i] = plain(name)
	}
	return chain
}

// candidates are the headings with the last name of a chain, and, if it has more names, below one with the name
// before it.
func (o *Outline) candidates(chain []string) []int {
	last := len(chain) - 1
	if last == 0 {
		return o.named[chain[0]]
	}
	return o.below()[underHeading{chain[last-1], chain[last]}]
}

// places returns the indices of a chain of headings that ends in one: the others are above it, from the bottom up,
// and headings between may be left out. It is nil if there is no such chain.
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
