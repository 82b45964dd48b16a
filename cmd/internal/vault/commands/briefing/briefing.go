// Package briefing has the command that tells in one answer what a day begins with.
package briefing

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/commands/files"
	"vaultwicket/cmd/internal/vault/commands/notes"
	"vaultwicket/cmd/internal/vault/commands/tasks"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
	"vaultwicket/cmd/internal/vault/task"
)

// The bounds of the parts, so that a briefing is a page and not a vault.
const (
	fewRows = 20
	maxRows = 100
	maxText = 8 << 10 // of a note
	oldDays = 90      // how long an old note was not changed
)

// Commands returns the command of this package.
func Commands() []command.Command {
	return []command.Command{{Name: "briefing", Run: brief}}
}

// brief puts the parts one below the other. A part with nothing in it says so.
func brief(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	limit, err := p.Number("limit", fewRows, 1, maxRows)
	if err != nil {
		return answer.Reply{}, err
	}
	today := v.Today()
	now, err := notes.Today(v)
	if err != nil {
		return answer.Reply{}, err
	}
	before, err := notes.OnDay(v, today.AddDate(0, 0, -1))
	if err != nil {
		return answer.Reply{}, err
	}
	b := page{v: v, limit: limit}
	fmt.Fprintf(&b.out, "Briefing for %s, %s\n", today.Weekday(), today.Format(time.DateOnly))
	b.note("Today", now.Path)
	day := task.DateOf(today.Format(time.DateOnly))
	b.tasks(
		taskPart{"Open tasks of " + before.Path.String(), func(file string, _ task.Date) bool { return file == before.Path.String() }},
		taskPart{"Overdue tasks", func(_ string, due task.Date) bool { return due != 0 && due < day }},
		taskPart{"Tasks due today", func(_ string, due task.Date) bool { return due == day }})
	b.recent()
	if p.Has("old-note") {
		b.old(today)
	}
	return answer.Text(b.out.String()), b.err
}

// page is a briefing on the way. The first error ends it.
type page struct {
	v     *session.Vault
	limit int
	out   strings.Builder
	err   error
}

// note adds the text of a note, or its beginning.
func (b *page) note(title string, at disk.Path) {
	text, err := b.v.Disk.Read(at)
	switch {
	case disk.IsMissing(err):
		b.part(title + ": " + at.String() + " (missing)")
		return
	case err != nil:
		b.part(title + ": " + at.String() + " (cannot be read)")
		return
	}
	b.part(title + ": " + at.String())
	rest := ""
	if len(text) > maxText {
		cut := strings.LastIndexByte(string(text[:maxText]), '\n') + 1
		if cut == 0 {
			cut = maxText
		}
		rest = fmt.Sprintf("… %d more bytes\n", len(text)-cut)
		text = text[:cut]
	}
	b.out.WriteString(strings.ToValidUTF8(string(text), ""))
	b.endLine()
	b.out.WriteString(rest)
}

// taskPart is a part that lists the open tasks that pass a test.
type taskPart struct {
	title  string
	passes func(file string, due task.Date) bool
}

// tasks adds parts of open tasks. The tasks of the vault are gone through once for all.
func (b *page) tasks(parts ...taskPart) {
	var tests []func(file string, due task.Date) bool
	for _, part := range parts {
		tests = append(tests, part.passes)
	}
	lists, err := tasks.Open(b.v, b.limit, tests...)
	if err != nil {
		b.err = cmp.Or(b.err, err)
		return
	}
	for n, part := range parts {
		b.rows(part.title, lists[n].Rows, lists[n].Total)
	}
}

// recent adds the notes that were changed last.
func (b *page) recent() {
	said, err := files.Recent(b.v, grammar.Values{"limit": fmt.Sprint(b.limit)})
	if err != nil {
		b.err = cmp.Or(b.err, err)
		return
	}
	rows := strings.SplitAfter(strings.TrimSuffix(said.Text, "\n"), "\n")
	b.rows("Recently changed notes", rows, len(rows))
}

// old adds the old note of a day.
func (b *page) old(today time.Time) {
	seed := today.Unix() / (24 * 60 * 60)
	picked, err := notes.Pick(b.v, grammar.Values{"min-age": fmt.Sprint(oldDays), "seed": fmt.Sprint(seed)}, 1)
	switch {
	case err != nil && b.err == nil:
		b.err = err
	case err == nil && len(picked) == 0:
		b.part(fmt.Sprintf("Old note: none is unchanged for %d days", oldDays))
	case err == nil:
		b.note("Old note", picked[0])
	}
}

// rows adds a part with the first rows of a list.
func (b *page) rows(title string, rows []string, total int) {
	if total == 0 || rows[0] == "" {
		b.part(title + ": none")
		return
	}
	b.part(title)
	for _, row := range rows {
		b.out.WriteString(row)
		b.endLine()
	}
	if left := total - len(rows); left > 0 {
		fmt.Fprintf(&b.out, "… and %d more\n", left)
	}
}

func (b *page) part(title string) { b.out.WriteString("\n==> " + title + " <==\n") }

// endLine ends a line that has no end.
func (b *page) endLine() {
	if !strings.HasSuffix(b.out.String(), "\n") {
		b.out.WriteByte('\n')
	}
}
