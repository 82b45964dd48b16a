package index

import "vaultwicket/cmd/internal/vault/lookup"

// Graph says which file leads to which, counted by occurrences: in the body, as embeds and
// in properties alike. Places are those of Files. It does not change.
type Graph struct {
	out, in rows[Edge]
	missing rows[Missing]
}

// Out returns where the links of the file at a place lead, in the order of listings. A link
// of a note to itself counts.
func (g *Graph) Out(place int) []Edge { return g.out.at(place) }

// In returns where the links to the file at a place come from, in the order of listings.
func (g *Graph) In(place int) []Edge { return g.in.at(place) }

// Unresolved returns the targets of the file at a place that lead nowhere, as they are
// written, without heading or block, each once and sorted.
func (g *Graph) Unresolved(place int) []Missing { return g.missing.at(place) }

// Len returns how many files there are.
func (g *Graph) Len() int { return g.out.len() }

// Edge is all links from one file to another.
type Edge struct{ Place, Count int32 }

// Missing is all links of one file to something that is not there.
type Missing struct {
	Key   string
	Count int32
	// wants is the key of the links for [lookup.Keys], and anyKey if they have several.
	wants lookup.Key
}

// anyKey stands for links that any new file may concern.
const anyKey lookup.Key = 0

// rows are lists, one behind the other in the same memory.
type rows[T any] struct {
	ends []int32 // where each list ends
	all  []T
}

func newRows[T any](lists, elements int) rows[T] {
	return rows[T]{make([]int32, 0, lists), make([]T, 0, elements)}
}

func (r *rows[T]) len() int { return len(r.ends) }

func (r *rows[T]) at(i int) []T {
	start := int32(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.all[start:r.ends[i]:r.ends[i]]
}

// started is where the list begins that has not ended.
func (r *rows[T]) started() int {
	if len(r.ends) == 0 {
		return 0
	}
	return int(r.ends[len(r.ends)-1])
}

// end ends the last list. Its elements are those added to all since the one before ended.
func (r *rows[T]) end() { r.ends = append(r.ends, int32(len(r.all))) }

// add puts all lists of another behind those of r.
func (r *rows[T]) add(other rows[T]) {
	start := int32(len(r.all))
	r.all = append(r.all, other.all...)
	for _, end := range other.ends {
		r.ends = append(r.ends, start+end)
	}
}

// inverse turns edges round.
func inverse(out *rows[Edge]) rows[Edge] {
	in := rows[Edge]{make([]int32, out.len()), make([]Edge, len(out.all))}
	next := make([]int32, out.len()+1)
	for _, e := range out.all {
		next[e.Place+1]++
	}
	for place := range in.ends {
		next[place+1] += next[place]
		in.ends[place] = next[place+1]
	}
	for source := range out.len() {
		for _, e := range out.at(source) {
			in.all[next[e.Place]] = Edge{int32(source), e.Count}
			next[e.Place]++
		}
	}
	return in
}
