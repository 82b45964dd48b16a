// Package handlers implements the commands of the embedded CLI for notes, files, tasks, bases, properties, links and
// history. Each file contains a command or a small family of commands: the rows that it registers, and their functions.
//
// Names, parameters and effects of commands are declared by the rows of the same names in package allowlist.
package handlers

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// table is filled by the init functions of the files, and read-only afterwards.
var table = make([]Command, 0, 128)

func register(rows ...Command) { table = append(table, rows...) }

// All returns the rows of all commands of this package, in no particular order.
func All() []Command { return slices.Clone(table) }

// listReply replies with the items of a list, one per line; with their number if total is given; or with none if the
// list is empty.
func listReply(v *call.Vault, p call.Values, list []string, none answer.Reply) answer.Reply {
	switch {
	case p.Has("total"):
		return answer.Number(len(list))
	case len(list) == 0:
		return none
	}
	return answer.From(v.Disk, strings.Join(list, "\n"))
}

// tableReply is [listReply] for a table in one of its formats.
func tableReply(v *call.Vault, p call.Values, t answer.Table, form string, none answer.Reply) answer.Reply {
	if p.Has("total") || len(t.Rows) == 0 {
		return listReply(v, p, make([]string, len(t.Rows)), none)
	}
	return t.Reply(v.Disk, form)
}

// limited adds a notice for the gateway to a reply that lists fewer things than there are. The app does not report what
// its limit omits.
func limited(reply answer.Reply, shown, total int, thing string) answer.Reply {
	if shown >= total {
		return reply
	}
	return reply.Noting(answer.Remark("%d of %s are listed; a higher limit lists more", shown, answer.Count(total, thing)))
}

// folderOf returns the folder of a request; the default is the vault's root. A folder that is missing or hidden is an
// error: a typo in its name must not mean "no notes".
func folderOf(v *call.Vault, p call.Values) (disk.Path, error) {
	if !p.Has("folder") || p["folder"] == "/" {
		return disk.Path{}, nil
	}
	return v.FolderThere(p["folder"])
}

// notesFor returns the notes that match folder= and query= of a request, in the order of listings.
func notesFor(v *call.Vault, p call.Values) ([]disk.Path, error) {
	return wantedNotes(v, p, search.Scope{}, func(*search.Note) bool { return true })
}

// notesWith is [notesFor] for notes whose text wanted accepts. wanted is called from several goroutines.
func notesWith(v *call.Vault, p call.Values, wanted func(text []byte) bool) ([]disk.Path, error) {
	return wantedNotes(v, p, search.Scope{Texts: true}, func(n *search.Note) bool { return wanted(n.Text()) })
}

// wantedNotes returns the notes of a scope that match folder= and query= of a request and that wanted accepts, in the
// order of listings. wanted is called from several goroutines.
func wantedNotes(
	v *call.Vault, p call.Values, scope search.Scope, wanted func(*search.Note) bool,
) ([]disk.Path, error) {
	under, err := folderOf(v, p)
	if err != nil {
		return nil, err
	}
	matches := func(*search.Note) bool { return true }
	queryErr := func() error { return nil }
	if p.Has("query") {
		q, err := search.ParseQuery(p["query"], search.QueryOptions{Budget: budget.From(v.Ctx)})
		if err != nil {
			return nil, invalidQuery(err)
		}
		matches = func(n *search.Note) bool { return q.Match(n) }
		queryErr = q.Err
		scope.Texts = scope.Texts || q.NeedsText()
	}
	excluded, _, err := v.Excluded()
	if err != nil {
		return nil, err
	}
	scope.Folder = under
	scope.Excluded = excluded
	var mu sync.Mutex
	var names []string
	err = v.Host.Knowledge.EachNote(
		v.View(),
		scope,
		func(n *search.Note) {
			if v.Ctx.Err() != nil || !matches(n) || !wanted(n) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			names = append(names, n.File)
		},
	)
	switch {
	case err != nil:
		return nil, err
	case v.Ctx.Err() != nil:
		return nil, v.Ctx.Err()
	case queryErr() != nil:
		return nil, invalidQuery(queryErr())
	}
	filenames.Sort(names)
	notes := make([]disk.Path, 0, len(names))
	for _, name := range names {
		path, err := v.PathOf(name)
		if err != nil {
			return nil, answer.NoSuchFile(name, err)
		}
		notes = append(notes, path)
	}
	return notes, nil
}

