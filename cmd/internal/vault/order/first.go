package order

import "slices"

// First collects the first ones of many elements in an order, and forgets the others: to sort
// them all takes several times as long.
type First[T any] struct {
	limit   int
	compare func(a, b T) int
	some    []T  // twice the limit at most
	full    bool // the first of some are in order, as many as the limit, and nothing behind them is wanted
}

// NewFirst returns an empty collection of at most limit elements, which is at least 1. Of
// elements that are alike to compare any may be forgotten.
func NewFirst[T any](limit int, compare func(a, b T) int) *First[T] {
	return &First[T]{limit: limit, compare: compare}
}

// Add adds an element.
func (f *First[T]) Add(element T) {
	if f.full && f.compare(element, f.some[f.limit-1]) > 0 {
		return
	}
	f.some = append(f.some, element)
	if len(f.some) == 2*f.limit {
		f.trim()
	}
}

// Sorted returns the elements in their order.
func (f *First[T]) Sorted() []T {
	f.trim()
	return f.some
}

func (f *First[T]) trim() {
	slices.SortFunc(f.some, f.compare)
	f.full = len(f.some) >= f.limit
	f.some = f.some[:min(len(f.some), f.limit)]
}
