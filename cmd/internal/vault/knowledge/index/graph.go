package index

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Graph says which file leads to which, counted by occurrences: in the body,
// as embeds and in properties alike. Places are those of Files.
type Graph struct {
	// Out holds, by file, where its links lead, in the order of listings; In is
	// the same the other way round. A link of a note to itself counts.
	Out, In [][]Edge
	// Unresolved holds, by file, the targets that lead nowhere, as they are
	// written, without heading or block.
	Unresolved [][]Missing
}

// Edge is all links from one file to another.
type Edge struct{ Place, Count int32 }

// Missing is all links of one file to something that is not there.
type Missing struct {
	Key   string
	Count int
}

// derived is what is found out about an index when somebody asks for it.
type derived struct {
	names func() *lookup.Files
	graph func() *Graph
	made  atomic.Pointer[Graph] // what graph returned, once it has
}

// Graph returns the links of the vault.
func (x *Index) Graph() *Graph { return x.graph() }

// derive gets ready for questions. Where old has the same files by name, what
// was found out about it and did not change is taken over.
func (x *Index) derive(old *Index) {
	x.names = sync.OnceValue(x.makeNames)
	var before *Graph
	var known []*File
	if old != nil && slices.EqualFunc(x.Files, old.Files, func(a, b *File) bool { return a.Path == b.Path }) {
		x.names = old.names
		before, known = old.made.Load(), old.Files
	}
	x.graph = sync.OnceValue(func() *Graph {
		g := x.makeGraph(before, known)
		before, known = nil, nil
		x.made.Store(g)
		return g
	})
}

// makeGraph resolves the links of every file that is not known from before.
func (x *Index) makeGraph(before *Graph, known []*File) *Graph {
	n := len(x.Files)
	g := &Graph{Out: make([][]Edge, n), Unresolved: make([][]Missing, n)}
	names := x.names()
	if before == nil {
		unshelve(x.Files)
	}
	var next atomic.Int64
	work := func() {
		var r resolver
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if before != nil && known[i] == x.Files[i] {
				g.Out[i], g.Unresolved[i] = before.Out[i], before.Unresolved[i]
				continue
			}
			g.Out[i], g.Unresolved[i] = r.resolve(x.Files[i], names)
		}
	}
	var others sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	g.In = inverse(g.Out)
	return g
}

// resolver holds what one goroutine uses again from file to file.
type resolver struct {
	places []int32
	keys   []string
}

func (r *resolver) resolve(f *File, names *lookup.Files) ([]Edge, []Missing) {
	if !f.HasFacts() {
		return nil, nil
	}
	r.places, r.keys = r.places[:0], r.keys[:0]
	for _, link := range f.Facts().Links() {
		if place, ok := names.Resolve(link.Path, f.Path.String()); ok {
			r.places = append(r.places, int32(place))
			continue
		}
		r.keys = append(r.keys, unresolvedKey(link))
	}
	slices.Sort(r.places)
	slices.Sort(r.keys)
	var edges []Edge
	for _, place := range r.places {
		if last := len(edges) - 1; last >= 0 && edges[last].Place == place {
			edges[last].Count++
			continue
		}
		edges = append(edges, Edge{place, 1})
	}
	var missing []Missing
	for _, key := range r.keys {
		if last := len(missing) - 1; last >= 0 && missing[last].Key == key {
			missing[last].Count++
			continue
		}
		// A part of the facts would keep all of them in memory.
		missing = append(missing, Missing{strings.Clone(key), 1})
	}
	return slices.Clip(edges), slices.Clip(missing)
}

// inverse turns edges round.
func inverse(out [][]Edge) [][]Edge {
	sizes := make([]int, len(out))
	total := 0
	for _, edges := range out {
		for _, e := range edges {
			sizes[e.Place]++
		}
		total += len(edges)
	}
	all := make([]Edge, total)
	in := make([][]Edge, len(out))
	for place, size := range sizes {
		if size > 0 {
			in[place], all = all[:0:size], all[size:]
		}
	}
	for source, edges := range out {
		for _, e := range edges {
			in[e.Place] = append(in[e.Place], Edge{int32(source), e.Count})
		}
	}
	return in
}

// unresolvedKey is the name under which the app lists a target that is not
// there: the path without its ending .md, spelled as written. The slash by which
// a canvas names a path of the vault is ours.
func unresolvedKey(link markdown.Link) string {
	key := strings.TrimSuffix(link.Path, ".md")
	if !strings.HasPrefix(link.Target, "/") {
		return strings.TrimPrefix(key, "/")
	}
	return key
}
