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

// ReviewedNote is a file that was changed under grants, with all these changes as one difference.
type ReviewedNote struct {
	File   consent.PlannedFile // From is its path before the first change, if that is another one
	Change difference.Change
	// IsKnown is false if one of the texts is no longer stored.
	IsKnown bool
	// ByOthers means that something else changed the file in between. The difference contains that, too.
	ByOthers bool
	Entries  []journal.Entry // oldest first
	steps    []journal.Step
}

// Reviewed is what was changed under grants and is still in effect.
type Reviewed struct {
	Notes   []*ReviewedNote // in the order of their first change
	Changes int             // number of journal entries
	IsCut   bool            // there are older changes that are left out
	Running time.Time       // when the oldest change began that has not ended and is left out, zero if there is none
	Unread  int             // notes that are left out because they cannot be read now
}

// maxReviewed is the maximum number of changes in a review. One grant allows as many.
const maxReviewed = 1000

// Review returns the changes in a vault that were made under grants, match the filter and are still in effect, by
// file. Undone changes and files that may not be seen are left out, see [Sight]. The vault "" is the default one.
// [Gateway.Compare] fills in the differences.
func (g *Gateway) Review(ctx context.Context, vault string, filter journal.Filter) (review Reviewed, err error) {
	undoJournal, err := g.Journal(vault)
	if err != nil {
		return review, err
	}
	sight := g.Sight(vault)
	var entries []journal.Entry
	_, err = undoJournal.Each(ctx, filter, func(e journal.Entry) bool {
		if e.Grant != "" && e.State == journal.Begun {
			review.Running = e.Time // entries come newest first, so the oldest one stays
		}
		isInEffect := e.State == journal.Done && e.Undoes == ""
		if e.Grant == "" || !isInEffect {
			return true
		}
		if len(entries) == maxReviewed {
			review.IsCut = true
			return false
		}
		entries = append(entries, e)
		return true
	})
	if err != nil {
		return review, failure.New(
			failure.CodeState, `"vaultwicket doctor" shows more`, "the journal cannot be read: %s", excerpt.Reason(err),
		)
	}
	slices.Reverse(entries)
	review.Notes = joinSteps(entries, sight.Sees)
	review.Unread = sight.Unread()
	counted := map[string]bool{}
	for _, note := range review.Notes {
		for _, e := range note.Entries {
			counted[e.ID] = true
		}
	}
	review.Changes = len(counted)
	return review, nil
}

// Compare fills in the differences of reviewed notes of a vault: how they are after the last of their changes,
// compared with how they were before the first.
func (g *Gateway) Compare(ctx context.Context, vault string, notes []*ReviewedNote) error {
	undoJournal, err := g.Journal(vault)
	if err != nil {
		return err
	}
	for _, note := range notes {
		current := func(path, hash string) (guard.Unjudged, bool) { return g.NoteWithHash(vault, path, hash) }
		note.compare(ctx, undoJournal, current, func(text guard.Unjudged) guard.Judged { return g.Judged(vault, text) })
	}
	return nil
}

// reviewFile is the prefix of the names of files in the state folder whose modification time is the time of the last
// review of a vault.
const reviewFile = "reviewed-"

// firstReview is how far the first review goes back.
const firstReview = 24 * time.Hour

// reviewFileOf returns the name of that file for a vault, "" if the vault is not served.
func (g *Gateway) reviewFileOf(vault string) string {
	at, err := g.vaultNamed(vault)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(at.identity()))
	return filepath.Join(ownerfiles.StateFolder(g.getenv, ""), reviewFile+hex.EncodeToString(sum[:8]))
}

// LastReview returns when the owner last reviewed what was changed under grants in a vault, or the time that a first
// review starts from.
func (g *Gateway) LastReview(vault string, now time.Time) time.Time {
	info, err := os.Lstat(g.reviewFileOf(vault))
	if err != nil || info.ModTime().After(now) {
		return now.Add(-firstReview)
	}
	return info.ModTime()
}

// NoteReview records that the owner has reviewed what was changed under grants in a vault before a time. If that
// fails, the next review shows these changes again.
func (g *Gateway) NoteReview(vault string, before time.Time) error {
	name := g.reviewFileOf(vault)
	_, err := ownerfiles.Replace(ownerfiles.Disk{}, name+".half", name, nil, before)
	return err
}

// joinSteps groups the steps of changes, which come oldest first, by the files that they are about. It follows files
// that are moved.
func joinSteps(entries []journal.Entry, isVisible func(path string) bool) (list []*ReviewedNote) {
	byPath := map[string]*ReviewedNote{}
	for _, e := range entries {
		for _, s := range e.Steps {
			isShown := isVisible(strings.TrimSuffix(s.Path, "/")) && isVisible(strings.TrimSuffix(s.Source(), "/"))
			if !isShown {
				continue
			}
			note := byPath[s.Source()]
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
			delete(byPath, s.Source())
			byPath[s.Path] = note
		}
	}
	return list
}

// compare fills in the difference between the file after the last change and before the first one. current returns
// the text of a file that still has the given hash, and judge masks the secrets in a text.
func (n *ReviewedNote) compare(
	ctx context.Context,
	undoJournal *journal.Journal,
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
		return undoJournal.Texts(ctx, s, func(hash string) (guard.Unjudged, bool) { return current(s.Path, hash) })
	}
	before, _, knowsFirst := textsOf(first)
	_, after, knowsLast := textsOf(last)
	if n.IsKnown = knowsFirst && knowsLast; n.IsKnown {
		n.Change = difference.Of(judge(before).Bytes(), judge(after).Bytes())
	}
}

// clipped returns a hash as it is in results: its first 16 hex digits.
func clipped(hash string) string { return hash[:min(len(hash), 16)] }

// Lines returns the difference of the file in the form for people.
func (n *ReviewedNote) Lines() []consent.Line {
	return consent.Changes([]consent.PlannedFile{n.File}, []difference.Change{n.Change}, consent.Rest{})
}
