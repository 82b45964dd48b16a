package query

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
