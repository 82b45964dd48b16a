package ranking

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/embeddings"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// term is a word of a question, with the words of the index that answer it.
type term struct {
	text    string // as the user wrote it
	word    string // folded
	stop    bool
	files   int // that are visible and have an answer
	idf     float64
	answers []answer
	near    []string // words of the index that are near, where nothing answers
}

// answer is a word of the index that answers a term.
type answer struct {
	word   string
	weight float64 // 1 for the same word
	how    string  // "" for the same word, else such as "word form of"
}

// The weights of words that are not the same. A word form means the same nearly always; a part
// of a compound often; a typing error is a guess.
const (
	formWeight     = 0.85
	spellingWeight = 0.9
	partWeight     = 0.6
	typoWeight     = 0.55
	farTypoWeight  = 0.45
)

// maxTerms bounds the words of a question that are looked up: no question needs more.
const maxTerms = 32

// maxAnswers bounds the words that answer one term, the most frequent forms first.
const maxAnswers = 24

// MaxPhrases bounds the phrases of a question: each is looked for in the texts of many files.
const MaxPhrases = 8

// parse returns the terms of a question and its first phrases, each a list of folded words. Stop
// words and fillers are left out where other words are left.
func parse(question string) (terms []*term, phrases [][]string) {
	seen := map[string]bool{}
	pieces := strings.Split(question, `"`)
	for i, piece := range pieces {
		var phrase []string
		eachWritten(piece, nil, func(written string, _, _ int) {
			words, whole := parts(written)
			phrase = append(phrase, words...)
			if whole != "" {
				words = append(words, whole)
			}
			for _, w := range words {
				if !seen[w] && len(terms) < maxTerms {
					seen[w] = true
					terms = append(
						terms,
						&term{
							text: written,
							word: w,
							stop: stopWords()[w] != 0 || fillerWords()[w] || len(w) == 1 && w[0] < 0x80,
						},
					)
				}
			}
		})
		if closed := i%2 == 1 && i+1 < len(pieces); closed && len(phrase) > 0 && len(phrases) < MaxPhrases {
			phrases = append(phrases, phrase)
		}
	}
	if content := slices.DeleteFunc(slices.Clone(terms), func(t *term) bool { return t.stop }); len(content) > 0 {
		terms = content
	}
	return terms, phrases
}

// vocabulary has the words of a view.
type vocabulary struct {
	*View
	known map[string]usage
	lists []map[int][]posting // by segment and word: what was asked for
	err   error               // of reading them
}

// posting is a visible file that has a word.
type posting struct {
	place int32
	count uint8 // in the body, at most 127
	in    fields
}

func (w *View) vocabulary() *vocabulary {
	l := &vocabulary{View: w, known: map[string]usage{}, lists: make([]map[int][]posting, len(w.x.segments))}
	for i := range l.lists {
		l.lists[i] = map[int][]posting{}
	}
	return l
}

// postings returns the visible files of a segment that have a word, in their order.
func (l *vocabulary) postings(segment int, word string) []posting {
	s := l.x.segments[segment]
	seen := l.visible[segment]
	at, known := slices.BinarySearch(s.words, word)
	if !known {
		return nil
	}
	list, known := l.lists[segment][at]
	if known {
		return list
	}
	packed, err := s.list(at)
	if err != nil {
		l.err = err
	}
	list = make([]posting, 0, len(packed)/2) // that each takes at least
	s.each(packed, func(place, count int, in fields) {
		if seen[place] {
			list = append(list, posting{int32(place), uint8(count), in})
		}
	})
	l.lists[segment][at] = list
	return list
}

// usage is how many visible files have a word, and their languages.
type usage struct {
	files     int
	languages languageSet
}

func (l *vocabulary) usage(word string) usage {
	u, known := l.known[word]
	if known {
		return u
	}
	for i, s := range l.x.segments {
		list := l.postings(i, word)
		u.files += len(list)
		for _, p := range list {
			u.languages |= cmp.Or(s.files[p.place].language, l.spoken)
		}
	}
	l.known[word] = u
	return u
}

func (l *vocabulary) frequency(word string) int { return l.usage(word).files }

