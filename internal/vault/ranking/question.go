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
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// term is a word of a question, with the words of the index that answer it.
type term struct {
	text    string // as the user wrote it
	group   int    // the number of what was written: its parts have the same one
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
	in     fields  // that it answers in alone, 0 for everywhere
}

// How words answer a term that are guessed, because the vault does not have its word.
const (
	typo              = "typo of"
	otherWord         = "other word for"
	compoundWithOther = "compound with another word for"
)

// isGuessed reports whether a term has answers, and none of them is its word in any form.
func (t *term) isGuessed() bool {
	return len(t.answers) > 0 && !slices.ContainsFunc(t.answers, func(a answer) bool {
		return a.how != typo && a.how != otherWord && a.how != compoundWithOther
	})
}

// The weights of words that are not the same. A word form means the same nearly always; a part
// of a compound often; a typing error is a guess.
const (
	formWeight     = 0.85
	spellingWeight = 0.9
	partWeight     = 0.6
	typoWeight     = 0.55
	farTypoWeight  = 0.45
	// similarWeight is that of another word for one that the vault does not have, besideWeight for one that it has, and
	// similarPartWeight that of a compound that begins with another word.
	similarWeight     = 0.6
	besideWeight      = 0.4
	similarPartWeight = 0.5
	beginWeight       = 0.6
)

// leastBeginning is how many letters a term has at least that is looked for as the beginning of words.
const leastBeginning = 2

// maxTerms bounds the words of a question that are looked up: no question needs more.
const maxTerms = 32

// maxAnswers bounds the words that answer one term, the most frequent forms first.
const maxAnswers = 24

// MaxPhrases bounds the phrases of a question: each is looked for in the texts of many files.
const MaxPhrases = 8

// parse returns the terms of a question and its first phrases, each a list of folded words. Stop
// words and fillers are left out where other words are left.
func parse(question string, spoken languageSet) (terms []*term, phrases [][]string) {
	seen := map[string]bool{}
	groups := 0
	pieces := strings.Split(question, `"`)
	for i, piece := range pieces {
		var phrase []string
		if i%2 == 0 {
			piece = withoutParticles(piece)
		}
		eachWritten(piece, nil, func(written string, _, _ int) {
			groups++
			words, whole := parts(written)
			phrase = append(phrase, words...)
			if whole != "" {
				words = append(words, whole)
			}
			for _, w := range words {
				isCommon := stopWords()[w]&(spoken|inEnglish) != 0 || fillerWords()[w]
				isSingle := len(w) == 1 && w[0] < 0x80
				if !seen[w] && len(terms) < maxTerms {
					seen[w] = true
					terms = append(
						terms,
						&term{
							text:  written,
							group: groups,
							word:  w,
							stop:  isCommon || isSingle,
						},
					)
				}
			}
		})
		isQuoted := i%2 == 1 && i+1 < len(pieces)
		if isQuoted && len(phrase) > 0 && len(phrases) < MaxPhrases {
			phrases = append(phrases, phrase)
		}
	}
	if content := slices.DeleteFunc(slices.Clone(terms), func(t *term) bool { return t.stop }); len(content) > 0 {
		terms = content
	}
	return terms, phrases
}

// functionWords counts the words of a question that are grammar, or with which people ask.
func functionWords(question string, spoken languageSet) (n int) {
	eachWritten(question, nil, func(written string, _, _ int) {
		words, _ := parts(written)
		for _, w := range words {
			if stopWords()[w]&(spoken|inEnglish) != 0 || fillerWords()[w] {
				n++
			}
		}
	})
	return n
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

// isNewTo reports whether a visible note has a word that a term does not have yet.
func (l *vocabulary) isNewTo(t *term, word string) bool { return !t.has(word) && l.frequency(word) > 0 }

// answerAll fills in what answers terms: the word and its forms, then beginnings of words of titles, and for words of which
// there is nothing other words for the same and typing errors. Words that only hidden files have answer nothing and are
// near nothing. The error is that of ctx.
func (l *vocabulary) answerAll(ctx context.Context, terms []*term) error {
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.addWord(t)
	}
	if len(terms) <= maxShort {
		l.addBeginnings(terms)
	}
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, _ := utf8.DecodeRuneInString(t.word)
		if !isIdeographic(first) {
			known := l.addSimilar(t)
			if len(t.answers) == 0 && !known {
				l.addTypos(t)
			}
		}
		l.weigh(t)
	}
	for i, t := range terms {
		isWhole := i+1 == len(terms) || terms[i+1].group != t.group
		isPrecise := strings.ContainsAny(t.word, connectors) && digitsOf(t.word) != ""
		if !isWhole || !isPrecise || len(t.answers) > 0 {
			continue
		}
		for _, part := range terms[:i] { // another day, version or number is something else
			if part.group == t.group {
				part.idf *= faintness
			}
		}
	}
	return nil
}

