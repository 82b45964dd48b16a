package find

import (
	"context"
	"time"

	"vaultwicket/cmd/internal/vault/meaning"
)

// Vault is where the files of an index are.
type Vault struct {
	// Wanted reports whether a file is in the part of the vault that is searched; nil is all.
	Wanted func(path string) bool
	// Read has the content of a note or a canvas used, of which no part is kept, unless there is none that can be
	// read. An error ends the question. It is called from several goroutines.
	Read func(path string, use func(Content)) error
	// Modified returns when a file was changed.
	Modified func(path string) time.Time
	// Daily is the path of the daily note of a day that the question names, "" for none.
	Daily string
	Now   time.Time // of the day: an answer is the same all day long
	// Near returns what is nearest in meaning to a question, best first, of the files that are visible; nil is nothing.
	// Its error is in the answer, which is made without.
	Near func(ctx context.Context, question string, visible func(path string) bool, most int) ([]meaning.Near, error)
}

// Content is the text of a note.
type Content struct {
	Text     string
	Body     int       // where the sections begin, in bytes: after the properties
	Headings []Heading // in the order of the text
	Links    []Link
}

// Heading begins a section.
type Heading struct {
	Offset int // in bytes, of its line
	Text   string
}

// Link is a link as it is written, without heading or block; Text is "" where it shows no text of its own.
type Link struct{ Text, Target string }

// Result is a file that answers a question.
type Result struct {
	Path    string
	Kind    Kind
	Heading string  // of the best section, "" for the part before the first heading
	Line    int     // of the best section or the best line in it, from 1; 0 without a text
	Score   float64 // a result that has all words of the question in one place has about 1 or more
	Why     []string
	Section string // the text of the best section, at most [MaxSection] bytes of it
	Marks   []Mark // the words that answer the question, in Section, in order
}

// Mark is a range of bytes.
type Mark struct{ Start, End int }

// Answer is what a question found.
type Answer struct {
	Results []Result // best first
	// Tried says of each word of the question what was looked for, for an answer without results.
	Tried []Tried
	// WithoutMeaning is why meaning counts in no rank, nil if it does or was not wanted.
	WithoutMeaning error
}

// Tried is a word of a question.
type Tried struct {
	Word  string
	Found []string // words of the vault that answer it
	// Changed says that none of them is the word itself.
	Changed bool
	Near    []string // words of the vault that look like it, where none answers
	Files   int      // that have an answer
}
