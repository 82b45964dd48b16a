package handlers

import (
	"fmt"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/task"
)

func init() {
	register(Command{Name: "briefing", Run: brief})
}

// Limits that keep a briefing to about a page.
const (
	fewRows         = 20
	maxBriefingRows = 100
	maxBriefingText = 8 << 10 // bytes of a note
	oldDays         = 90      // minimum age of the last change of an old note
)

// brief prints the parts of a briefing in order. An empty part is marked as such.
func brief(v *call.Vault, p call.Values) (answer.Reply, error) {
	limit, err := p.Number("limit", fewRows, 1, maxBriefingRows)
	if err != nil {
		return answer.Reply{}, err
	}
	today := v.Today()
	now, err := todaysNote(v)
	if err != nil {
		return answer.Reply{}, err
	}
	before, err := noteOnDay(v, today.AddDate(0, 0, -1))
	if err != nil {
		return answer.Reply{}, err
	}
	b := briefingPage{v: v}
	fmt.Fprintf(&b.out, "Briefing for %s, %s\n", today.Weekday(), today.Format(time.DateOnly))
	b.note("Today", now.Path)
	day := task.DateOf(today.Format(time.DateOnly))
	lists := []openTasks{
		{
			title:  "Open tasks of " + before.Path.String(),
			passes: func(file string, _ task.Date) bool { return file == before.Path.String() },
		},
		{title: "Overdue tasks", passes: func(_ string, due task.Date) bool { return due != 0 && due < day }},
		{title: "Tasks due today", passes: func(_ string, due task.Date) bool { return due == day }},
	}
	if err := listOpen(v, limit, lists); err != nil {
		return answer.Reply{}, err
	}
	for _, list := range lists {
		b.rows(list.title, list.rows, list.total)
	}
	changed, err := listChanged(v, call.Values{"limit": fmt.Sprint(limit)})
	if err != nil {
		return answer.Reply{}, err
	}
	rows := strings.SplitAfter(strings.TrimSuffix(changed.Text(), "\n"), "\n")
	b.rows("Recently changed notes", rows, len(rows))
	if p.Has("old-note") {
		seed := today.Unix() / (24 * 60 * 60)
		picked, err := pickNotes(v, call.Values{"min-age": fmt.Sprint(oldDays), "seed": fmt.Sprint(seed)}, 1)
		switch {
		case err != nil:
			return answer.Reply{}, err
		case len(picked) == 0:
			b.part(fmt.Sprintf("Old note: none is unchanged for %d days", oldDays))
		default:
			b.note("Old note", picked[0])
		}
	}
	return answer.From(v.Disk, b.out.String()), nil
}

// briefingPage accumulates the text of a briefing.
type briefingPage struct {
	v   *call.Vault
	out strings.Builder
}

// note adds the text of a note, or its beginning if it is longer than maxBriefingText.
func (b *briefingPage) note(title string, at disk.Path) {
	text, err := b.v.Disk.Read(at)
	_ = b.v.Disk.Told(at, err)
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
	if len(text) > maxBriefingText {
		cut := strings.LastIndexByte(string(text[:maxBriefingText]), '\n') + 1
		if cut == 0 {
			cut = maxBriefingText
		}
		rest = fmt.Sprintf("… %d more bytes\n", len(text)-cut)
		text = text[:cut]
	}
	b.out.WriteString(strings.ToValidUTF8(string(text), ""))
	b.endLine()
	b.out.WriteString(rest)
}

// rows adds a part with the first rows of a list of total rows.
func (b *briefingPage) rows(title string, rows []string, total int) {
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

func (b *briefingPage) part(title string) { b.out.WriteString("\n==> " + title + " <==\n") }

// endLine adds a line break if the text does not end with one.
func (b *briefingPage) endLine() {
	if !strings.HasSuffix(b.out.String(), "\n") {
		b.out.WriteByte('\n')
	}
}
