package frontmatter

import "slices"

// Union returns the list that has the elements of v and behind them those of w
// that it lacks. It reports false if one of the two is no list.
func (v Value) Union(w Value) (Value, bool) {
	if v.kind != List || w.kind != List {
		return v, false
	}
	all := Value{kind: List, list: slices.Clone(v.list)}
	for _, element := range w.list {
		if !slices.ContainsFunc(all.list, element.equal) {
			all.list = append(all.list, element)
		}
	}
	return all, true
}
