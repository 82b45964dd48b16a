package gateway

import (
	"context"
	"slices"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/vaultview"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
)

// ReviewedNote is a file that was changed under grants, with all of that as one difference.
type ReviewedNote struct {
	File   consent.PlannedFile // From is where it was before the first of the changes, if that is elsewhere
	Change difference.Change
	// IsKnown is false where one of the texts is not kept any more.
	IsKnown bool
	// ByOthers says that it was changed in between by something else, which the difference has, too.
	ByOthers bool
	Entries  []journal.Entry // the oldest first
	steps    []journal.Step
}

// maxReviewed is how many changes are looked at together: as many as one grant allows.
const maxReviewed = 1000

// Review returns what was changed in the default vault under grants and is in effect, of a filter, file by file in the
// order in which they were changed first. Changes that were undone, and files that may not be seen, are left out.
func (g *Gateway) Review(ctx context.Context, of journal.Filter) ([]*ReviewedNote, error) {
	at := g.vaults[0]
	kept, err := g.Journal("")
	if err != nil {
		return nil, err
	}
	sees := g.Visible("")
	var entries []journal.Entry
	_, err = kept.Each(ctx, of, func(e journal.Entry) bool {
		isInEffect := e.State == journal.Done && e.Undoes == ""
		if e.Grant != "" && isInEffect {
			entries = append(entries, e)
		}
		return len(entries) < maxReviewed
	})
	if err != nil {
		return nil, failure.New(
			failure.CodeState, `"vaultwicket doctor" shows more`, "the journal cannot be read: %s", excerpt.Reason(err),
		)
	}
	slices.Reverse(entries)
	list := joinSteps(entries, sees)
	for _, note := range list {
		note.compare(ctx, kept, at.target().Folder)
	}
	return list, nil
}

// joinSteps groups the steps of changes, the oldest first, by the files that they are about, wherever those move.
func joinSteps(entries []journal.Entry, sees func(path string) bool) (list []*ReviewedNote) {
	at := map[string]*ReviewedNote{}
	for _, e := range entries {
		for _, s := range e.Steps {
			if !sees(s.Path) || !sees(s.Source()) {
				continue
			}
			note := at[s.Source()]
			if note == nil {
				note = &ReviewedNote{}
				list = append(list, note)
			}
			if n := len(note.steps); n > 0 && note.steps[n-1].After.Hash != s.Before.Hash {
				note.ByOthers = true
			}
			note.steps = append(note.steps, s)
			if n := len(note.Entries); n == 0 || note.Entries[n-1].ID != e.ID {
				note.Entries = append(note.Entries, e)
			}
			delete(at, s.Source())
			at[s.Path] = note
		}
	}
	return list
}

// compare fills in how the file is after the last change, compared with how it was before the first one.
func (n *ReviewedNote) compare(ctx context.Context, kept *journal.Journal, folder string) {
	first := n.steps[0]
	last := n.steps[len(n.steps)-1]
	n.File = consent.PlannedFile{Path: last.Path, Before: clipped(first.Before.Hash), After: clipped(last.After.Hash)}
	if first.Source() != last.Path && first.Before.Exists {
		n.File.From = first.Source()
	}
	textsOf := func(s journal.Step) (before, after []byte, ok bool) {
		return kept.Texts(ctx, s, func(hash string) (string, bool) { return vaultview.WithHash(folder, s.Path, hash) })
	}
	before, _, knowsFirst := textsOf(first)
	_, after, knowsLast := textsOf(last)
	if n.IsKnown = knowsFirst && knowsLast; n.IsKnown {
		n.Change = difference.Of(before, after)
	}
}

// clipped is a hash as results have it.
func clipped(hash string) string { return hash[:min(len(hash), 16)] }

// Lines returns the difference of the file as it is shown.
func (n *ReviewedNote) Lines() []consent.Line {
	return consent.Changes([]consent.PlannedFile{n.File}, []difference.Change{n.Change}, consent.Rest{})
}
