// Package handlers has the commands of the embedded CLI about notes, files, tasks,
// bases, properties, links and history. Each file is one command or a small family:
// its rows, which it registers, and its functions.
//
// What a command is called, what it can carry and how dangerous it is are declared by
// the row of the same name in package allowlist.
package handlers

import (
	"bytes"
	"errors"
	"fmt"
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

// table is filled by the init functions of the files, and only read afterwards.
var table = make([]Command, 0, 128)

func register(rows ...Command) { table = append(table, rows...) }

// All returns the rows of all commands of this package, in no particular order.
func All() []Command { return slices.Clone(table) }

// listing answers with a list, an item a line, with their number, or with none if there is none.
func listing(v *call.Vault, p call.Values, list []string, none answer.Reply) answer.Reply {
	switch {
	case p.Has("total"):
		return answer.Number(len(list))
	case len(list) == 0:
		return none
	}
	return answer.From(v.Disk, strings.Join(list, "\n"))
}

// tabled is [listing] for a table in a form.
func tabled(v *call.Vault, p call.Values, t answer.Table, form string, none answer.Reply) answer.Reply {
	if p.Has("total") || len(t.Rows) == 0 {
		return listing(v, p, make([]string, len(t.Rows)), none)
	}
	return t.Reply(v.Disk, form)
}

// limited returns an answer with some of the things that there are, and says so to the gateway. The
// app says nothing of what its limit leaves out.
func limited(said answer.Reply, shown, total int, thing string) answer.Reply {
	if shown >= total {
		return said
	}
	return noted(said, fmt.Sprintf("%d of %s are listed; a higher limit lists more", shown, answer.Count(total, thing)))
}

// noted adds a remark to an answer, unless it is "".
func noted(said answer.Reply, remark string) answer.Reply {
	said.Notice = strings.Trim(said.Notice+"; "+remark, "; ")
	return said
}

// folderOf returns the folder of a request, the vault's own without one. One that
// cannot be seen is an error: a slip in its name must not mean "no notes".
func folderOf(v *call.Vault, p call.Values) (disk.Path, error) {
	if !p.Has("folder") || p["folder"] == "/" {
		return disk.Path{}, nil
	}
	return v.FolderThere(p["folder"])
}

// notesFor returns the notes that a request is about, in the order of listings.
func notesFor(v *call.Vault, p call.Values) ([]disk.Path, error) {
	return wantedNotes(v, p, search.Scope{}, func(*search.Note) bool { return true })
}

// notesWith returns the notes that a request is about and with a text that wanted takes, in the order of listings.
// wanted is called from several goroutines.
func notesWith(v *call.Vault, p call.Values, wanted func(text []byte) bool) ([]disk.Path, error) {
	return wantedNotes(v, p, search.Scope{Texts: true}, func(n *search.Note) bool { return wanted(n.Text()) })
}

// wantedNotes returns the notes of a scope that a request is about and that wanted takes.
func wantedNotes(
	v *call.Vault, p call.Values, scope search.Scope, wanted func(*search.Note) bool,
) ([]disk.Path, error) {
	under, err := folderOf(v, p)
	if err != nil {
		return nil, err
	}
	found := func(*search.Note) bool { return true }
	failed := func() error { return nil }
	if p.Has("query") {
		q, err := search.ParseQuery(p["query"], search.QueryOptions{Budget: budget.From(v.Ctx)})
		if err != nil {
			return nil, invalidQuery(err)
		}
		found = func(n *search.Note) bool { return q.Match(n) }
		failed = q.Err
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
			if v.Ctx.Err() != nil || !found(n) || !wanted(n) {
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
	case failed() != nil:
		return nil, invalidQuery(failed())
	}
	filenames.Sort(names)
	all := make([]disk.Path, 0, len(names))
	for _, name := range names {
		path, err := v.PathOf(name)
		if err != nil {
			return nil, answer.NoSuchFile(name, err)
		}
		all = append(all, path)
	}
	return all, nil
}

// indexedNotes returns the notes that a request is about and of which the index says what
// wanted asks, in the order of listings.
func indexedNotes(v *call.Vault, p call.Values, wanted func(*index.File) bool) ([]disk.Path, error) {
	if p.Has("query") {
		x, err := v.Index()
		if err != nil {
			return nil, err
		}
		all, err := notesFor(v, p)
		return slices.DeleteFunc(all, func(path disk.Path) bool {
			place, ok := x.Place(path.String())
			return !ok || !wanted(x.Files[place])
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

// invalidQuery says what is wrong with a query, and what would be right.
func invalidQuery(err error) error {
	var advised interface {
		error
		Hint() string
	}
	if errors.As(err, &advised) && advised.Hint() != "" {
		return answer.Misuse("%v; %s", err, advised.Hint())
	}
	return answer.Misuse("%v", err)
}

// Limits of one change. No one looks through more than that before it is made,
// and all of it is in memory at once.
const (
	maxNotes = 1000
	maxBytes = 32 << 20 // of the notes as they are and as they become, together
)

// editAll returns what edit makes of notes as one change, which is made and undone as a whole. A
// note that is gone by now is left out. The error of edit is returned as it is; others say that a
// note cannot be read, or that the change is too large. said is what is printed once it is made,
// in front of the number of notes.
func editAll(
	v *call.Vault,
	notes []disk.Path,
	said string,
	edit func(at disk.Path, text []byte) ([]byte, error),
) (change.Proposal, error) {
	var all change.Proposal
	size := 0
	for _, path := range notes {
		if err := v.Ctx.Err(); err != nil {
			return all, err
		}
		before, err := v.Disk.Read(path)
		if disk.IsMissing(err) {
			continue
		}
		if err != nil {
			return all, answer.ReadError(path.String(), err)
		}
		after, err := edit(path, before)
		if err != nil {
			return all, err
		}
		s := change.Step{Path: path, Before: change.Existing(before), After: change.Existing(after)}
		if s.IsNoop() {
			continue
		}
		all.Steps = append(all.Steps, s)
		size += len(before) + len(after)
		if err := budget.From(v.Ctx).Hold(int64(len(before) + len(after))); err != nil {
			return all, err
		}
		switch {
		case len(all.Steps) > maxNotes:
			return all, answer.TooLong.Failure(
				"More than %d notes would be changed. Nothing was changed. Narrow it with folder=<path>, or a view with where=<expression>.",
				maxNotes,
			)
		case size > maxBytes:
			return all, answer.TooLong.Failure(
				"More than %d MiB of notes would be changed, with what becomes of them. Nothing was changed. Narrow it with folder=<path>, or a view with where=<expression>.",
				maxBytes>>20,
			)
		}
	}
	all.Outdated = outdatedBySteps(outdatedByFiles(v, all.Steps, func(at disk.Path, text []byte) bool {
		after, err := edit(at, text)
		return err != nil || !bytes.Equal(after, text)
	}))
	all.Message = said + " in " + answer.Count(len(all.Steps), "note")
	if len(all.Steps) > 0 {
		all.Note = all.Steps[0].Path
	}
	return all, nil
}