// indexedNotes is [notesFor] for notes that wanted accepts by what the index knows of them.
func indexedNotes(v *call.Vault, p call.Values, wanted func(*index.File) bool) ([]disk.Path, error) {
	if p.Has("query") {
		idx, err := v.Index()
		if err != nil {
			return nil, err
		}
		all, err := notesFor(v, p)
		return slices.DeleteFunc(all, func(path disk.Path) bool {
			place, ok := idx.Place(path.String())
			return !ok || !wanted(idx.Files[place])
		}), err
	}
	under, err := folderOf(v, p)
	if err != nil {
		return nil, err
	}
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return nil, err
	}
	var notes []disk.Path
	for _, f := range files {
		if f.IsNote() && f.Path.Below(under) && wanted(f) {
			notes = append(notes, f.Path)
		}
	}
	return notes, nil
}

// invalidQuery returns the error for an invalid query, with its hint if it has one.
func invalidQuery(err error) error {
	var hinted interface {
		error
		Hint() string
	}
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		return answer.Misuse("%v; %s", err, hinted.Hint())
	}
	return answer.Misuse("%v", err)
}

// Limits of one change. Nobody reviews more than that before approving it, and all of it is in memory at once.
const (
	maxNotes = 1000
	maxBytes = 32 << 20 // of all notes before and after the change, together
)

// editAll returns one change, made and undone as a whole, that replaces the text of each note with the result of edit.
// Missing notes are skipped. An error of edit is returned unchanged; other errors report that a note cannot be read, or
// that the change is too large. said precedes the number of notes in the message.
func editAll(
	v *call.Vault,
	notes []disk.Path,
	message string,
	edit func(at disk.Path, text []byte) ([]byte, error),
) (change.Proposal, error) {
	var proposal change.Proposal
	size := 0
	for _, path := range notes {
		if err := v.Ctx.Err(); err != nil {
			return proposal, err
		}
		before, err := v.Disk.Read(path)
		if disk.IsMissing(err) {
			continue
		}
		if err != nil {
			return proposal, answer.ReadError(path.String(), err)
		}
		after, err := edit(path, before)
		if err != nil {
			return proposal, err
		}
		s := change.Step{Path: path, Before: change.Existing(before), After: change.Existing(after)}
		if s.IsNoop() {
			continue
		}
		proposal.Steps = append(proposal.Steps, s)
		size += len(before) + len(after)
		if err := budget.From(v.Ctx).Hold(int64(len(before) + len(after))); err != nil {
			return proposal, err
		}
		switch {
		case len(proposal.Steps) > maxNotes:
			return proposal, answer.TooLong.Failure(
				"More than %d notes would be changed. Nothing was changed. Narrow it with folder=<path>, or a view with where=<expression>.",
				maxNotes,
			)
		case size > maxBytes:
			return proposal, answer.TooLong.Failure(
				"More than %d MiB of notes would be changed, with what becomes of them. Nothing was changed. Narrow it with folder=<path>, or a view with where=<expression>.",
				maxBytes>>20,
			)
		}
	}
	proposal.Outdated = outdatedBySteps(outdatedByFiles(v, proposal.Steps, func(at disk.Path, text []byte) bool {
		after, err := edit(at, text)
		return err != nil || !bytes.Equal(after, text)
	}))
	proposal.Message = message + " in " + answer.Count(len(proposal.Steps), "note")
	if len(proposal.Steps) > 0 {
		proposal.Note = proposal.Steps[0].Path
	}
	return proposal, nil
}
