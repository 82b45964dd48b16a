// Package completion completes command lines: it has the scripts that a shell loads, and
// the candidates that a script asks for.
//
// A script passes the words of the line to "vaultwicket __complete", the last one being
// the one that is completed, maybe empty. The answer is a candidate a line, with a
// description behind a tab, and at last a line with a colon and a number: the sum of
// [NoSpace] and [NoFiles]. The form is that of the completion of cobra, which the scripts
// of other programs use as well.
package completion

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Directive says how the shell uses the candidates.
type Directive int

// The directives, which are added up.
const (
	// NoSpace puts no blank behind a candidate: more of the word follows.
	NoSpace Directive = 2
	// NoFiles keeps the shell from completing names of files.
	NoFiles Directive = 4
)

// Candidate is a word that may stand in the place of the last one.
type Candidate struct{ Word, Description string }

// Candidates are what is known of a word.
type Candidates struct {
	List []Candidate
	// Open says that more follows a candidate, such as the value behind "path=".
	Open bool
	// Files says that the shell completes names of files, too.
	Files bool
}

func (c *Candidates) add(word, description string) {
	c.List = append(c.List, Candidate{word, description})
}

// below keeps the candidates that begin with a prefix.
func (c Candidates) below(prefix string) Candidates {
	c.List = slices.DeleteFunc(c.List, func(one Candidate) bool { return !strings.HasPrefix(one.Word, prefix) })
	return c
}

// Print writes candidates for a script. Control characters in them are left out.
func (c Candidates) Print(out io.Writer) error {
	var text strings.Builder
	for _, one := range c.List {
		text.WriteString(visible(one.Word))
		if one.Description != "" {
			text.WriteString("\t" + visible(one.Description))
		}
		text.WriteByte('\n')
	}
	directive := NoFiles
	if c.Open {
		directive |= NoSpace
	}
	if c.Files {
		directive &^= NoFiles
	}
	_, err := fmt.Fprintf(out, "%s:%d\n", text.String(), directive)
	return err
}

// visible leaves out what a terminal would obey.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, text)
}
