package index

import (
	"cmp"
	"slices"

	"vaultwicket/cmd/internal/vault/lookup"
)

// changed returns the graph of other files, of which most are the same. It resolves only
// the links of files that are new or changed, or have a link that an added or removed name
// may concern.
func (l *linked) changed(files []*File, names *lookup.Files) *Graph {
	d := compare(l.files, files)
	again := l.concerned(&d, files)
	if len(again) == 0 && d.sameNames() {
		return l.graph
	}
	some := make([]*File, len(again))
	for i, place := range again {
		some[i] = files[place]
	}
	out, missing := resolveAll(some, names)
	g := new(Graph)
	g.missing = replaced(&l.graph.missing, d.to, again, &missing, len(files), func(m Missing) Missing { return m })
	if d.sameNames() {
		g.out = replaced(&l.graph.out, d.to, again, &out, len(files), func(e Edge) Edge { return e })
	} else {
		g.out = replaced(&l.graph.out, d.to, again, &out, len(files), func(e Edge) Edge { return Edge{d.to[e.Place], e.Count} })
	}
	g.in = l.graph.backwards(d.to, again, &out, len(files))
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
			if to >= 0 && slices.ContainsFunc(l.graph.Unresolved(place), func(m Missing) bool { return keys[m.wants] }) {
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
	old, next := 0, 0 // the next file from before, and of again
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

// backwards returns the reversed edges, of which those from the files at the places again
// are out of fresh.
func (g *Graph) backwards(to, again []int32, fresh *rows[Edge], files int) rows[Edge] {
	added := turned(again, fresh)
	stays := slices.Clone(to) // the place of a file whose edges are unchanged
	isAgain := make([]bool, files)
	for _, place := range again {
		isAgain[place] = true
	}
	for i, place := range to {
		if place >= 0 && isAgain[place] {
			stays[i] = gone
		}
	}
	in := newRows[Edge](files, len(g.in.all)+len(added))
	old := 0
	for place := range int32(files) {
		for old < len(to) && to[old] < place {
			old++
		}
		start := len(in.all)
		if old < len(to) && to[old] == place {
			for _, e := range g.In(old) {
				if source := stays[e.Place]; source >= 0 {
					in.all = append(in.all, Edge{source, e.Count})
				}
			}
		}
		if len(added) > 0 && added[0].target == place {
			for len(added) > 0 && added[0].target == place {
				in.all, added = append(in.all, added[0].Edge), added[1:]
			}
			slices.SortFunc(in.all[start:], func(a, b Edge) int { return cmp.Compare(a.Place, b.Place) })
		}
		in.end()
	}
	return in
}

// backEdge is an edge that leads to a target.
type backEdge struct {
	target int32
	Edge
}

// turned returns the edges of the files at some places, sorted by their targets.
func turned(places []int32, out *rows[Edge]) (all []backEdge) {
	for i, place := range places {
		for _, e := range out.at(i) {
			all = append(all, backEdge{e.Place, Edge{place, e.Count}})
		}
	}
	slices.SortFunc(all, func(a, b backEdge) int { return cmp.Compare(a.target, b.target) })
	return all
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

func (d *difference) sameNames() bool { return len(d.removed)+len(d.added) == 0 }

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
	i, k := 0, 0
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
			i, k = i+1, k+1
		}
	}
	return d
}
