package command

import (
	"bytes"
	"fmt"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/gateway/difference"
)

// What a change destroys is decided from what it does to the notes, whatever command makes
// it: to replace the text of a note by nothing is to delete it. The words of "install
// --edit" and of docs/permissions.md say the same.
const (
	maxRemoved = 10 // lines of a note that are removed or replaced, above which a change is destructive
	leastBody  = 5  // lines of a body, from which on more than a half counts
	maxFiles   = 20 // notes that a call changes or moves, above which it is destructive
	lineBytes  = 80 // a longer line counts as several
)

// loss says what a proposal would lose, or how far it would reach, if that is so much
// that the user should be asked, else "". What a caller made last and takes back itself is
// no loss.
func (p Proposal) loss() string {
	if p.Latest {
		return ""
	}
	changed := 0
	for _, s := range p.Steps {
		if !s.IsNoop() && !s.Before.Folder && !s.After.Folder {
			changed++
		}
	}
	if changed > maxFiles {
		return fmt.Sprintf("affects %d notes", changed)
	}
	for _, s := range p.Steps {
		if p.Keeps && s.After.Exists {
			continue
		}
		if why := s.loss(p.Undoes != ""); why != "" {
			return why
		}
	}
	if p.carried.asks {
		return p.carried.Why
	}
	return ""
}

func (s Step) loss(undo bool) string {
	switch {
	case !s.Before.Exists || s.Before.Folder || s.Before.Equal(s.After):
		return ""
	case !s.After.Exists:
		return fmt.Sprintf("removes the file %q", named(s.Path.String()))
	case undo:
		return fmt.Sprintf("replaces what %q contains", named(s.Path.String()))
	}
	body := edit.Body(s.Before.Text)
	ofBody, all := removedFrom(body, edit.Body(s.After.Text)), linesOf(body)
	removed := removedFrom(s.Before.Text, s.After.Text)
	switch {
	case ofBody > maxRemoved, all >= leastBody && 2*ofBody > all:
		if n := edit.NumberOfLines(body); all == n {
			return fmt.Sprintf("removes %d of the %d lines of the text of %q", ofBody, all, named(s.Path.String()))
		}
		return fmt.Sprintf("removes %d%% of the text of %q", 100*min(ofBody, all)/all, named(s.Path.String()))
	case removed > maxRemoved:
		return fmt.Sprintf("removes %d lines of %q", removed, named(s.Path.String()))
	}
	if key := retyped(s.Before.Text, s.After.Text); key != "" {
		return fmt.Sprintf("replaces the value of the property %q of %q by one of another type", named(key), named(s.Path.String()))
	}
	return ""
}

// removedFrom returns how many lines a change removes or replaces. Of a long line that is
// replaced by another one, what differs counts.
func removedFrom(before, after []byte) (removed int) {
	c := difference.Of(before, after)
	if c.Binary {
		return linesOf(before)
	}
	for _, l := range c.Lines {
		if l.Sign == difference.Removed {
			removed += weight(l.To - l.From)
		}
	}
	_, left := c.Left()
	return removed + left
}

// linesOf returns how many lines a text counts as.
func linesOf(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		n += weight(len(line) - 1)
	}
	return n
}

func weight(bytes int) int { return max(1, (bytes+lineBytes-1)/lineBytes) }

// retyped returns a property whose value gets another type, "" if there is none. A number
// and a boolean are texts, too: who writes one in place of the other loses nothing.
func retyped(before, after []byte) string {
	front := func(text []byte) []byte { return text[:len(text)-len(edit.Body(text))] }
	if bytes.Equal(front(before), front(after)) {
		return ""
	}
	properties := func(text []byte) frontmatter.Properties {
		_, block, _ := bytes.Cut(front(text), []byte("\n"))
		block = block[:bytes.LastIndexByte(bytes.TrimSuffix(block, []byte("\n")), '\n')+1]
		p, _ := frontmatter.Parse(block) // what is no properties loses none
		return p
	}
	old, now := properties(before), properties(after)
	kind := func(v frontmatter.Value) int {
		switch v.Kind() {
		case frontmatter.List:
			return 1
		case frontmatter.Map:
			return 2
		}
		return 0
	}
	for _, p := range old {
		q, ok := now.Lookup(p.Key)
		if kind(p.Value) > 0 && ok && kind(q.Value) != kind(p.Value) && len(p.Value.List())+len(p.Value.Fields()) > 0 {
			return p.Key
		}
	}
	return ""
}

// maxNamed bounds the path in a reason, which is a part of one line.
const maxNamed = quote.Limit - len("…")

// named is a path in a reason, which a person reads in a question: nothing in it can
// end the quotation.
func named(path string) Verbatim {
	if len(path) > maxNamed {
		path = "…" + strings.ToValidUTF8(path[len(path)-maxNamed:], "")
	}
	return Verbatim(strings.ReplaceAll(path, `"`, `\"`))
}

// unasked refuses a destructive proposal that was not approved.
func (p Proposal) unasked(how WriteOptions) error {
	if why := p.loss(); why != "" && how.RefuseDestructive {
		return Unapproved.Failure("Approval required: the change %s. Nothing was changed.", why)
	}
	return nil
}