// addWord adds the word itself, its forms and the compounds that it is part of.
func (l *vocabulary) addWord(t *term) {
	ascii := t.word[0] < 0x80
	if l.frequency(t.word) > 0 {
		t.answers = append(t.answers, answer{word: t.word, weight: 1})
	}
	for _, pair := range []string{"ae", "oe", "ue"} { // an umlaut that is written with two letters
		if other := strings.ReplaceAll(t.word, pair, pair[:1]); other != t.word && l.frequency(other) > 0 {
			t.answers = append(t.answers, answer{word: other, weight: spellingWeight, how: "other spelling of"})
		}
	}
	if len(t.word) > 2 {
		l.addForms(t)
	}
	switch first, size := utf8.DecodeRuneInString(t.word); {
	case isIdeographic(first) && size == len(t.word):
		for _, s := range l.x.segments { // the bigrams of a single ideograph
			for _, w := range s.words {
				isBigram := len(w) <= 2*utf8.UTFMax && strings.Contains(w, t.word)
				if isBigram && l.isNewTo(t, w) {
					t.answers = append(t.answers, answer{word: w, weight: 1})
				}
			}
		}
	case isIdeographic(first) && len(t.answers) == 0:
		for _, r := range t.word { // notes that have one of the two alone have it as a word
			if word := string(r); l.frequency(word) > 0 && !unicode.Is(unicode.Hiragana, r) {
				t.answers = append(t.answers, answer{word: word, weight: partWeight, how: "part of"})
			}
		}
	case len(t.word) >= 5 && ascii:
		l.addParts(t)
	}
}

// weigh sorts the answers of a term, and counts the files that have one.
func (l *vocabulary) weigh(t *term) {
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
				if !has[p.place] && (a.in == 0 || a.in&p.in != 0) {
					has[p.place] = true
					t.files++
				}
			}
		}
	}
	t.idf = math.Log(1 + (float64(l.files)-float64(t.files)+0.5)/(float64(t.files)+0.5)) // as of BM25
	if faintWords()[t.word] {
		t.idf *= faintness
	}
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
			if err != nil || seen[word] || len(seen) == maxShared {
				continue
			}
			isShort := utf8.RuneCountInString(word) < leastShared && !isIdeographic(first)
			if isShort || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
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
					t.answers = append(t.answers, answer{word: s.words[i], weight: formWeight, how: "word form of"})
					break
				}
			}
		}
	}
}

// addSimilar adds the forms of words that mean about the same, and reports whether the thesaurus knows the word itself: then
// it is no typing error.
func (l *vocabulary) addSimilar(t *term) (known bool) {
	weight := similarWeight
	if len(t.answers) > 0 {
		weight = besideWeight
	}
	for i, stem := range stems(t.word, l.spoken) {
		words, listed := similar(languages[i].name, stem)
		isStem := strings.HasPrefix(t.word, stem) && len(t.word) <= len(stem)+1
		known = known || listed && isStem
		for _, other := range words {
			l.addFormsOf(t, other, i, weight)
		}
	}
	return known
}

// addFormsOf adds the forms of another word of a language, and in German its compounds.
func (l *vocabulary) addFormsOf(t *term, other string, language int, weight float64) {
	stem := stems(other, 1<<language)[language]
	begin := stem[:min(len(stem), max(3, len(stem)-1))] // y becomes i
	for _, s := range l.x.segments {
		from, _ := slices.BinarySearch(s.words, begin)
		for i := from; i < len(s.words) && strings.HasPrefix(s.words[i], begin); i++ {
			word := s.words[i]
			if t.has(word) || l.usage(word).languages&(1<<language) == 0 {
				continue
			}
			isLonger := len(other) >= 5 && len(word) >= len(other)+3
			switch {
			case stems(word, 1<<language)[language] == stem:
				t.answers = append(t.answers, answer{word: word, weight: weight, how: otherWord})
			case language == inGerman && isLonger && strings.HasPrefix(word, other):
				t.answers = append(t.answers, answer{
					word:   word,
					weight: min(weight, similarPartWeight),
					how:    compoundWithOther,
				})
			}
		}
	}
}

// addBeginnings adds words of titles that begin with the terms, where some of these are words of no file: of the titles that
// have all of those. Such a term may be inside a long word as well, as in German compounds.
func (l *vocabulary) addBeginnings(terms []*term) {
	unknown := slices.Clone(terms)
	unknown = slices.DeleteFunc(unknown, func(t *term) bool { return len(t.answers) > 0 })
	noBeginning := func(t *term) bool { return len(t.word) < leastBeginning || t.isFar() }
	if len(unknown) == 0 || slices.ContainsFunc(unknown, noBeginning) {
		return
	}
	l.eachTitle(unknown, func(words []string) {
		for _, t := range terms {
			word := t.begins(words)
			if word != "" && word != t.word && l.isNewTo(t, word) {
				t.answers = append(t.answers, answer{word: word, weight: beginWeight, how: "begins with", in: inTitle})
			}
		}
	})
}

