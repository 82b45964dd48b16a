package query

import "vaultwicket/cmd/internal/vault/query/trigram"

// Outlook is what is known of a match before the text of the note is read.
type Outlook uint8

// The outlooks, in the order of how likely a match is.
const (
	Never Outlook = iota
	Perhaps
	Always
)

func certainly(found bool) Outlook {
	if found {
		return Always
	}
	return Never
}

// Foresee says what Match will of a note, by its path and the filter of its text. It asks
// the note for nothing but its path.
func (q *Query) Foresee(n Note, text trigram.Filter) Outlook {
	if q.root == nil || q.Err() != nil {
		return Never
	}
	s := q.begin(n)
	defer s.end()
	return q.root.foresee(s, text)
}
