package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// naming says which names of a folder are the same.
type naming struct {
	decompose bool // names are stored in the normal form D
	short     bool // long names have short ones
}

// stored returns the name under which a file of this name is made.
func (n *naming) stored(name string) string {
	if n.decompose {
		return norm.NFD.String(name)
	}
	return name
}

// fold returns what all spellings of a name have in common.
func fold(name string) string { return norm.NFD.String(cases.Fold().String(norm.NFD.String(name))) }

// find returns the name in the folder dir by which the file is stored that name
// leads to, and false if there is none.
func (n *naming) find(dir, name string) (stored string, ok bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil // the folder was removed
	}
	if err != nil {
		return "", false, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	if slices.Contains(names, name) {
		return name, true, nil
	}
	if i := slices.IndexFunc(names, func(other string) bool { return fold(other) == fold(name) }); i >= 0 {
		return names[i], true, nil
	}
	i := slices.IndexFunc(names, func(other string) bool { return n.short && testenv.ShortName(other) == strings.ToUpper(name) })
	if i >= 0 {
		return names[i], true, nil
	}
	return "", false, nil
}