// eachTitle calls visit with the words of each visible title in which each of some terms begins a word.
func (l *vocabulary) eachTitle(terms []*term, visit func(words []string)) {
	var words []string
	for i, s := range l.x.segments {
		for j := range s.files {
			if !l.visible[i][j] {
				continue
			}
			_, title := splitPath(s.files[j].path, s.files[j].kind)
			if !mayBegin(title, terms) {
				continue
			}
			words = words[:0]
			eachWritten(title, nil, func(written string, _, _ int) { words = append(words, forms(written)...) })
			if !slices.ContainsFunc(terms, func(t *term) bool { return t.begins(words) == "" }) {
				visit(words)
			}
		}
	}
}

// mayBegin reports whether a title may have words with some terms: most are told by their bytes.
func mayBegin(title string, terms []*term) bool {
	for i := range len(title) {
		if title[i] >= utf8.RuneSelf {
			title = fold(title)
			break
		}
	}
	return !slices.ContainsFunc(terms, func(t *term) bool { return !containsFold(title, t.word) })
}

// containsFold reports whether a text has a word of lower case in any case of the letters of ASCII.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

func (t *term) isFar() bool {
	first, _ := utf8.DecodeRuneInString(t.word)
	return isFar(first)
}

// begins returns the first of some words that the term begins, or that is long and has it inside; "" for none.
func (t *term) begins(words []string) string {
	for _, w := range words {
		if strings.HasPrefix(w, t.word) {
			return w
		}
	}
	for _, w := range words {
		if len(t.word) >= 4 && len(w) >= len(t.word)+4 && strings.Contains(w, t.word) {
			return w
		}
	}
	return ""
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
					t.answers = append(t.answers, answer{word: w, weight: partWeight, how: "compound with"})
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
			if tail := t.word[cut:]; found && len(head) >= 4 && l.addHalves(t, head, tail) {
				return
			}
		}
	}
}

// addHalves adds the two words that a compound is made of, if the vault or the thesaurus has both.
func (l *vocabulary) addHalves(t *term, head, tail string) bool {
	like := [][]string{l.similarGerman(head), l.similarGerman(tail)}
	there := []bool{l.frequency(head) > 0, l.frequency(tail) > 0}
	for i := range like {
		isUnknown := len(like[i]) == 0 && !there[i]
		if isUnknown {
			return false
		}
	}
	for i, half := range []string{tail, head} {
		if there[1-i] {
			t.answers = append(t.answers, answer{word: half, weight: partWeight, how: "part of"})
		}
	}
	for _, other := range like[0] { // what a compound is about is in its first half, more often than not
		l.addFormsOf(t, other, inGerman, similarPartWeight)
	}
	return true
}

// similarGerman returns words like a part of a compound, in a view that has German notes.
func (l *vocabulary) similarGerman(word string) []string {
	if l.spoken&(1<<inGerman) == 0 {
		return nil
	}
	words, _ := similar(languages[inGerman].name, stems(word, 1<<inGerman)[inGerman])
	return words
}

// addTypos adds the words that are one typing error away, two from five letters on, with the same first letter up to seven. Those
// that are nearest win; the others are only named where nothing is found.
func (l *vocabulary) addTypos(t *term) {
	length := utf8.RuneCountInString(t.word)
	if length < 3 {
		return
	}
	most := 1
	if length >= 5 {
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
			hasOtherLetters := bits.OnesCount32(s.letters[i]^mask) > 2*most
			if far > most+1 || far > most && hasOtherLetters {
				continue
			}
			if judged[w] || l.frequency(w) == 0 {
				continue
			}
			judged[w] = true
			if digitsOf(w) != digitsOf(t.word) {
				continue // another day, version or number is no typing error
			}
			if far > most || !isTypo(t.word, w, length, far) {
				if len(w) >= 4 && stopWords()[w] == 0 {
					t.near = append(t.near, w)
				}
				continue
			}
			weight := typoWeight
			if far > 1 {
				weight = farTypoWeight
			}
			found = append(found, answer{word: w, weight: weight, how: typo})
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

// isTypo reports whether a word of the index is likely to be what was meant by another one that is some errors away: the
// shorter that is, the more of it has to be the same.
func isTypo(word, meant string, length, errors int) bool {
	switch {
	case stopWords()[meant] != 0:
		return false
	case length == 3: // one letter was left out
		return word[0] == meant[0] && len(meant) > len(word)
	case length < 8 && errors > 1:
		return word[0] == meant[0] && len(meant) >= 5
	}
	return true
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
	Near func(ctx context.Context, question string, visible func(path string) bool, most int) ([]NearNote, error)
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
	// Guessed says that each of them is another word: the vault does not have this one, in no form.
	Guessed bool
	Near    []string // words of the vault that look like it, where none answers
	Files   int      // that have an answer
}
