package frontmatter

import "slices"

// Union returns the list that has the elements of v and behind them those of w
// that it lacks. It reports false if one of the two is no list.
func (v Value) Union(w Value) (Value, bool) {
	if v.kind != List || w.kind != List {
		return v, false
	}
	all := Value{kind: List, more: slices.Clone(v.List())}
	for _, element := range w.List() {
		if !slices.ContainsFunc(all.List(), element.equal) {
			all.more = append(all.List(), element)
		}
	}
	return all, true
}
