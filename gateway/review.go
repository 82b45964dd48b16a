package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
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

// Reviewed is what was changed under grants and is in effect.
type Reviewed struct {
	Notes   []*ReviewedNote // in the order in which they were changed first
	Changes int             // entries of the journal
	IsCut   bool            // there are older changes than these
	Running time.Time       // when the first of those began that have not ended and are not in it, zero for none
}

// maxReviewed is how many changes are looked at together: as many as one grant allows.
const maxReviewed = 1000

// Review returns what was changed in a vault under grants and is in effect, of a filter, file by file. Changes that were
// undone, and files that may not be seen, are left out. The vault "" is the default one. The differences are filled in by
// [Gateway.Compare].
func (g *Gateway) Review(ctx context.Context, vault string, of journal.Filter) (found Reviewed, err error) {
	kept, err := g.Journal(vault)
	if err != nil {
		return found, err
	}
	sees := g.Visible(vault)
	var entries []journal.Entry
	_, err = kept.Each(ctx, of, func(e journal.Entry) bool {
		if e.Grant != "" && e.State == journal.Begun {
			found.Running = e.Time // the newest comes first
		}
		isInEffect := e.State == journal.Done && e.Undoes == ""
		if e.Grant == "" || !isInEffect {
			return true
		}
		if found.IsCut = len(entries) == maxReviewed; !found.IsCut {
			entries = append(entries, e)
		}
		return !found.IsCut
	})
	if err != nil {
		return found, failure.New(
			failure.CodeState, `"vaultwicket doctor" shows more`, "the journal cannot be read: %s", excerpt.Reason(err),
		)
	}
	slices.Reverse(entries)
	found.Notes = joinSteps(entries, sees)
	shown := map[string]bool{}
	for _, note := range found.Notes {
		for _, e := range note.Entries {
			shown[e.ID] = true
		}
	}
	found.Changes = len(shown)
	return found, nil
}

// Compare fills in how notes of a review of a vault are after the last of their changes, compared with how they were
// before the first one.
func (g *Gateway) Compare(ctx context.Context, vault string, notes []*ReviewedNote) error {
	kept, err := g.Journal(vault)
	if err != nil {
		return err
	}
	for _, note := range notes {
		current := func(path, hash string) (guard.Unjudged, bool) { return g.NoteWithHash(vault, path, hash) }
		note.compare(ctx, kept, current, func(text guard.Unjudged) guard.Judged { return g.Judged(vault, text) })
	}
	return nil
}

// reviewFile begins the name of a file in the state folder that has the time of the last review of a vault by its time of
// modification.
const reviewFile = "reviewed-"

// firstReview is how far a review goes back where there was none.
const firstReview = 24 * time.Hour

// reviewFileOf returns the name of the file of a vault, "" for one that is not served.
func (g *Gateway) reviewFileOf(vault string) string {
	at, err := g.vaultNamed(vault)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(at.identity()))
	return filepath.Join(ownerfiles.StateFolder(g.getenv, ""), reviewFile+hex.EncodeToString(sum[:8]))
}

// LastReview returns since when the owner has not looked at what was changed under grants in a vault.
func (g *Gateway) LastReview(vault string, now time.Time) time.Time {
	info, err := os.Lstat(g.reviewFileOf(vault))
	if err != nil || info.ModTime().After(now) {
		return now.Add(-firstReview)
	}
	return info.ModTime()
}

// NoteReview notes that the owner has looked at what was changed under grants in a vault before a time. The error is that
// of the state folder; the next review has more then.
func (g *Gateway) NoteReview(vault string, before time.Time) error {
	name := g.reviewFileOf(vault)
	_, err := ownerfiles.Replace(ownerfiles.Disk{}, name+".half", name, nil, before)
	return err
}

// joinSteps groups the steps of changes, the oldest first, by the files that they are about, wherever those move.
func joinSteps(entries []journal.Entry, sees func(path string) bool) (list []*ReviewedNote) {
	at := map[string]*ReviewedNote{}
	for _, e := range entries {
		for _, s := range e.Steps {
			isSeen := sees(strings.TrimSuffix(s.Path, "/")) && sees(strings.TrimSuffix(s.Source(), "/"))
			if !isSeen {
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

// compare fills in how the file is after the last change, compared with how it was before the first one. current returns
// the text of a file that still has a hash, and judge what is shown of it.
func (n *ReviewedNote) compare(
	ctx context.Context,
	kept *journal.Journal,
	current func(path, hash string) (text guard.Unjudged, ok bool),
	judge func(text guard.Unjudged) guard.Judged,
) {
	first := n.steps[0]
	last := n.steps[len(n.steps)-1]
	n.File = consent.PlannedFile{Path: last.Path, Before: clipped(first.Before.Hash), After: clipped(last.After.Hash)}
	if first.Source() != last.Path && first.Before.Exists {
		n.File.From = first.Source()
	}
	textsOf := func(s journal.Step) (before, after guard.Unjudged, ok bool) {
		return kept.Texts(ctx, s, func(hash string) (guard.Unjudged, bool) { return current(s.Path, hash) })
	}
	before, _, knowsFirst := textsOf(first)
	_, after, knowsLast := textsOf(last)
	if n.IsKnown = knowsFirst && knowsLast; n.IsKnown {
		n.Change = difference.Of(judge(before).Bytes(), judge(after).Bytes())
	}
}

// clipped is a hash as results have it.
func clipped(hash string) string { return hash[:min(len(hash), 16)] }

// Lines returns the difference of the file as it is shown.
func (n *ReviewedNote) Lines() []consent.Line {
	return consent.Changes([]consent.PlannedFile{n.File}, []difference.Change{n.Change}, consent.Rest{})
}
