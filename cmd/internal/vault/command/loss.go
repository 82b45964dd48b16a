package command

import (
	"bytes"
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/lines"
)

// A change that removes much is destructive whatever command makes it: to replace
// the text of a note by nothing is to delete it.
const (
	maxRemoved = 10 // lines of a note, above which a change is destructive
	leastBody  = 5  // lines of a body, from which on more than a half counts
	maxWide    = 20 // notes that a call changes without naming them, above which it is destructive
)

// loss says what a proposal would lose, or how far it would reach, if that is so much
// that a person should be asked, else "". What a caller made last and takes back itself is no loss.
func (p Proposal) loss() string {
	if p.Latest {
		return ""
	}
	if p.Wide && len(p.Steps) > maxWide {
		return fmt.Sprintf("affects %d notes", len(p.Steps))
	}
	for _, s := range p.Steps {
		if why := s.loss(p.Undoes != ""); why != "" {
			return why
		}
	}
	return ""
}

func (s Step) loss(undo bool) string {
	switch {
	case !s.Before.Exists || s.Before.Equal(s.After):
		return ""
	case !s.After.Exists:
		return fmt.Sprintf("removes the file %q", named(s.Path.String()))
	case undo:
		return fmt.Sprintf("replaces what %q contains", named(s.Path.String()))
	}
	removed := lines.Count(s.Before.Text, s.After.Text).Removed
	body := lines.Body(s.Before.Text)
	ofBody, all := lines.Count(body, lines.Body(s.After.Text)).Removed, lines.Number(body)
	switch {
	case ofBody > maxRemoved, all >= leastBody && 2*ofBody > all:
		return fmt.Sprintf("removes %d of the %d lines of the text of %q", ofBody, all, named(s.Path.String()))
	case removed > maxRemoved:
		return fmt.Sprintf("removes %d lines of %q", removed, named(s.Path.String()))
	}
	return ""
}

// maxNamed is how much of a path a reason holds: it is a part of one line.
const maxNamed = 200

// named is a path in a reason, which a person reads in a question: nothing in it can
// end the quotation.
func named(path string) answer.Verbatim {
	text := strings.ReplaceAll(path, `"`, "'")
	if len(text) > maxNamed {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxNamed:], "")
	}
	return answer.Verbatim(text)
}

// counts returns how many lines a proposal adds and removes, in all files.
func (p Proposal) counts() (total lines.Counts) {
	for _, s := range p.Steps {
		if bytes.Equal(s.Before.Text, s.After.Text) {
			continue
		}
		one := lines.Count(s.Before.Text, s.After.Text)
		total.Added += one.Added
		total.Removed += one.Removed
	}
	return total
}

// unasked refuses a proposal that loses much, where nobody was asked about it.
func (p Proposal) unasked(how grammar.WriteOptions) error {
	if why := p.loss(); why != "" && how.RefuseDestructive {
		return answer.Unapproved.Failure("Approval required: the change %s. Nothing was changed.", why)
	}
	return nil
}