// answer fills in what answers a term. Words that only hidden files have answer nothing and are
// near nothing.
func (l *vocabulary) answer(t *term) {
	ascii := t.word[0] < 0x80
	if l.frequency(t.word) > 0 {
		t.answers = append(t.answers, answer{word: t.word, weight: 1})
	}
	for _, pair := range []string{"ae", "oe", "ue"} { // an umlaut that is written with two letters
		if other := strings.ReplaceAll(t.word, pair, pair[:1]); other != t.word && l.frequency(other) > 0 {
			t.answers = append(t.answers, answer{other, spellingWeight, "other spelling of"})
		}
	}
	if len(t.word) > 2 {
		l.addForms(t)
	}
	switch first, size := utf8.DecodeRuneInString(t.word); {
	case isIdeographic(first) && size == len(t.word):
		for _, s := range l.x.segments { // the bigrams of a single ideograph
			for _, w := range s.words {
				if len(w) <= 2*utf8.UTFMax && strings.Contains(w, t.word) && !t.has(w) && l.frequency(w) > 0 {
					t.answers = append(t.answers, answer{word: w, weight: 1})
				}
			}
		}
	case len(t.word) >= 5 && ascii:
		l.addParts(t)
	}
	if len(t.answers) == 0 && len(t.word) >= 4 {
		l.addTypos(t)
	}
	slices.SortStableFunc(t.answers, func(a, b answer) int {
		return cmp.Or(
			cmp.Compare(b.weight, a.weight),
			cmp.Compare(l.frequency(b.word), l.frequency(a.word)),
			cmp.Compare(a.word, b.word),
		)
	})
	t.answers = t.answers[:min(len(t.answers), maxAnswers)]
	for i, s := range l.x.segments {
		has := make([]bool, len(s.files))
		for _, a := range t.answers {
			for _, p := range l.postings(i, a.word) {
				if !has[p.place] {
					has[p.place] = true
					t.files++
				}
			}
		}
	}
	t.idf = math.Log(1 + (float64(l.files)-float64(t.files)+0.5)/(float64(t.files)+0.5)) // as of BM25
}

func (t *term) has(word string) bool {
	return slices.ContainsFunc(t.answers, func(a answer) bool { return a.word == word })
}

const (
	leastShared = 4    // letters of a word that several notes share: shorter ones are mostly grammar
	maxShared   = 4000 // words of a text
)

// EachShared calls visit with each of the first words of a text, of letters alone, as it writes them in lower case, and with
// the other visible notes that have the word in their bodies. path is the file of the text. The error is that of
// visit, or [ErrDamaged].
func (w *View) EachShared(text, path string, visit func(word string, notes []string) error) (err error) {
	l := w.vocabulary()
	seen := map[string]bool{}
	eachWritten(text, nil, func(written string, _, _ int) {
		words, _ := parts(written)
		for _, word := range words {
			first, _ := utf8.DecodeRuneInString(word)
			if err != nil || seen[word] || len(seen) == maxShared ||
				utf8.RuneCountInString(word) < leastShared && !isIdeographic(first) ||
				strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
				continue
			}
			seen[word] = true
			var notes []string
			for i, s := range w.x.segments {
				for _, p := range l.postings(i, word) {
					if f := &s.files[p.place]; p.count > 0 && f.kind == Note && f.path != path {
						notes = append(notes, f.path)
					}
				}
			}
			if len(words) == 1 {
				word = strings.ToLower(written)
			}
			err = cmp.Or(l.err, visit(word, notes))
		}
	})
	return err
}

// addForms adds the words with the same stem in a language in which both are written. All of
// them begin as the stem does, or nearly so.
func (l *vocabulary) addForms(t *term) {
	mine := stems(t.word, l.spoken)
	for _, s := range l.x.segments {
		from, _ := slices.BinarySearch(s.words, t.word[:min(3, len(t.word))])
		for i := from; i < len(s.words) && strings.HasPrefix(s.words[i], t.word[:min(3, len(t.word))]); i++ {
			if t.has(s.words[i]) || len(s.words[i]) > 2*len(t.word)+4 {
				continue
			}
			for j, stem := range stems(s.words[i], l.usage(s.words[i]).languages) {
				if stem != "" && stem == mine[j] {
					t.answers = append(t.answers, answer{s.words[i], formWeight, "word form of"})
					break
				}
			}
		}
	}
}

