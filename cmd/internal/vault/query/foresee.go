package query

import (
	"sync"

	"vaultwicket/cmd/internal/vault/query/trigram"
)

// Outlook is what is known of a match before the text of the note is read.
type Outlook uint8

// The outlooks, in the order of how likely a match is.
const (
	Never Outlook = iota
	Perhaps
	Always
)

// Named is what has a path, as a [Note] does.
type Named interface{ Path() string }

func certainly(found bool) Outlook {
	if found {
		return Always
	}
	return Never
}

// Foresee says what Match will of a note, by its path and the filter of its text. It asks
// the note for nothing but its path.
func (q *Query) Foresee(n Named, text trigram.Filter) Outlook {
	if q.root == nil || q.Err() != nil {
		return Never
	}
	s := outlooks.Get().(*search)
	defer outlooks.Put(s)
	*s = search{cost: &q.cost, path: append(s.path[:0], n.Path()...)}
	return q.root.foresee(s, text)
}

// outlooks are searches that are used again: each note of a vault takes one for a moment.
var outlooks = sync.Pool{New: func() any { return new(search) }}
