package session

import (
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
)

// NamesOneFile reports whether a call is about one file.
func NamesOneFile(p grammar.Values) bool { return p.Has("file") || p.Has("path") || p.Has("active") }

// IndexedTarget finds the file that a request means in the index.
func (v *Vault) IndexedTarget(p grammar.Values) (x *index.Index, place int, err error) {
	t, err := v.Target(p)
	if err != nil {
		return nil, 0, err
	}
	if x, err = v.Index(); err != nil {
		return nil, 0, err
	}
	place, ok := x.Place(t.Path.String())
	if !ok {
		return nil, 0, answer.FileNotFound(t.Typed)
	}
	return x, place, nil
}

// ScopedFiles returns the files that a listing is about: the one that is named, the
// focused one with active, else all that are not excluded. Nobody changes the list.
func (v *Vault) ScopedFiles(p grammar.Values) ([]*index.File, error) {
	if NamesOneFile(p) {
		x, place, err := v.IndexedTarget(p)
		if err != nil {
			return nil, err
		}
		return x.Files[place : place+1], nil
	}
	x, err := v.Index()
	if err != nil {
		return nil, err
	}
	filters, err := v.filters()
	if err != nil || len(filters) == 0 {
		return x.Files, err
	}
	return included(filters).Of(&v.Host.Memo, x.Files), nil
}

// included is the list of the files that filters do not exclude. It is kept for the next
// call: to look at each path takes as long as a short listing.
func included(filters []string) *knowledge.Derived[[]*index.File] {
	return &knowledge.Derived[[]*index.File]{Name: "files without " + strings.Join(filters, "\n"), Compute: func(files []*index.File) []*index.File {
		excluded := excludes(filters)
		var some []*index.File
		for _, f := range files {
			if !excluded(f.Path.String()) {
				some = append(some, f)
			}
		}
		return some
	}}
}
