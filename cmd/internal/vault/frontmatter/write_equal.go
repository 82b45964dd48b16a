package frontmatter

import (
	"math"
	"slices"
)

// same reports whether two notes have the same properties in the same order.
func same(a, b Properties) bool {
	return slices.EqualFunc(a, b, func(x, y Property) bool { return x.Key == y.Key && x.Value.equal(y.Value) })
}

// Equal reports whether two values are the same, and of the same kind. How a
// number is written does not matter.
func (v Value) Equal(w Value) bool { return v.equal(w) }

// equal reports whether two values are the same. How a number is written does
// not matter.
func (v Value) equal(w Value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case Bool:
		return v.truth == w.truth
	case Number:
		return v.number == w.number || math.IsNaN(v.number) && math.IsNaN(w.number)
	case List:
		return slices.EqualFunc(v.List(), w.List(), Value.equal)
	case Map:
		return same(v.Fields(), w.Fields())
	}
	return v.text == w.text
}
