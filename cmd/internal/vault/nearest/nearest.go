// Package nearest finds, among names that are there, those that a name was most
// likely meant to be: of notes, folders, headings, tags, properties.
//
// It sees what it is given and nothing else: whoever calls it gives it the names
// that the caller may see.
package nearest

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/lookup"
)

// Most is how many names are suggested at most: whoever reads them picks one.
const Most = 3

// maxWanted is the longest name that is compared: a longer one is a text.
const maxWanted = 256

// closeness says how much a name resembles what was wanted; less is closer.
type closeness int

const (
	same       closeness = iota // but for case, blanks and punctuation
	sameWords                   // in another order
	begins                      // the name begins with what was wanted
	isBegun                     // what was wanted begins with the name
	contains                    // one is within the other
	mistyped                    // plus the number of mistakes
	sharesWord closeness = 100
	unlike     closeness = 1000
)

// Names returns the names that wanted was most likely meant to be, the best first
// and at most [Most].
func Names(wanted string, names []string) []string {
	return best(wanted, names, func(key string) func(string) closeness {
		return func(name string) closeness { return compare(key, plain(name)) }
	})
}

// Paths is [Names] for paths, of which the last segment counts before the folders.
// What is written around a path in a link is left out.
func Paths(wanted string, paths []string) []string {
	wanted = strings.Trim(bare(wanted), "/")
	return best(wanted, paths, func(key string) func(string) closeness {
		base, folder := plain(stem(wanted)), plain(path.Dir("/"+wanted))
		return func(candidate string) closeness {
			if whole := compare(key, plain(withoutExt(candidate))); whole == same {
				return same
			}
			found := compare(base, plain(stem(candidate)))
			if found >= unlike {
				return unlike
			}
			if folder != "" && plain(path.Dir("/"+candidate)) != folder {
				found = 2*found + 1 // of two that are as close, the one in the folder
				return found
			}
			return 2 * found
		}
	})
}

// best sorts the names that resemble wanted.
func best(wanted string, names []string, to func(key string) func(string) closeness) []string {
	key := plain(withoutExt(wanted))
	if key == "" || len(wanted) > maxWanted {
		return nil
	}
	type match struct {
		name string
		at   closeness
	}
	var found []match
	closeTo := to(key)
	for _, name := range names {
		if at := closeTo(name); at < unlike {
			found = append(found, match{name, at})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var list []string
	for _, m := range found[:min(len(found), Most)] {
		list = append(list, m.name)
	}
	return list
}

// compare says how much two plain names resemble each other.
func compare(wanted, name string) closeness {
	switch {
	case name == "":
		return unlike
	case wanted == name, strings.ReplaceAll(wanted, " ", "") == strings.ReplaceAll(name, " ", ""):
		return same
	case sorted(wanted) == sorted(name):
		return sameWords
	case len(wanted) >= 3 && strings.HasPrefix(name, wanted):
		return begins
	case len(name) >= 3 && strings.HasPrefix(wanted, name):
		return isBegun
	case len(wanted) >= 4 && strings.Contains(name, wanted), len(name) >= 4 && strings.Contains(wanted, name):
		return contains
	}
	if n := quote.Mistakes([]rune(wanted), []rune(name), allowed(wanted)); n <= allowed(wanted) {
		return mistyped + closeness(n)
	}
	if shareWord(wanted, name) {
		return sharesWord
	}
	return unlike
}

// allowed is how many mistakes a name may have and be recognized.
func allowed(name string) int {
	switch n := len([]rune(name)); {
	case n < 3:
		return 0
	case n < 5:
		return 1
	default:
		return min(max(2, n/4), 6)
	}
}

// shareWord reports whether two names have a word of four letters or more, or its
// beginning.
func shareWord(a, b string) bool {
	words := strings.Fields(b)
	return slices.ContainsFunc(strings.Fields(a), func(word string) bool {
		return len(word) >= 4 && slices.ContainsFunc(words, func(other string) bool {
			return strings.HasPrefix(other, word) || len(other) >= 4 && strings.HasPrefix(word, other)
		})
	})
}

func sorted(name string) string {
	words := strings.Fields(name)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// plain is a name as it is compared: folded, its words with one blank between them
// and nothing else.
func plain(name string) string {
	return strings.Join(strings.FieldsFunc(lookup.Fold(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !unicode.IsSymbol(r)
	}), " ")
}

// stem is the last segment of a path without its extension.
func stem(p string) string { return withoutExt(p[strings.LastIndexByte(p, '/')+1:]) }

// withoutExt cuts an extension off: a dot and up to eight letters or digits.
func withoutExt(name string) string {
	dot := strings.LastIndexByte(name, '.')
	ext := name[dot+1:]
	if dot <= 0 || ext == "" || len(ext) > 8 || strings.ContainsAny(ext, "/ ") {
		return name
	}
	return name[:dot]
}

// bare takes a path out of a link or an address: [[Note#Heading|text]].
func bare(wanted string) string {
	wanted = strings.TrimSpace(wanted)
	wanted = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(wanted, "!"), "[["), "]]")
	if i := strings.IndexAny(wanted, "#|"); i > 0 {
		wanted = wanted[:i]
	}
	return strings.ReplaceAll(strings.ReplaceAll(wanted, "%20", " "), `\`, "/")
}
