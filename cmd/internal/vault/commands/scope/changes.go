package scope

import (
	"fmt"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/session"
)

// Limits of one change. What is more than that nobody looks through before it is made,
// and all of it is in memory at once.
const (
	maxNotes = 1000
	maxBytes = 32 << 20 // of the notes as they are and as they become, together
)

// Changes collects what becomes of many notes. The zero Changes is not usable; see
// [For].
type Changes struct {
	v     *session.Vault
	steps []command.Step
	size  int
}

// For returns an empty collection for the vault of a call.
func For(v *session.Vault) *Changes { return &Changes{v: v} }

// Edit adds what edit makes of a note, if it is another text. A note that is gone by
// now is left out. The error of edit is returned as it is; others say that the note
// cannot be read, or that the change is too large.
func (c *Changes) Edit(path disk.Path, edit func(text []byte) ([]byte, error)) error {
	if err := c.v.Ctx.Err(); err != nil {
		return err
	}
	before, err := c.v.Disk.Read(path)
	switch {
	case disk.IsMissing(err):
		return nil
	case err != nil:
		return answer.ReadError(path.String(), err)
	}
	after, err := edit(before)
	if err != nil {
		return err
	}
	s := command.Step{Path: path, Before: command.Existing(before), After: command.Existing(after)}
	if s.IsNoop() {
		return nil
	}
	c.steps = append(c.steps, s)
	c.size += len(before) + len(after)
	if err := budget.From(c.v.Ctx).Hold(int64(len(before) + len(after))); err != nil {
		return err
	}
	return c.fits()
}

func (c *Changes) fits() error {
	switch {
	case len(c.steps) > maxNotes:
		return answer.TooLong.Failure("More than %d notes would be changed. Nothing was changed. Narrow it with folder=<path>.", maxNotes)
	case c.size > maxBytes:
		return answer.TooLong.Failure("More than %d MiB of notes would be changed, with what becomes of them. Nothing was changed. Narrow it with folder=<path>.", maxBytes>>20)
	}
	return nil
}

// Proposal returns all changes as one, which is made and undone as a whole. said is
// what is printed once it is made, in front of the number of notes.
func (c *Changes) Proposal(said string) command.Proposal {
	p := command.Proposal{Steps: c.steps, Message: said + " in " + Counted(len(c.steps), "note")}
	if len(c.steps) > 0 {
		p.Note = c.steps[0].Path
	}
	return p
}

// Counted writes a number of things.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
