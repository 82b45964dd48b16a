package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
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
	if i := slices.Index(n.shortNames(names), strings.ToUpper(name)); i >= 0 {
		return names[i], true, nil
	}
	return "", false, nil
}

// shortNames returns the short names of those that do not fit into eight
// characters and three, "" for the others.
func (n *naming) shortNames(names []string) []string {
	short, taken := make([]string, len(names)), map[string]int{}
	if !n.short {
		return short
	}
	for i, name := range names {
		dot := strings.LastIndexByte(name, '.')
		stem, ext := name, ""
		if dot >= 0 {
			stem, ext = name[:dot], name[dot+1:]
		}
		if dot != 0 && len(stem) <= 8 && len(ext) <= 3 && !strings.ContainsAny(stem, " .") {
			continue
		}
		if dot == 0 {
			stem, ext = ext, ""
		}
		stem, ext = plain(stem, 6), plain(ext, 3)
		taken[stem+"."+ext]++
		short[i] = strings.TrimSuffix(fmt.Sprintf("%s~%d.%s", stem, taken[stem+"."+ext], ext), ".")
	}
	return short
}

// plain returns the first letters and digits of a part of a name.
func plain(part string, most int) string {
	kept := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(part))
	return kept[:min(len(kept), most)]
}
