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
	"sync"
	"unicode"
	"unicode/utf8"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/processors"
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
	key := newWanted(withoutExt(wanted))
	return best(wanted, key, names, func() func(string) closeness {
		return func(name string) closeness { return key.compare(plain(name)) }
	})
}

// Paths is [Names] for paths, of which the last segment counts before the folders.
// What is written around a path in a link is left out.
func Paths(typed string, paths []string) []string {
	typed = strings.Trim(bare(typed), "/")
	key, base, folder := newWanted(withoutExt(typed)), newWanted(stem(typed)), plain(path.Dir("/"+typed))
	return best(typed, key, paths, func() func(string) closeness {
		last, plainLast := "", "" // the folder of the path before: many lie in the same
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

// few is how many names are not worth a second processor.
const few = 512

type match struct {
	name string
	at   closeness
}

func (m match) compare(other match) int {
	return cmp.Or(cmp.Compare(m.at, other.at), cmp.Compare(len(m.name), len(other.name)), cmp.Compare(m.name, other.name))
}

// best returns the names that are closest. closeTo makes what says how close a name is, for
// one goroutine.
func best(typed string, key wanted, names []string, closeTo func() func(string) closeness) []string {
	if key.text == "" || len(typed) > maxWanted {
		return nil
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	found := order.NewFirst(Most, match.compare)
	for some := range slices.Chunk(names, max(few, len(names)/processors.Count()+1)) {
		all.Go(func() {
			closeness := closeTo()
			for _, name := range some {
				if at := closeness(name); at < unlike {
					mu.Lock()
					found.Add(match{name, at})
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	var list []string
	for _, m := range found.Sorted() {
		list = append(list, m.name)
	}
	return list
}

// wanted is a name to which others are compared, with what each comparison needs of it.
type wanted struct {
	text     string // plain
	inOrder  string // its words, sorted
	letters  []rune
	words    []string
	mistakes int // that are allowed
}

func newWanted(name string) wanted {
	text := plain(name)
	w := wanted{text: text, inOrder: sorted(text), letters: []rune(text), words: strings.Fields(text)}
	w.mistakes = allowed(len(w.letters))
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
	if n := w.mistakesIn(name); n <= w.mistakes {
		return mistyped + closeness(n)
	}
	if w.sharesWord(name) {
		return sharesWord
	}
	return unlike
}

// isSame reports whether a text is a plain folder and a plain name one behind the other, but
// for blanks.
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

// mistakesIn counts the mistakes that make a name of what was wanted, up to one more than are
// allowed.
func (w wanted) mistakesIn(name string) int {
	if n := utf8.RuneCountInString(name) - len(w.letters); n > w.mistakes || -n > w.mistakes {
		return w.mistakes + 1
	}
	return quote.Mistakes(w.letters, []rune(name), w.mistakes)
}

// allowed is how many mistakes a name may have and be recognized.
func allowed(n int) int {
	switch {
	case n < 3:
		return 0
	case n < 5:
		return 1
	default:
		return min(max(2, n/4), 6)
	}
}

// sharesWord reports whether two names have a word of four letters or more, or its
// beginning.
func (w wanted) sharesWord(name string) bool {
	for other := range strings.FieldsSeq(name) {
		for _, word := range w.words {
			if len(word) >= 4 && (strings.HasPrefix(other, word) || len(other) >= 4 && strings.HasPrefix(word, other)) {
				return true
			}
		}
	}
	return false
}

func sorted(name string) string {
	words := strings.Fields(name)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// plain is a name as it is compared: folded, its words with one blank between them
// and nothing else.
func plain(name string) string {
	folded := lookup.Fold(name)
	words := make([]byte, 0, len(folded))
	ended := false
	for len(folded) > 0 {
		r, size := utf8.DecodeRuneInString(folded)
		counts := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.IsSymbol(r)
		if counts && ended && len(words) > 0 {
			words = append(words, ' ')
		}
		if counts {
			words = append(words, folded[:size]...)
		}
		ended, folded = !counts, folded[size:]
	}
	return string(words)
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
