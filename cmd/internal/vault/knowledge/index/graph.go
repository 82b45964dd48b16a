package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/processors"
)

// Graph says which file links to which, counted by occurrences: in the body, as embeds and
// in properties alike. Places are indices of Files. It does not change.
type Graph struct {
	out, in rows[Edge]
	missing rows[Missing]
}

// Out returns the targets of the links of the file at a place, in the order of listings. A
// link of a note to itself counts.
func (g *Graph) Out(place int) []Edge { return g.out.at(place) }

// In returns the sources of the links to the file at a place, in the order of listings.
func (g *Graph) In(place int) []Edge { return g.in.at(place) }

// Unresolved returns the missing targets of the file at a place, as they are written,
// without heading or block, each once and sorted.
func (g *Graph) Unresolved(place int) []Missing { return g.missing.at(place) }

// Edge is all links from one file to another.
type Edge struct{ Place, Count int32 }

// Missing is all links of one file to one missing target.
type Missing struct {
	Key   string
	Count int32
	// wants is the key of the links for [lookup.Keys], and anyKey if they have several.
	wants lookup.Key
}

// anyKey is the key of links that any new file may concern.
const anyKey lookup.Key = 0

// rows are lists, one after the other in the same memory.
type rows[T any] struct {
	ends []int32 // where each list ends
	all  []T
}

func newRows[T any](lists, elements int) rows[T] {
	return rows[T]{make([]int32, 0, lists), make([]T, 0, elements)}
}

func (r *rows[T]) at(i int) []T {
	start := int32(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.all[start:r.ends[i]:r.ends[i]]
}

// end ends the last list: the elements that were added to all since the one before ended.
func (r *rows[T]) end() { r.ends = append(r.ends, int32(len(r.all))) }

// add appends all lists of another to those of r.
func (r *rows[T]) add(other rows[T]) {
	start := int32(len(r.all))
	r.all = append(r.all, other.all...)
	for _, end := range other.ends {
		r.ends = append(r.ends, start+end)
	}
}

// derived are the names and the graph of an index, computed when they are needed: from
// those of an index before, where there is one, otherwise from nothing.
type derived struct {
	names  func() *lookup.Files
	places func() map[string]int // of a sparse index, in place of names
	graph  func() *Graph
	// The last ones computed, of this index or one before; may be nil.
	named  atomic.Pointer[named]
	linked atomic.Pointer[linked]
}

// named are the names of a list of files.
type named struct {
	files []*File
	names *lookup.Files
}

// linked are the links of a list of files.
type linked struct {
	named
	graph *Graph
}

// Graph returns the links of the vault.
func (x *Index) Graph() *Graph { return x.graph() }

// reversed returns the edges by their targets, those of each in the order of their sources.
func reversed(out *rows[Edge]) rows[Edge] {
	in := rows[Edge]{make([]int32, len(out.ends)), make([]Edge, len(out.all))}
	next := make([]int32, len(out.ends)+1)
	for _, e := range out.all {
		next[e.Place+1]++
	}
	for place := range in.ends {
		next[place+1] += next[place]
		in.ends[place] = next[place+1]
	}
	for source := range len(out.ends) {
		for _, e := range out.at(source) {
			in.all[next[e.Place]] = Edge{int32(source), e.Count}
			next[e.Place]++
		}
	}
	return in
}

// resolveAll resolves the links of some files, on all processors. The lists are in the
// order of the files.
func resolveAll(files []*File, names *lookup.Files) (rows[Edge], rows[Missing]) {
	unshelve(files)
	shares := make([]resolver, (len(files)+share-1)/share)
	memory := sync.Pool{New: func() any { return new(resolverMemory) }}
	processors.Each(len(files), share, func(start, end int) {
		m := memory.Get().(*resolverMemory)
		defer memory.Put(m)
		for _, f := range files[start:end] {
			shares[start/share].resolve(f, names, m)
		}
	})
	edges, missing := 0, 0
	for i := range shares {
		edges += len(shares[i].out.all)
		missing += len(shares[i].missing.all)
	}
	out, lost := newRows[Edge](len(files), edges), newRows[Missing](len(files), missing)
	for i := range shares {
		out.add(shares[i].out)
		lost.add(shares[i].missing)
	}
	return out, lost
}

// resolver collects where the links of some files lead.
type resolver struct {
	out     rows[Edge]
	missing rows[Missing]
}

// resolverMemory is reused from file to file.
type resolverMemory struct {
	places []int32
	lost   []Missing
}

func (r *resolver) resolve(f *File, names *lookup.Files, m *resolverMemory) {
	m.places, m.lost = m.places[:0], m.lost[:0]
	if f.HasFacts() {
		source := f.Path.String()
		f.Facts().EachLink(func(link *markdown.Link) {
			if place, ok := names.Resolve(link.Path, source); ok {
				m.places = append(m.places, int32(place))
				return
			}
			// The app lists a missing target by its path as written, without the extension .md. The slash
			// with which a canvas names a path of the vault was added by [Read].
			key := strings.TrimSuffix(link.Path, ".md")
			if !strings.HasPrefix(link.Target, "/") {
				key = strings.TrimPrefix(key, "/")
			}
			m.lost = append(m.lost, Missing{key, 1, lookup.KeyOf(link.Path, source)})
		})
		slices.Sort(m.places)
		slices.SortFunc(m.lost, func(a, b Missing) int { return cmp.Compare(a.Key, b.Key) })
	}
	for i, place := range m.places {
		if i > 0 && place == m.places[i-1] {
			r.out.all[len(r.out.all)-1].Count++
		} else {
			r.out.all = append(r.out.all, Edge{place, 1})
		}
	}
	r.out.end()
	for i, lost := range m.lost {
		if i > 0 && lost.Key == m.lost[i-1].Key {
			before := &r.missing.all[len(r.missing.all)-1]
			before.Count++
			if before.wants != lost.wants {
				before.wants = anyKey
			}
			continue
		}
		lost.Key = strings.Clone(lost.Key) // a part of the facts would keep all of them in memory
		r.missing.all = append(r.missing.all, lost)
	}
	r.missing.end()
}
