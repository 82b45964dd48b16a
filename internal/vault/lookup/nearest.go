package lookup

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
)

const (
	maxNearest = 3   // suggestions; a reader picks one
	maxWanted  = 256 // bytes; a longer text is not compared

	nameShare = 512 // how many names one goroutine compares at a time
)

// closeness is how much a name resembles the wanted one; less is closer.
type closeness int

const (
	same       closeness = iota // except for case, blanks and punctuation
	sameWords                   // in another order
	begins                      // the name begins with the wanted one
	isBegun                     // the wanted one begins with the name
	contains                    // one contains the other
	mistyped                    // plus the edit distance
	sharesWord closeness = 100
	unlike     closeness = 1000
)

// NearestNames returns up to three of the names that wanted was most likely meant to be
// (of headings, tags, properties), the best first. It suggests only from names: the caller
// passes those that may be shown.
func NearestNames(wanted string, names []string) []string {
	key := newWanted(withoutExt(wanted))
	return best(wanted, key, names, func() func(string) closeness {
		return func(name string) closeness { return key.compare(plain(name)) }
	})
}

// NearestPaths is [NearestNames] for paths, of which the last segment counts more than the
// folders. Link syntax around typed is ignored: [[Note#Heading|text]] is Note.
func NearestPaths(typed string, paths []string) []string {
	typed = strings.TrimSpace(typed)
	typed = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(typed, "!"), "[["), "]]")
	if i := strings.IndexAny(typed, "#|"); i > 0 {
		typed = typed[:i]
	}
	typed = strings.Trim(strings.ReplaceAll(strings.ReplaceAll(typed, "%20", " "), `\`, "/"), "/")
	key := newWanted(withoutExt(typed))
	base := newWanted(stem(typed))
	folder := plain(path.Dir("/" + typed))
	return best(typed, key, paths, func() func(string) closeness {
		last := ""
		plainLast := "" // the folder of the previous path: many share one
		return func(candidate string) closeness {
			dir := candidate[:max(0, strings.LastIndexByte(candidate, '/'))]
			if dir != last {
				last, plainLast = dir, plain(dir)
			}
			name := plain(stem(candidate))
			if isSame(key.text, plainLast, name) {
				return same
			}
			found := base.compare(name)
			if found >= unlike {
				return unlike
			}
			if folder != "" && plainLast != folder {
				return 2*found + 1 // of two that are as close, the one in the folder
			}
			return 2 * found
		}
	})
}

// best returns the closest names. closeTo returns a function for one goroutine.
func best(typed string, key wanted, names []string, closeTo func() func(string) closeness) []string {
	if key.text == "" || len(typed) > maxWanted {
		return nil
	}
	type match struct {
		name string
		at   closeness
	}
	found := filenames.NewFirst(maxNearest, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var mu sync.Mutex
	budget.InParallel(len(names), nameShare, func(start, end int) {
		closeness := closeTo()
		for _, name := range names[start:end] {
			if at := closeness(name); at < unlike {
				mu.Lock()
				found.Add(match{name, at})
				mu.Unlock()
			}
		}
	})
	var list []string
	for _, m := range found.Sorted() {
		list = append(list, m.name)
	}
	return list
}

// wanted is a name that others are compared to, prepared for the comparisons.
type wanted struct {
	text     string // plain
	inOrder  string // its words, sorted
	letters  []rune
	words    []string
	mistakes int // allowed edit distance
}

func newWanted(name string) wanted {
	text := plain(name)
	w := wanted{text: text, inOrder: sorted(text), letters: []rune(text), words: strings.Fields(text)}
	switch n := len(w.letters); {
	case n >= 5:
		w.mistakes = min(max(2, n/4), 6)
	case n >= 3:
		w.mistakes = 1
	}
	return w
}

// compare says how close a plain name is.
func (w wanted) compare(name string) closeness {
	switch {
	case name == "":
		return unlike
	case isSame(w.text, "", name):
		return same
	case len(w.text) == len(name) && w.inOrder == sorted(name):
		return sameWords
	case len(w.text) >= 3 && strings.HasPrefix(name, w.text):
		return begins
	case len(name) >= 3 && strings.HasPrefix(w.text, name):
		return isBegun
	case len(w.text) >= 4 && strings.Contains(name, w.text), len(name) >= 4 && strings.Contains(w.text, name):
		return contains
	}
	if d := utf8.RuneCountInString(name) - len(w.letters); d <= w.mistakes && -d <= w.mistakes {
		if n := excerpt.Mistakes(w.letters, []rune(name), w.mistakes); n <= w.mistakes {
			return mistyped + closeness(n)
		}
	}
	for other := range strings.FieldsSeq(name) {
		for _, word := range w.words { // a word of four letters or more, or its beginning, is in both
			isPart := strings.HasPrefix(other, word) || strings.HasPrefix(word, other)
			if isPart && len(word) >= 4 && len(other) >= 4 {
				return sharesWord
			}
		}
	}
	return unlike
}

// isSame reports whether text is folder followed by name, both plain, ignoring blanks.
func isSame(text, folder, name string) bool {
	for _, part := range []string{folder, name} {
		for _, c := range []byte(part) {
			if c == ' ' {
				continue
			}
			if text = strings.TrimPrefix(text, " "); text == "" || text[0] != c {
				return false
			}
			text = text[1:]
		}
	}
	return text == ""
}

func sorted(name string) string {
	words := strings.Fields(name)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// plain returns the form of a name that is compared: folded, its words separated by one
// blank, without punctuation.
func plain(name string) string {
	folded := Fold(name)
	words := make([]byte, 0, len(folded))
	ended := false
	for len(folded) > 0 {
		r, size := utf8.DecodeRuneInString(folded)
		isOfWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		counts := isOfWord || unicode.IsSymbol(r)
		if counts && ended && len(words) > 0 {
			words = append(words, ' ')
		}
		if counts {
			words = append(words, folded[:size]...)
		}
		ended = !counts
		folded = folded[size:]
	}
	return string(words)
}

// stem is the last segment of a path without its extension.
func stem(p string) string { return withoutExt(p[strings.LastIndexByte(p, '/')+1:]) }

// withoutExt cuts an extension off: a dot and up to eight letters or digits.
func withoutExt(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return name
	}
	ext := name[dot+1:]
	if ext == "" || len(ext) > 8 || strings.ContainsAny(ext, "/ ") {
		return name
	}
	return name[:dot]
}
