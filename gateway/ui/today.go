package ui

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/journal"
)

// changedBy has all changes of one agent in one vault on a day, newest first.
type changedBy struct {
	Who   string
	Vault string
	Own   bool
	Rows  []changeRow // without their line counts, see [Page.listed]
}

// batchOf has the changes of one batch, or a single change.
type batchOf struct {
	ID    string      // of the batch, "" for a single change
	Rows  []changeRow // the listed changes
	Whole changedBy   // all changes
}

// listed has the newest changes of an agent as a view lists them.
type listed struct {
	changedBy
	Batches []batchOf
	Further int // changes that are not listed
}

// Of returns all changes of the day, listed or not.
func (l listed) Of() changedBy { return l.changedBy }

const (
	// rowsOfAgent is how many changes of an agent the overview lists; the view of changes has the rest.
	rowsOfAgent = 20
	// maxUndone is how many changes one undo can undo, see the command undo.
	maxUndone = 1000
)

// changedOn returns the changes on the day of a time, grouped by who made them; the group with the newest
// change of a vault comes first. It leaves out changes of hidden notes, and those of the unread notes, which cannot be
// read.
func (p *Page) changedOn(ctx context.Context, at time.Time) (list []changedBy, unread int, err error) {
	for _, vault := range p.Gateway.VaultNames() {
		ofVault, sight, failed := p.changedIn(ctx, vault, at)
		if failed != nil && failure.Of(failed).Code == failure.CodeVaultNotFound {
			failed = nil // without a folder there is no journal
		}
		list = append(list, ofVault...)
		unread += sight.Unread()
		err = cmp.Or(err, failed)
	}
	return list, unread, err
}

// changedIn is changedOn for one vault. sight has what could not be read.
func (p *Page) changedIn(
	ctx context.Context, vault string, at time.Time,
) (list []changedBy, sight *gateway.Sight, err error) {
	sight = p.Gateway.Sight(vault)
	log, err := p.Gateway.Journal(vault)
	if err != nil {
		return nil, sight, err
	}
	dayStart := midnight(at)
	known := map[string]toggle{}
	ofDay := journal.Filter{Since: dayStart, Until: midnight(dayStart.AddDate(0, 0, 1))}
	_, err = log.Each(ctx, ofDay, func(e journal.Entry) bool {
		if e.Undoes != "" || !e.SeenBy(sight.Sees) { // an undo is shown with the change that it undid
			return true
		}
		row := p.stateOf(ctx, log, vault, e, known)
		at := slices.IndexFunc(list, func(c changedBy) bool { return c.Who == row.Who && c.Own == row.Own })
		if at < 0 {
			at = len(list)
			list = append(list, changedBy{Who: row.Who, Vault: vault, Own: row.Own})
		}
		list[at].Rows = append(list[at].Rows, row)
		return true
	})
	return list, sight, err
}

// Undoable returns how many changes are in effect and can be undone.
func (c changedBy) Undoable() int { return len(c.inEffect()) }

// Redoable returns how many changes are undone and can be redone.
func (c changedBy) Redoable() int { return len(c.undone()) }

