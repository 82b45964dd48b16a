// Package ignore says which notes of a vault a file of patterns hides, such as
// gitignore(5) describes. They are hidden on top of what the access rules hide, and
// nothing is shown that those hide.
//
// Two programs ask it. The embedded vault CLI passes over what is hidden, and the
// gateway does not name it.
package ignore

import (
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// File is the name of the file of patterns, in the root of a vault.
const File = ".vaultwicketignore"

// MaxBytes bounds that file. It is read at every call, and a line of 64 KiB would
// be more than its reader takes.
const MaxBytes = 60 << 10

// List is a file of patterns. What stands in a folder that they match is hidden
// too, whatever else they say (gitignore(5): "It is not possible to re-include a
// file if a parent directory of that file is excluded"). Any number of goroutines
// may use one.
type List struct {
	written, plain patterns // as they are written, and for any spelling of a name
	folders        sync.Map // path of a folder → bool
}

// New reads the text of a file of patterns. It returns nil, which hides nothing,
// if there are none in it.
func New(text string) *List {
	if len(strings.TrimSpace(text)) == 0 {
		return nil
	}
	return &List{written: newPatterns(text), plain: newPatterns(plainly(text))}
}

// Hides reports whether a file or folder is hidden, by its path from the root of the
// vault with slashes. The root itself, "", never is.
func (l *List) Hides(name string, folder bool) bool {
	if l == nil || name == "" {
		return false
	}
	if folder {
		return l.hidesFolder(name)
	}
	if parent := path.Dir(name); parent != "." && l.hidesFolder(parent) {
		return true
	}
	return l.match(name, false)
}

func (l *List) hidesFolder(name string) bool {
	if known, ok := l.folders.Load(name); ok {
		return known.(bool)
	}
	parent := path.Dir(name)
	hidden := parent != "." && l.hidesFolder(parent) || l.match(name, true)
	l.folders.Store(name, hidden)
	return hidden
}

// match asks for one name alone. On some systems another case or normal form is
// the same file, so a pattern hides every one.
func (l *List) match(name string, folder bool) bool {
	return l.written.match(name, folder) || l.plain.match(plainly(name), folder)
}

// plainly returns what the spellings of a name have in common that differ in the
// case of letters or the normal form alone.
func plainly(text string) string {
	if isPlain(text) {
		return text
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return unicode.ToLower(least)
	}, text))
}

func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || 'A' <= r && r <= 'Z' })
}
