package query

import "vaultwicket/cmd/internal/vault/markdown"

// Note is what a query is held against. Everything but Path is asked for at
// most once by a call, and only if the query depends on it.
type Note interface {
	// Path is the path in the vault, with slashes and extension. Text typed by
	// people is composed Unicode (NFC), so paths should be, too.
	Path() string
	// Text is the whole file. It is not changed.
	Text() []byte
	// Scan is what is found in the text.
	Scan() *markdown.Note
	// Properties are the entries of the frontmatter.
	Properties() []Property
}

// Property is one entry of a note's frontmatter.
type Property struct {
	Name string
	// Values are the elements of a list, else the one value there is. An empty
	// list has none; a name with nothing behind it has one of kind Nothing.
	Values []Value
}

// Value is a single value, or a nested one as text.
type Value struct {
	Kind   Kind
	Text   string  // as the app shows it; of a Truth "true" or "false"
	Number float64 // of a Number
}

// Kind is the type of a value.
type Kind uint8

const (
	// Words is text, and whatever is not of another kind: dates, links, maps.
	Words Kind = iota
	// Nothing is a value that was left out, or null.
	Nothing
	// Number is a number.
	Number
	// Truth is true or false.
	Truth
)