// inEffect returns the changes that are in effect, and can be undone.
func (c changedBy) inEffect() (rows []changeRow) {
	for _, row := range c.Rows {
		if row.InEffect && row.Toggle != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// undone returns the changes that are undone, and can be redone.
func (c changedBy) undone() (rows []changeRow) {
	for _, row := range c.Rows {
		if !row.InEffect && row.Toggle != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// Newest returns the id of the newest change, up to which a form undoes the changes of the day.
func (c changedBy) Newest() string { return c.Rows[0].ID }

// Query returns the query of the view of changes for the changes of the day.
func (c changedBy) Query() template.URL {
	query := url.Values{"vault": {c.Vault}, "day": {c.Rows[0].Time.Local().Format(time.DateOnly)}}
	if c.Own {
		query.Set("own", "1")
	} else {
		query.Set("who", c.Who)
	}
	return template.URL(query.Encode())
}

// All returns the toggles of all changes of a batch that are in effect.
func (b batchOf) All() []string { return togglesOf(b.Whole.inEffect()) }

// Size returns how many changes a batch has, listed or not.
func (b batchOf) Size() int { return len(b.Whole.Rows) }

// togglesOf returns the toggles of changes, each once.
func togglesOf(rows []changeRow) (ids []string) {
	seen := map[string]bool{}
	for _, row := range rows {
		if !seen[row.Toggle] {
			seen[row.Toggle] = true
			ids = append(ids, row.Toggle)
		}
	}
	return ids
}

// listed returns the newest changes of an agent with their line counts, grouped by batch.
func (p *Page) listed(ctx context.Context, c changedBy) listed {
	shown := listed{changedBy: c, Further: max(0, len(c.Rows)-rowsOfAgent)}
	log, err := p.Gateway.Journal(c.Vault)
	indexOf := map[string]int{} // indexes of batches in the list
	for i, row := range c.Rows {
		index, isKnown := indexOf[row.Batch]
		isOfBatch := row.Batch != "" && isKnown
		isListed := i < rowsOfAgent
		if !isOfBatch && !isListed {
			continue
		}
		if !isOfBatch {
			index = len(shown.Batches)
			indexOf[row.Batch] = index
			shown.Batches = append(shown.Batches, batchOf{ID: row.Batch})
		}
		batch := &shown.Batches[index]
		batch.Whole.Rows = append(batch.Whole.Rows, row)
		if !isListed {
			continue
		}
		if err == nil {
			p.countLines(ctx, log, &row)
		}
		batch.Rows = append(batch.Rows, row)
	}
	return shown
}

// notesChangedBy counts the notes that an agent changed on a day with changes that are in effect.
func notesChangedBy(who string, day []changedBy) int {
	notes := map[[2]string]bool{}
	for _, c := range day {
		if c.Who != who || c.Own {
			continue
		}
		for _, row := range c.Rows {
			for _, s := range row.Steps {
				if row.InEffect && !strings.HasSuffix(s.Path, "/") {
					notes[[2]string{c.Vault, s.Path}] = true
				}
			}
		}
	}
	return len(notes)
}

// agentsOn returns what each agent did today, busiest first, and what was refused.
func (p *Page) agentsOn(today []changedBy) (list []dayOf, refusals []refusedCount) {
	now := p.Now()
	strips := p.calls.Figures(callFilter{Since: now.Add(-23 * time.Hour)}, now)
	figures := p.calls.Figures(callFilter{Since: midnight(now)}, now)
	for _, a := range strips.Agents {
		day := dayOf{agentFigures: agentFigures{Name: a.Name}, Strip: chartOf(a.Hours, time.Local)}
		day.Changed = notesChangedBy(a.Name, today)
		if i := slices.IndexFunc(figures.Agents, func(other agentFigures) bool { return other.Name == a.Name }); i >= 0 {
			day.agentFigures = figures.Agents[i]
		}
		day.Last = a.Last
		list = append(list, day)
	}
	return list, figures.Refused
}

// Values of [undoForm.What] for the changes of a day.
const (
	undoDay = "day"
	redoDay = "redo-day"
)

// isOfDay reports whether a form is about the changes of a day.
func (u undoForm) isOfDay() bool { return u.What == undoDay || u.What == redoDay }

// changesOfDay returns the changes of a form that is about a day, newest first.
func (p *Page) changesOfDay(ctx context.Context, form undoForm) (c changedBy, err error) {
	log, err := p.Gateway.Journal(form.Vault)
	if err != nil {
		return c, err
	}
	newest, err := log.Entry(ctx, form.ID)
	if err != nil {
		return c, failure.New(failure.CodeNotFound, "open the view again", "the form names no change: %v", err)
	}
	day, sight, err := p.changedIn(ctx, form.Vault, newest.Time)
	if err = cmp.Or(err, sight.Whole()); err != nil {
		return c, err // not a part of what the button names
	}
	for _, candidate := range day {
		if candidate.Who == form.Who && candidate.Own == (form.Own != "") {
			c = candidate
		}
	}
	c.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(row changeRow) bool { return row.ID > form.ID })
	return c, nil
}

// leftNote tells how many changes of a form are left after an undo that skipped some, or returns "" for none.
func (p *Page) leftNote(ctx context.Context, form undoForm, skipped int) string {
	c, err := p.changesOfDay(ctx, form)
	left := c.Undoable()
	again := "undo"
	if form.What == redoDay {
		left = c.Redoable()
		again = "redo"
	}
	left -= skipped
	if err != nil || left <= 0 {
		return ""
	}
	return fmt.Sprintf(" %d more are left: %s again.", left, again)
}
