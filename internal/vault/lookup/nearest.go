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
	maxNearest = 3   // suggestions
	maxWanted  = 256 // bytes; longer texts are not compared

	namesPerShare = 512 // names that a goroutine compares at a time
)

// closeness is how similar a name is to the wanted name. Smaller values are closer.
type closeness int

const (
	same       closeness = iota // except for case, blanks and punctuation
	sameWords                   // the same words in another order
	longer                      // the name begins with the wanted name
	shorter                     // the wanted name begins with the name
	contains                    // one contains the other
	mistyped                    // the edit distance is added
	sharesWord closeness = 100
	unlike     closeness = 1000
)

// NearestNames returns up to three names, such as headings, tags or properties, that were most likely meant by
// wanted, the best first. Callers must pass only names that may be shown.
func NearestNames(wanted string, names []string) []string {
	key := newWanted(withoutExt(wanted))
	return best(wanted, key, names, func() func(string) closeness {
		return func(name string) closeness { return key.compare(plain(name)) }
	})
}

// NearestPaths is [NearestNames] for paths. The last segment counts more than the folders. Link syntax in typed is
// ignored: [[Note#Heading|text]] counts as Note.
func NearestPaths(typed string, paths []string) []string {
	typed = strings.TrimSpace(typed)
	typed = strings.TrimPrefix(typed, "!")
	typed = strings.TrimPrefix(typed, "[[")
	typed = strings.TrimSuffix(typed, "]]")
	if i := strings.IndexAny(typed, "#|"); i > 0 {
		typed = typed[:i]
	}
	typed = strings.ReplaceAll(typed, "%20", " ")
	typed = strings.ReplaceAll(typed, `\`, "/")
	typed = strings.Trim(typed, "/")
	key := newWanted(withoutExt(typed))
	base := newWanted(stem(typed))
	folder := plain(path.Dir("/" + typed))
	return best(typed, key, paths, func() func(string) closeness {
		lastFolder := "" // the folder of the previous path, because neighbours often share it
		plainFolder := ""
		return func(candidate string) closeness {
			dir := candidate[:max(0, strings.LastIndexByte(candidate, '/'))]
			if dir != lastFolder {
				lastFolder = dir
				plainFolder = plain(dir)
			}
			name := plain(stem(candidate))
			if isSame(key.text, plainFolder, name) {
				return same
			}
			c := base.compare(name)
			if c >= unlike {
				return unlike
			}
			if folder != "" && plainFolder != folder {
				return 2*c + 1 // of equally close names, those in the wanted folder come first
			}
			return 2 * c
		}
	})
}

// best returns the closest names, best first. closeTo returns a function that only one goroutine calls.
func best(typed string, key wanted, names []string, closeTo func() func(string) closeness) []string {
	if key.text == "" || len(typed) > maxWanted {
		return nil
	}
	type match struct {
		name      string
		closeness closeness
	}
	nearest := filenames.NewFirst(maxNearest, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.closeness, b.closeness), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var mu sync.Mutex
	budget.InParallel(len(names), namesPerShare, func(start, end int) {
		compare := closeTo()
		for _, name := range names[start:end] {
			if c := compare(name); c < unlike {
				mu.Lock()
				nearest.Add(match{name, c})
				mu.Unlock()
			}
		}
	})
	var list []string
	for _, m := range nearest.Sorted() {
		list = append(list, m.name)
	}
	return list
}

// wanted is a name that other names are compared with, prepared for the comparisons.
type wanted struct {
	text        string // plain
	sortedWords string // its words, sorted
	letters     []rune
	words       []string
	maxMistakes int // maximum edit distance
}

// newWanted prepares a name.
func newWanted(name string) wanted {
	text := plain(name)
	w := wanted{
		text:        text,
		sortedWords: sortWords(text),
		letters:     []rune(text),
		words:       strings.Fields(text),
	}
	switch n := len(w.letters); {
	case n >= 5:
		w.maxMistakes = min(max(2, n/4), 6)
	case n >= 3:
		w.maxMistakes = 1
	}
	return w
}

// compare returns how close a plain name is.
func (w wanted) compare(name string) closeness {
	switch {
	case name == "":
		return unlike
	case isSame(w.text, "", name):
		return same
	case len(w.text) == len(name) && w.sortedWords == sortWords(name):
		return sameWords
	case len(w.text) >= 3 && strings.HasPrefix(name, w.text):
		return longer
	case len(name) >= 3 && strings.HasPrefix(w.text, name):
		return shorter
	case len(w.text) >= 4 && strings.Contains(name, w.text), len(name) >= 4 && strings.Contains(w.text, name):
		return contains
	}
	moreLetters := utf8.RuneCountInString(name) - len(w.letters)
	if max(moreLetters, -moreLetters) <= w.maxMistakes {
		if n := excerpt.Mistakes(w.letters, []rune(name), w.maxMistakes); n <= w.maxMistakes {
			return mistyped + closeness(n)
		}
	}
	for other := range strings.FieldsSeq(name) {
		for _, word := range w.words { // both have a word of four bytes or more, or one has the beginning of it
			isPrefix := strings.HasPrefix(other, word) || strings.HasPrefix(word, other)
			if isPrefix && len(word) >= 4 && len(other) >= 4 {
				return sharesWord
			}
		}
	}
	return unlike
}

// isSame reports whether text is folder followed by name, ignoring blanks. All of them are plain.
func isSame(text, folder, name string) bool {
	for _, part := range []string{folder, name} {
		for _, c := range []byte(part) {
			if c == ' ' {
				continue
			}
			text = strings.TrimPrefix(text, " ")
			if text == "" || text[0] != c {
				return false
			}
			text = text[1:]
		}
	}
	return text == ""
}

// sortWords returns the words of a name, sorted and separated by blanks.
func sortWords(name string) string {
	words := strings.Fields(name)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// plain returns the form in which names are compared: folded, without punctuation, and with a blank between
// words.
func plain(name string) string {
	folded := Fold(name)
	words := make([]byte, 0, len(folded))
	isBetweenWords := false
	for len(folded) > 0 {
		r, size := utf8.DecodeRuneInString(folded)
		isWordRune := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		counts := isWordRune || unicode.IsSymbol(r)
		if counts && isBetweenWords && len(words) > 0 {
			words = append(words, ' ')
		}
		if counts {
			words = append(words, folded[:size]...)
		}
		isBetweenWords = !counts
		folded = folded[size:]
	}
	return string(words)
}

// stem returns the last segment of a path without its extension.
func stem(p string) string { return withoutExt(p[strings.LastIndexByte(p, '/')+1:]) }

// withoutExt removes an extension: a dot and up to eight bytes without blanks and slashes.
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
