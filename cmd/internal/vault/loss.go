package vault

import (
	"bytes"
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/lines"
)

// A change that removes much is destructive whatever command makes it: to replace
// the text of a note by nothing is to delete it.
const (
	maxRemoved = 10 // lines of a note, above which a change is destructive
	leastBody  = 5  // lines of a body, from which on more than a half counts
)

// loss says what a proposal would lose, if that is so much that a person should be
// asked, else "". What a caller made last and takes back itself is no loss.
func (p proposal) loss() string {
	if p.latest {
		return ""
	}
	for _, s := range p.steps {
		if why := s.loss(p.undoes != ""); why != "" {
			return why
		}
	}
	return ""
}

func (s step) loss(undo bool) string {
	switch {
	case !s.before.there || s.before.equal(s.after):
		return ""
	case !s.after.there:
		return fmt.Sprintf("removes the file %q", named(s.path))
	case undo:
		return fmt.Sprintf("replaces what %q holds", named(s.path))
	}
	removed := lines.Count(s.before.text, s.after.text).Removed
	body := lines.Body(s.before.text)
	ofBody, all := lines.Count(body, lines.Body(s.after.text)).Removed, lines.Number(body)
	switch {
	case ofBody > maxRemoved, all >= leastBody && 2*ofBody > all:
		return fmt.Sprintf("removes %d of the %d lines of the text of %q", ofBody, all, named(s.path))
	case removed > maxRemoved:
		return fmt.Sprintf("removes %d lines of %q", removed, named(s.path))
	}
	return ""
}

// maxNamed is how much of a path a reason holds: it is a part of one line.
const maxNamed = 200

// named is a path in a reason, which a person reads in a question: nothing in it can
// end the quotation.
func named(path disk.Path) verbatim {
	text := strings.ReplaceAll(path.String(), `"`, "'")
	if len(text) > maxNamed {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxNamed:], "")
	}
	return verbatim(text)
}

// counts returns how many lines a proposal adds and removes, in all files.
func (p proposal) counts() (total lines.Counts) {
	for _, s := range p.steps {
		if bytes.Equal(s.before.text, s.after.text) {
			continue
		}
		one := lines.Count(s.before.text, s.after.text)
		total.Added += one.Added
		total.Removed += one.Removed
	}
	return total
}

// unasked refuses a proposal that loses much, where nobody was asked about it.
func (p proposal) unasked(how manner) error {
	if why := p.loss(); why != "" && how.sparing {
		return unapproved.failure("Approval required: the change %s. Nothing was changed.", why)
	}
	return nil
}
