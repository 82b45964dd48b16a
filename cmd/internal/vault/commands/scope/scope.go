// Package scope says which notes a change across the vault concerns, and collects the
// changes of all of them into one proposal.
//
// A note counts if the caller may see it, if it is in the folder of the call, if the
// query of the call finds it, and if the user has not excluded it. A note that may be
// seen but not changed is not left out: the whole proposal is refused, so that nobody
// takes a part for the whole.
package scope

import (
	"errors"
	"slices"
	"sync"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/query"
	"vaultwicket/cmd/internal/vault/session"
)

// folderOf returns the folder of a request, the vault's own without one. One that
// cannot be seen is an error: a slip in its name must not mean "no notes".
func folderOf(v *session.Vault, p grammar.Values) (disk.Path, error) {
	if !p.Has("folder") || p["folder"] == "/" {
		return disk.Path{}, nil
	}
	under, err := v.FolderOf(p["folder"])
	if err != nil {
		return under, answer.FolderNotFound(p["folder"])
	}
	if err = v.IsThere(under); disk.IsMissing(err) {
		err = answer.FolderNotFound(p["folder"])
	}
	return under, err
}

// Notes returns the notes that a request is about and that wanted takes, in the order
// of listings. wanted is called from several goroutines; texts says that it asks for
// the texts of notes.
func Notes(v *session.Vault, p grammar.Values, texts bool, wanted func(*knowledge.Note) bool) ([]disk.Path, error) {
	under, err := folderOf(v, p)
	if err != nil {
		return nil, err
	}
	found := func(*knowledge.Note) bool { return true }
	failed := func() error { return nil }
	if p.Has("query") {
		q, err := query.Parse(p["query"], query.Options{Budget: budget.From(v.Ctx)})
		if err != nil {
			return nil, BadQuery(err)
		}
		found, failed, texts = func(n *knowledge.Note) bool { return q.Match(n) }, q.Err, texts || q.NeedsText()
	}
	excluded, err := v.Excluded()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var names []string
	err = v.Host.Knowledge.EachNote(v.View(), knowledge.Scope{Folder: under, Excluded: excluded, Texts: texts}, func(n *knowledge.Note) {
		if v.Ctx.Err() != nil || !found(n) || !wanted(n) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		names = append(names, n.File)
	})
	switch {
	case err != nil:
		return nil, err
	case v.Ctx.Err() != nil:
		return nil, v.Ctx.Err()
	case failed() != nil:
		return nil, BadQuery(failed())
	}
	order.Sort(names)
	return paths(v, names)
}

// Indexed returns the notes that a request is about and of which the index says what
// wanted asks, in the order of listings.
func Indexed(v *session.Vault, p grammar.Values, wanted func(*index.File) bool) ([]disk.Path, error) {
	if p.Has("query") {
		x, err := v.Index()
		if err != nil {
			return nil, err
		}
		all, err := Notes(v, p, false, func(*knowledge.Note) bool { return true })
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

func paths(v *session.Vault, names []string) ([]disk.Path, error) {
	all := make([]disk.Path, 0, len(names))
	for _, name := range names {
		path, err := v.PathOf(name)
		if err != nil {
			return nil, answer.FileNotFound(name)
		}
		all = append(all, path)
	}
	return all, nil
}

// BadQuery says what is wrong with a query, and what would be right.
func BadQuery(err error) error {
	var advised interface {
		error
		Hint() string
	}
	if errors.As(err, &advised) && advised.Hint() != "" {
		return answer.Misuse("%v; %s", err, advised.Hint())
	}
	return answer.Misuse("%v", err)
}