// addParts adds compounds that begin or end with the word, and, where the word is a compound
// itself, the two words that it is made of.
func (l *vocabulary) addParts(t *term) {
	const least = 3 // letters of the other part
	letters := lettersOf(t.word)
	for _, s := range l.x.segments {
		for i, w := range s.words {
			switch {
			case s.letters[i]&letters != letters || len(w) < len(t.word)+least:
			case strings.HasPrefix(w, t.word), strings.HasSuffix(w, t.word):
				if !t.has(w) && l.frequency(w) > 0 {
					t.answers = append(t.answers, answer{w, partWeight, "compound with"})
				}
			}
		}
	}
	if len(t.answers) > 0 || len(t.word) < 8 {
		return
	}
	for cut := len(t.word) - 4; cut >= 4; cut-- {
		for _, joint := range []string{"", "s", "n", "en", "es", "er"} {
			head, found := strings.CutSuffix(t.word[:cut], joint)
			if tail := t.word[cut:]; found && len(head) >= 4 && l.frequency(head) > 0 && l.frequency(tail) > 0 {
				t.answers = append(t.answers, answer{tail, partWeight, "part of"}, answer{head, partWeight, "part of"})
				return
			}
		}
	}
}

// addTypos adds the words that are one typing error away, two from eight letters on. Those
// that are nearest win; the others are only named where nothing is found.
func (l *vocabulary) addTypos(t *term) {
	most := 1
	if len([]rune(t.word)) >= 8 {
		most = 2
	}
	var found []answer
	judged := map[string]bool{} // a word can be in several segments
	mask := lettersOf(t.word)
	letters := []rune(t.word)
	for _, s := range l.x.segments {
		for i, w := range s.words {
			if more := len(w) - len(t.word); max(more, -more) > 2*most ||
				bits.OnesCount32(s.letters[i]^mask) > 2*most+2 {
				continue
			}
			far := excerpt.Mistakes(letters, []rune(w), most+1)
			if far > most+1 || far > most && bits.OnesCount32(s.letters[i]^mask) > 2*most || judged[w] ||
				l.frequency(w) == 0 {
				continue
			}
			judged[w] = true
			if digitsOf(w) != digitsOf(t.word) {
				continue // another day, version or number is no typing error
			}
			if far > most {
				if len(w) >= 4 && stopWords()[w] == 0 {
					t.near = append(t.near, w)
				}
				continue
			}
			weight := typoWeight
			if far > 1 {
				weight = farTypoWeight
			}
			found = append(found, answer{w, weight, "typo of"})
		}
	}
	best := 0.0
	for _, a := range found {
		best = max(best, a.weight)
	}
	for _, a := range found {
		if a.weight == best {
			t.answers = append(t.answers, a)
		} else {
			t.near = append(t.near, a.word)
		}
	}
	slices.Sort(t.near)
	t.near = slices.Compact(t.near)
	t.near = t.near[:min(len(t.near), 5)]
}

func digitsOf(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, word)
}

// Vault is where the files of an index are.
type Vault struct {
	// Wanted reports whether a file is in the part of the vault that is searched; nil is all.
	Wanted func(path string) bool
	// Read has the content of a note or a canvas used, of which no part is kept, unless there is none that can be
	// read. An error ends the question. It is called from several goroutines.
	Read func(path string, use func(Content)) error
	// Modified returns when a file was changed.
	Modified func(path string) time.Time
	// Daily is the path of the daily note of a day that the question names, "" for none.
	Daily string
	Now   time.Time // of the day: an answer is the same all day long
	// Near returns what is nearest in meaning to a question, best first, of the files that are visible; nil is nothing.
	// Its error is in the answer, which is made without.
	Near func(ctx context.Context, question string, visible func(path string) bool, most int) ([]embeddings.Near, error)
}

// Content is the text of a note.
type Content struct {
	Text     string
	Body     int                // where the sections begin, in bytes: after the properties
	Headings []markdown.Heading // in the order of the text
	Links    []Link
}

// Link is a link as it is written, without heading or block; Text is "" where it shows no text of its own.
type Link struct{ Text, Target string }

// Result is a file that answers a question.
type Result struct {
	Path    string
	Kind    Kind
	Heading string  // of the best section, "" for the part before the first heading
	Line    int     // of the best section or the best line in it, from 1; 0 without a text
	Score   float64 // a result that has all words of the question in one place has about 1 or more
	Why     []string
	Section string // the text of the best section, at most [MaxSection] bytes of it
	Marks   []Mark // the words that answer the question, in Section, in order
}

// Mark is a range of bytes.
type Mark struct{ Start, End int }

// Answer is what a question found.
type Answer struct {
	Results []Result // best first
	// Tried says of each word of the question what was looked for, for an answer without results.
	Tried []Tried
	// WithoutMeaning is why meaning counts in no rank, nil if it does or was not wanted.
	WithoutMeaning error
}

// Tried is a word of a question.
type Tried struct {
	Word  string
	Found []string // words of the vault that answer it
	// Changed says that none of them is the word itself.
	Changed bool
	Near    []string // words of the vault that look like it, where none answers
	Files   int      // that have an answer
}
