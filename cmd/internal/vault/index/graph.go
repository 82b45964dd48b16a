package index

import (
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Graph says which file leads to which, counted by occurrences: in the body,
// as embeds and in properties alike.
type Graph struct {
	// Out holds, by file, where its links lead; In is the same the other way
	// round. A link of a note to itself counts.
	Out, In []map[int]int
	// Unresolved holds, by file, the targets that lead nowhere, as they are
	// written, without heading or block.
	Unresolved []map[string]int
}

// Graph returns the links of the vault. Places are those of Files.
func (x *Index) Graph() *Graph { return x.graph() }

func (x *Index) makeGraph() *Graph {
	g := &Graph{
		Out: make([]map[int]int, len(x.Files)), In: make([]map[int]int, len(x.Files)),
		Unresolved: make([]map[string]int, len(x.Files)),
	}
	names := x.names()
	for i, f := range x.Files {
		if f.Facts == nil {
			continue
		}
		for _, link := range f.Facts.links() {
			if j, ok := names.Resolve(link.Path, f.Path.String()); ok {
				count(&g.Out[i], j)
				count(&g.In[j], i)
				continue
			}
			count(&g.Unresolved[i], unresolvedKey(link))
		}
	}
	return g
}

// unresolvedKey is the name under which the app lists a target that is not
// there: the path without its ending .md. The slash by which a canvas names a
// path of the vault is not part of it.
func unresolvedKey(link markdown.Link) string {
	return strings.TrimPrefix(strings.TrimSuffix(link.Path, ".md"), "/")
}

// count adds one occurrence; most files need no map at all.
func count[K comparable](m *map[K]int, key K) {
	if *m == nil {
		*m = map[K]int{}
	}
	(*m)[key]++
}
