package knowledge

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/query"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// Note is a note during a search. It is read at most once, and looked
// through only if the query asks and nobody did before.
type Note struct {
	File string
	// Rank is above that of the notes before it in the order of listings, or 0 if
	// there was no index.
	Rank int

	from    *View
	path    disk.Path
	isNFC   bool          // File is known to be in normal form C
	read    func() []byte // in the place of a read by its path
	text    []byte
	hasText bool
	indexed *index.File // nil if there was no index
	// Filter is that of the text, the zero one if it is not known.
	Filter trigram.Filter
	found  *index.Found // nil as long as nobody asked
}

// Path is the path of the note in Unicode normal form C, in which queries compare it.
func (s *Note) Path() string {
	if s.isNFC {
		return s.File
	}
	for i := range len(s.File) {
		if s.File[i] >= utf8.RuneSelf {
			return norm.NFC.String(s.File)
		}
	}
	return s.File
}

// Text is empty for a note that cannot be read: it is found by its name alone.
func (s *Note) Text() []byte {
	switch {
	case s.hasText:
	case s.read != nil:
		s.text = s.read()
	default:
		s.text, _, _ = s.from.Folder.ReadHere(s.path)
	}
	s.hasText = true
	return s.text
}

// Scan returns the parts of the note, from the index where it has them.
func (s *Note) Scan() *markdown.Note {
	switch {
	case s.found != nil:
	case s.indexed != nil && s.indexed.HasFacts():
		s.found = s.indexed.Facts().Found()
	default:
		s.found = index.ReadNote(s.Text())
	}
	return &s.found.Note
}

// Properties returns the properties of the note, as a query compares them.
func (s *Note) Properties() []query.Property {
	s.Scan()
	properties := make([]query.Property, len(s.found.Properties))
	for i, property := range s.found.Properties {
		properties[i] = query.Property{Name: property.Key, Values: queryValues(property.Value)}
	}
	return properties
}

// queryValues are the elements of a list, or the one value there is.
func queryValues(v frontmatter.Value) []query.Value {
	if v.Kind() != frontmatter.List {
		return []query.Value{queryValue(v)}
	}
	var values []query.Value
	for _, element := range v.List() {
		values = append(values, queryValue(element))
	}
	return values
}

func queryValue(v frontmatter.Value) query.Value {
	value := query.Value{Text: v.String()}
	switch v.Kind() {
	case frontmatter.Null:
		value.Kind = query.Nothing
	case frontmatter.Number:
		value.Kind, value.Number = query.Number, v.Float()
	case frontmatter.Bool:
		value.Kind = query.Truth
	}
	return value
}
