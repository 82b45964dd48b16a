package index

import (
	"sync"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/lookup"
)

// derived is what is found out about an index when somebody asks for it: out of what was
// found out about an index before, where there is one, and else from nothing.
type derived struct {
	names func() *lookup.Files
	graph func() *Graph
	// What was found out last, about this index or one before; nil if nothing was.
	named  atomic.Pointer[named]
	linked atomic.Pointer[linked]
}

// named is what was found out about the names of files.
type named struct {
	files []*File
	names *lookup.Files
}

// linked is what was found out about the links of files.
type linked struct {
	named
	graph *Graph
}

// Graph returns the links of the vault.
func (x *Index) Graph() *Graph { return x.graph() }

// deriveFrom gets ready for questions. old may be nil.
func (x *Index) deriveFrom(old *Index) {
	if old != nil {
		x.named.Store(old.named.Load())
		x.linked.Store(old.linked.Load())
	}
	x.names = sync.OnceValue(x.makeNames)
	x.graph = sync.OnceValue(x.makeGraph)
}

func (x *Index) makeNames() *lookup.Files {
	before := x.named.Load()
	names := x.namesFrom(before)
	x.named.Store(&named{x.Files, names})
	return names
}

func (x *Index) namesFrom(before *named) *lookup.Files {
	if before == nil {
		return lookup.New(x.paths())
	}
	d := compare(before.files, x.Files)
	if d.sameNames() {
		return before.names
	}
	return before.names.Moved(d.to, x.paths())
}

func (x *Index) paths() []string {
	paths := make([]string, len(x.Files))
	for i, f := range x.Files {
		paths[i] = f.Path.String()
	}
	return paths
}

func (x *Index) makeGraph() *Graph {
	names := x.names()
	var g *Graph
	if before := x.linked.Load(); before != nil {
		g = before.changed(x.Files, names)
	} else {
		g = newGraph(x.Files, names)
	}
	x.linked.Store(&linked{named{x.Files, names}, g})
	return g
}

// newGraph resolves the links of every file.
func newGraph(files []*File, names *lookup.Files) *Graph {
	g := new(Graph)
	g.out, g.missing = resolveAll(files, names)
	g.in = inverse(&g.out)
	return g
}
