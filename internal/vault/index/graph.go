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
	budget.InParallel(len(files), share, func(start, end int) {
		m := memory.Get().(*resolverMemory)
		defer memory.Put(m)
		for _, f := range files[start:end] {
			shares[start/share].resolve(f, names, m)
		}
	})
	edges := 0
	missing := 0
	for i := range shares {
		edges += len(shares[i].out.all)
		missing += len(shares[i].missing.all)
	}
	out := newRows[Edge](len(files), edges)
	lost := newRows[Missing](len(files), missing)
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
	m.places = m.places[:0]
	m.lost = m.lost[:0]
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

// changed returns the graph of other files, of which most are the same. It resolves only
// the links of files that are new or changed, or have a link that an added or removed name
// may concern.
func (l *linked) changed(files []*File, names *lookup.Files) *Graph {
	d := compare(l.files, files)
	again := l.concerned(&d, files)
	if len(again) == 0 && len(d.removed)+len(d.added) == 0 {
		return l.graph
	}
	some := make([]*File, len(again))
	for i, place := range again {
		some[i] = files[place]
	}
	out, missing := resolveAll(some, names)
	g := new(Graph)
	g.missing = replaced(&l.graph.missing, d.to, again, &missing, len(files), func(m Missing) Missing { return m })
	g.out = replaced(
		&l.graph.out,
		d.to,
		again,
		&out,
		len(files),
		func(e Edge) Edge { return Edge{d.to[e.Place], e.Count} },
	)
	g.in = reversed(&g.out)
	return g
}

// concerned returns the places of the files whose links are to be resolved again, sorted.
func (l *linked) concerned(d *difference, files []*File) []int32 {
	again := slices.Concat(d.added, d.changed)
	follow := func(target int32) {
		for _, e := range l.graph.In(int(target)) {
			if place := d.to[e.Place]; place >= 0 {
				again = append(again, place)
			}
		}
	}
	for _, place := range d.removed {
		follow(place)
	}
	keys := map[lookup.Key]bool{anyKey: true}
	for _, place := range d.added {
		path := files[place].Path.String()
		for _, rival := range l.names.Rivals(path) {
			follow(rival)
		}
		for _, key := range lookup.Keys(path) {
			keys[key] = true
		}
	}
	if len(d.added) > 0 {
		for place, to := range d.to {
			if to >= 0 &&
				slices.ContainsFunc(l.graph.Unresolved(place), func(m Missing) bool { return keys[m.wants] }) {
				again = append(again, to)
			}
		}
	}
	slices.Sort(again)
	return slices.Compact(again)
}

// replaced returns the lists of all files: those of the files at the sorted places again
// out of fresh, in their order, and the others from before, with each element moved.
func replaced[T any](before *rows[T], to, again []int32, fresh *rows[T], files int, moved func(T) T) rows[T] {
	after := newRows[T](files, len(before.all)+len(fresh.all))
	old := 0
	next := 0 // the next file from before, and of again
	for place := range int32(files) {
		for old < len(to) && to[old] < place {
			old++
		}
		if next < len(again) && again[next] == place {
			after.all = append(after.all, fresh.at(next)...)
			next++
		} else {
			for _, element := range before.at(old) {
				after.all = append(after.all, moved(element))
			}
		}
		after.end()
	}
	return after
}

// difference is the difference between two lists of files in the order of listings.
type difference struct {
	to      []int32 // where each file of the old list is in the new one, or gone
	removed []int32 // places in the old list
	added   []int32 // places in the new list
	changed []int32 // places in the new list of files with the same path and another content
}

// gone is the place of a removed file.
const gone = -1

// Kept returns for each file of a list the place of the same one in another list, or -1 if
// it is new or changed. Both lists are in the order of listings.
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

func compare(before, after []*File) difference {
	d := difference{to: make([]int32, len(before))}
	i := 0
	k := 0
	for i < len(before) || k < len(after) {
		c := 0
		switch {
		case i == len(before):
			c = 1
		case k == len(after):
			c = -1
		case before[i] != after[k]:
			c = inOrder(before[i], after[k])
		}
		switch {
		case c < 0:
			d.to[i] = gone
			d.removed = append(d.removed, int32(i))
			i++
		case c > 0:
			d.added = append(d.added, int32(k))
			k++
		default:
			d.to[i] = int32(k)
			if before[i] != after[k] {
				d.changed = append(d.changed, int32(k))
			}
			i = i + 1
			k = k + 1
		}
	}
	return d
}
