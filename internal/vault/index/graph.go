package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Graph has the links between files, with the number of their occurrences in the body, as embeds and in
// properties. A place is an index in [Index.Files]. A graph is immutable.
type Graph struct {
	out, in rows[Edge]
	missing rows[Missing]
}

// Out returns the targets of the links of the file at a place, in the order of listings. Links of a note
// to itself are included.
func (g *Graph) Out(place int) []Edge { return g.out.at(place) }

// In returns the sources of the links to the file at a place, in the order of listings.
func (g *Graph) In(place int) []Edge { return g.in.at(place) }

// Unresolved returns the missing targets of the file at a place, as they are written, without heading or
// block, sorted and without duplicates.
func (g *Graph) Unresolved(place int) []Missing { return g.missing.at(place) }

// Edge stands for all links from one file to another. Place is that of the other file.
type Edge struct{ Place, Count int32 }

// Missing stands for all links of a file to a missing target.
type Missing struct {
	Key   string
	Count int32
	// wanted is the key of the links for [lookup.Keys], or anyKey if they have several.
	wanted lookup.Key
}

// anyKey is the key of links that every new file may resolve.
const anyKey lookup.Key = 0

// rows are lists that are stored one after the other in the same memory.
type rows[T any] struct {
	ends     []int32 // where each list ends
	elements []T
}

func newRows[T any](lists, elements int) rows[T] {
	return rows[T]{make([]int32, 0, lists), make([]T, 0, elements)}
}

