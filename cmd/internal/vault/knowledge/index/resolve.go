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

// resolveAll finds out where the links of some files lead, on all processors. The lists
// are in the order of the files.
func resolveAll(files []*File, names *lookup.Files) (rows[Edge], rows[Missing]) {
	unshelve(files)
	shares := make([]resolver, (len(files)+share-1)/share)
	var next atomic.Int64
	work := func() {
		var m resolverMemory
		for {
			i := int(next.Add(1)) - 1
			if i >= len(shares) {
				return
			}
			start := i * share
			shares[i].resolve(files[start:min(start+share, len(files))], names, &m)
		}
	}
	var others sync.WaitGroup
	for range min(processors.Count(), len(shares)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
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

// resolverMemory is what one goroutine uses again from file to file.
type resolverMemory struct {
	places []int32
	lost   []Missing
}

func (r *resolver) resolve(files []*File, names *lookup.Files, m *resolverMemory) {
	for _, f := range files {
		m.places, m.lost = m.places[:0], m.lost[:0]
		if f.HasFacts() {
			m.collect(f, names)
		}
		for _, place := range m.places {
			r.edge(place)
		}
		r.out.end()
		for _, lost := range m.lost {
			r.lost(lost)
		}
		r.missing.end()
	}
}

// collect finds where each link of a file leads. The lists are sorted.
func (m *resolverMemory) collect(f *File, names *lookup.Files) {
	source := f.Path.String()
	f.Facts().EachLink(func(link *markdown.Link) {
		if place, ok := names.Resolve(link.Path, source); ok {
			m.places = append(m.places, int32(place))
			return
		}
		m.lost = append(m.lost, Missing{unresolvedKey(link), 1, lookup.KeyOf(link.Path, source)})
	})
	slices.Sort(m.places)
	slices.SortFunc(m.lost, func(a, b Missing) int { return cmp.Compare(a.Key, b.Key) })
}

// edge adds an edge to the last list of edges, which is sorted.
func (r *resolver) edge(place int32) {
	if last := len(r.out.all) - 1; last >= r.out.started() && r.out.all[last].Place == place {
		r.out.all[last].Count++
		return
	}
	r.out.all = append(r.out.all, Edge{place, 1})
}

// lost adds a target to the last list of what is missing.
func (r *resolver) lost(m Missing) {
	if last := len(r.missing.all) - 1; last >= r.missing.started() && r.missing.all[last].Key == m.Key {
		before := &r.missing.all[last]
		before.Count++
		if before.wants != m.wants {
			before.wants = anyKey
		}
		return
	}
	m.Key = strings.Clone(m.Key) // a part of the facts would keep all of them in memory
	r.missing.all = append(r.missing.all, m)
}

// unresolvedKey is the name under which the app lists a target that is not
// there: the path without its ending .md, spelled as written. The slash by which
// a canvas names a path of the vault is ours.
func unresolvedKey(link *markdown.Link) string {
	key := strings.TrimSuffix(link.Path, ".md")
	if !strings.HasPrefix(link.Target, "/") {
		return strings.TrimPrefix(key, "/")
	}
	return key
}