func (r *rows[T]) at(i int) []T {
	start := int32(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.elements[start:r.ends[i]:r.ends[i]]
}

// end ends a list: it has the elements that were added since the list before ended.
func (r *rows[T]) end() { r.ends = append(r.ends, int32(len(r.elements))) }

// add appends all lists of other to those of r.
func (r *rows[T]) add(other rows[T]) {
	start := int32(len(r.elements))
	r.elements = append(r.elements, other.elements...)
	for _, end := range other.ends {
		r.ends = append(r.ends, start+end)
	}
}

// derived has the names and the graph of an index. They are computed on first use, from those of an earlier
// index if there is one.
type derived struct {
	names  func() *lookup.Files
	places func() map[string]int // of a sparse index, in place of names
	graph  func() *Graph
	// The last ones that were computed, for this index or an earlier one; may be nil.
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

// reversed returns the edges grouped by target, in the order of their sources.
func reversed(out *rows[Edge]) rows[Edge] {
	in := rows[Edge]{make([]int32, len(out.ends)), make([]Edge, len(out.elements))}
	next := make([]int32, len(out.ends)+1)
	for _, e := range out.elements {
		next[e.Place+1]++
	}
	for place := range in.ends {
		next[place+1] += next[place]
		in.ends[place] = next[place+1]
	}
	for source := range len(out.ends) {
		for _, e := range out.at(source) {
			in.elements[next[e.Place]] = Edge{int32(source), e.Count}
			next[e.Place]++
		}
	}
	return in
}

// resolveAll resolves the links of files, on all processors. The lists are in the order of the files.
func resolveAll(files []*File, names *lookup.Files) (rows[Edge], rows[Missing]) {
	unshelve(files)
	shares := make([]resolver, (len(files)+filesPerShare-1)/filesPerShare)
	memory := sync.Pool{New: func() any { return new(resolverMemory) }}
	budget.InParallel(len(files), filesPerShare, func(start, end int) {
		m := memory.Get().(*resolverMemory)
		defer memory.Put(m)
		for _, f := range files[start:end] {
			shares[start/filesPerShare].resolve(f, names, m)
		}
	})
	edges := 0
	missing := 0
	for i := range shares {
		edges += len(shares[i].out.elements)
		missing += len(shares[i].missing.elements)
	}
	out := newRows[Edge](len(files), edges)
	lost := newRows[Missing](len(files), missing)
	for i := range shares {
		out.add(shares[i].out)
		lost.add(shares[i].missing)
	}
	return out, lost
}

// resolver collects the targets of the links of some files.
type resolver struct {
	out     rows[Edge]
	missing rows[Missing]
}

// resolverMemory is reused from file to file.
type resolverMemory struct {
	places []int32
	lost   []Missing
}

// resolve adds the targets of the links of a file.
func (r *resolver) resolve(f *File, names *lookup.Files, m *resolverMemory) {
	m.places = m.places[:0]
	m.lost = m.lost[:0]
	if f.HasFacts() {
		source := f.Path.String()
		f.Facts().EachLink(func(link *markdown.Link) {
			if place, ok := names.Resolve(link.Path, source); ok {
				m.places = append(m.places, int32(place))
				return
			}
			// The app lists a missing target by its path as written, without the extension .md. [Read] adds
			// the leading slash to paths in a canvas.
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
			r.out.elements[len(r.out.elements)-1].Count++
		} else {
			r.out.elements = append(r.out.elements, Edge{place, 1})
		}
	}
	r.out.end()
	for i, lost := range m.lost {
		if i > 0 && lost.Key == m.lost[i-1].Key {
			previous := &r.missing.elements[len(r.missing.elements)-1]
			previous.Count++
			if previous.wanted != lost.wanted {
				previous.wanted = anyKey
			}
			continue
		}
		lost.Key = strings.Clone(lost.Key) // a substring of the facts would keep all of them in memory
		r.missing.elements = append(r.missing.elements, lost)
	}
	r.missing.end()
}

// update returns the graph of files, most of which are the same as before. It resolves only the links of
// files that are new or changed, or that have a link that an added or removed name may affect.
func (l *linked) update(files []*File, names *lookup.Files) *Graph {
	d := compare(l.files, files)
	affected := l.affected(&d, files)
	if len(affected) == 0 && len(d.removed)+len(d.added) == 0 {
		return l.graph
	}
	affectedFiles := make([]*File, len(affected))
	for i, place := range affected {
		affectedFiles[i] = files[place]
	}
	out, missing := resolveAll(affectedFiles, names)
	g := new(Graph)
	keep := func(m Missing) Missing { return m }
	g.missing = replaced(&l.graph.missing, d.to, affected, &missing, len(files), keep)
	move := func(e Edge) Edge { return Edge{d.to[e.Place], e.Count} }
	g.out = replaced(&l.graph.out, d.to, affected, &out, len(files), move)
	g.in = reversed(&g.out)
	return g
}

// affected returns the sorted places of the files whose links have to be resolved again.
func (l *linked) affected(d *difference, files []*File) []int32 {
	again := slices.Concat(d.added, d.changed)
	addSources := func(target int32) {
		for _, e := range l.graph.In(int(target)) {
			if place := d.to[e.Place]; place >= 0 {
				again = append(again, place)
			}
		}
	}
	for _, place := range d.removed {
		addSources(place)
	}
	keys := map[lookup.Key]bool{anyKey: true}
	for _, place := range d.added {
		path := files[place].Path.String()
		for _, rival := range l.names.Rivals(path) {
			addSources(rival)
		}
		for _, key := range lookup.Keys(path) {
			keys[key] = true
		}
	}
	if len(d.added) > 0 {
		mayResolve := func(m Missing) bool { return keys[m.wanted] }
		for place, to := range d.to {
			if to >= 0 && slices.ContainsFunc(l.graph.Unresolved(place), mayResolve) {
				again = append(again, to)
			}
		}
	}
	slices.Sort(again)
	return slices.Compact(again)
}

// replaced returns the lists of all files. Those of the files at the sorted places affected are the lists
// of fresh, in the same order. The others are from before, with move applied to each element.
func replaced[T any](before *rows[T], to, affected []int32, fresh *rows[T], files int, move func(T) T) rows[T] {
	after := newRows[T](files, len(before.elements)+len(fresh.elements))
	old := 0  // place of the file in before
	next := 0 // index in affected
	for place := range int32(files) {
		for old < len(to) && to[old] < place {
			old++
		}
		if next < len(affected) && affected[next] == place {
			after.elements = append(after.elements, fresh.at(next)...)
			next++
		} else {
			for _, element := range before.at(old) {
				after.elements = append(after.elements, move(element))
			}
		}
		after.end()
	}
	return after
}

// difference is the difference between two lists of files in the order of listings.
type difference struct {
	to      []int32 // place in the new list of each file of the old list, or gone
	removed []int32 // places in the old list
	added   []int32 // places in the new list
	changed []int32 // places in the new list of files with the same path and other content
}

// gone stands for the place of a removed file.
const gone = -1

// Kept returns, for each file of after, its place in before, or -1 if the file is new or changed. Both
// lists are in the order of listings.
func Kept(before, after []*File) []int32 {
	kept := make([]int32, len(after))
	for i := range kept {
		kept[i] = gone
	}
	d := compare(before, after)
	for old, place := range d.to {
		if place >= 0 && before[old] == after[place] {
			kept[place] = int32(old)
		}
	}
	return kept
}

// compare returns the difference between two lists of files in the order of listings.
func compare(before, after []*File) difference {
	d := difference{to: make([]int32, len(before))}
	i := 0
	j := 0
	for i < len(before) || j < len(after) {
		c := 0
		switch {
		case i == len(before):
			c = 1
		case j == len(after):
			c = -1
		case before[i] != after[j]:
			c = inOrder(before[i], after[j])
		}
		switch {
		case c < 0:
			d.to[i] = gone
			d.removed = append(d.removed, int32(i))
			i++
		case c > 0:
			d.added = append(d.added, int32(j))
			j++
		default:
			d.to[i] = int32(j)
			if before[i] != after[j] {
				d.changed = append(d.changed, int32(j))
			}
			i++
			j++
		}
	}
	return d
}
