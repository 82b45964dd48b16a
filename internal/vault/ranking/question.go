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

// term is a word of a question, with the words of the index that match it.
type term struct {
	text    string // as the user wrote it
	group   int    // number of the written word, which may have several terms
	word    string // folded
	isStop  bool
	files   int // number of visible files with an answer
	idf     float64
	answers []answer
	near    []string // similar words of the index, if there are no answers
}

// answer is a word of the index that matches a term.
type answer struct {
	word   string
	weight float64 // 1 for the same word
	how    string  // how it is related to the term, such as "word form of"; "" for the same word
	in     fields  // the only fields in which it matches, 0 for everywhere
}

// The relations of guessed answers, to a term whose word is not in the vault.
const (
	typo              = "typo of"
	otherWord         = "other word for"
	compoundWithOther = "compound with another word for"
)

// isGuessed reports whether a term has answers, but none of them is a form of its word.
func (t *term) isGuessed() bool {
	return len(t.answers) > 0 && !slices.ContainsFunc(t.answers, func(a answer) bool {
		return a.how != typo && a.how != otherWord && a.how != compoundWithOther
	})
}

// The weights of answers that are not the word itself. A word form almost always means the same, a part of a
// compound often does, and a typing error is a guess.
const (
	formWeight     = 0.85
	spellingWeight = 0.9
	partWeight     = 0.6
	typoWeight     = 0.55
	farTypoWeight  = 0.45
	// The weights of synonyms: for a word that is not in the vault, for a word that is, and of compounds that begin
	// with a synonym.
	synonymWeight         = 0.6
	extraSynonymWeight    = 0.4
	synonymCompoundWeight = 0.5
	beginWeight           = 0.6
)

// minBeginning is the minimum length in bytes of a term that may match the beginning of a word.
const minBeginning = 2

// maxTerms is the maximum number of terms of a question.
const maxTerms = 32

// maxAnswers is the maximum number of answers to a term: those with the highest weight, then the most frequent.
const maxAnswers = 24

// MaxPhrases is the maximum number of phrases of a question, each of which is searched for in the texts of many files.
const MaxPhrases = 8

// parse returns the terms and the first phrases of a question. A phrase is a list of folded words. Stop words and
// fillers are left out, unless the question has no other words.
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
					terms = append(terms, &term{text: written, group: groups, word: w, isStop: isCommon || isSingle})
				}
			}
		})
		isQuoted := i%2 == 1 && i+1 < len(pieces)
		if isQuoted && len(phrase) > 0 && len(phrases) < MaxPhrases {
			phrases = append(phrases, phrase)
		}
	}
	content := slices.DeleteFunc(slices.Clone(terms), func(t *term) bool { return t.isStop })
	if len(content) > 0 {
		terms = content
	}
	return terms, phrases
}

// functionWords counts the stop words and fillers of a question.
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

// vocabulary looks up words of a view, and caches the results for one question.
type vocabulary struct {
	*View
	usages map[string]usage
	lists  []map[int][]posting // by segment and index of the word
	err    error               // from reading postings
}

// posting is a visible file that has a word.
type posting struct {
	place int32
	count uint8 // in the body, at most 127
	in    fields
}

// vocabulary returns a vocabulary without cached results.
func (w *View) vocabulary() *vocabulary {
	l := &vocabulary{View: w, usages: map[string]usage{}, lists: make([]map[int][]posting, len(w.x.segments))}
	for i := range l.lists {
		l.lists[i] = map[int][]posting{}
	}
	return l
}

// postings returns the visible files of a segment that have a word, in the order of their places.
func (l *vocabulary) postings(segment int, word string) []posting {
	s := l.x.segments[segment]
	isVisible := l.visible[segment]
	at, known := slices.BinarySearch(s.words, word)
	if !known {
		return nil
	}
	list, known := l.lists[segment][at]
	if known {
		return list
	}
	packed, err := s.postingsOf(at)
	if err != nil {
		l.err = err
	}
	list = make([]posting, 0, len(packed)/2) // a posting has at least two bytes
	s.eachPosting(packed, func(place, count int, in fields) {
		if isVisible[place] {
			list = append(list, posting{int32(place), uint8(count), in})
		}
	})
	l.lists[segment][at] = list
	return list
}

// usage is the number of visible files that have a word, and their languages.
type usage struct {
	files     int
	languages languageSet
}

// usage returns the usage of a word.
func (l *vocabulary) usage(word string) usage {
	u, known := l.usages[word]
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
	l.usages[word] = u
	return u
}

// frequency returns the number of visible files that have a word.
func (l *vocabulary) frequency(word string) int { return l.usage(word).files }

// isNewTo reports whether a visible file has the word and the term does not have it as an answer yet.
func (l *vocabulary) isNewTo(t *term, word string) bool { return !t.has(word) && l.frequency(word) > 0 }

// answerAll sets the answers of terms: the word and its forms, then words of titles that begin with a term, then
// synonyms and, for words without any other answer, words that may have been meant by a typing error. Words that only
// hidden files have are never answers or near words. The error is that of ctx.
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
			isKnown := l.addSynonyms(t)
			if len(t.answers) == 0 && !isKnown {
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
		for _, part := range terms[:i] { // a part of another date, version or number means little
			if part.group == t.group {
				part.idf *= faintness
			}
		}
	}
	return nil
}

// addWord adds the word itself, its other spellings and forms, and compounds with it.
func (l *vocabulary) addWord(t *term) {
	isASCII := t.word[0] < 0x80
	if l.frequency(t.word) > 0 {
		t.answers = append(t.answers, answer{word: t.word, weight: 1})
	}
	for _, pair := range []string{"ae", "oe", "ue"} { // umlauts written as two letters
		other := strings.ReplaceAll(t.word, pair, pair[:1])
		if other != t.word && l.frequency(other) > 0 {
			t.answers = append(t.answers, answer{word: other, weight: spellingWeight, how: "other spelling of"})
		}
	}
	if len(t.word) > 2 {
		l.addForms(t)
	}
	switch first, size := utf8.DecodeRuneInString(t.word); {
	case isIdeographic(first) && size == len(t.word):
		for _, s := range l.x.segments { // bigrams that contain the single ideograph
			for _, w := range s.words {
				isBigram := len(w) <= 2*utf8.UTFMax && strings.Contains(w, t.word)
				if isBigram && l.isNewTo(t, w) {
					t.answers = append(t.answers, answer{word: w, weight: 1})
				}
			}
		}
	case isIdeographic(first) && len(t.answers) == 0:
		for _, r := range t.word { // a character of the bigram that stands alone is a word of its own
			if word := string(r); l.frequency(word) > 0 && !unicode.Is(unicode.Hiragana, r) {
				t.answers = append(t.answers, answer{word: word, weight: partWeight, how: "part of"})
			}
		}
	case len(t.word) >= 5 && isASCII:
		l.addParts(t)
	}
}

// weigh sorts the answers of a term, best first, counts the files that have one, and sets the weight of the term.
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
	t.idf = math.Log(1 + (float64(l.files)-float64(t.files)+0.5)/(float64(t.files)+0.5)) // as in BM25
	if faintWords()[t.word] {
		t.idf *= faintness
	}
}

// has reports whether a word is among the answers.
func (t *term) has(word string) bool {
	return slices.ContainsFunc(t.answers, func(a answer) bool { return a.word == word })
}

const (
	minShared = 4    // letters of a shared word, because shorter words are mostly grammar
	maxShared = 4000 // words of a text
)

// EachShared calls visit with each of the first different words of a text, in lower case, and with the other visible
// notes that have the word in their bodies. Words with other characters than letters are skipped. path is the file of
// the text. The error is that of visit, or [ErrDamaged].
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
			isShort := utf8.RuneCountInString(word) < minShared && !isIdeographic(first)
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

// addForms adds the words with the same stem in a language of both words. They share the first letters with the term.
func (l *vocabulary) addForms(t *term) {
	termStems := stems(t.word, l.spoken)
	for _, s := range l.x.segments {
		from, _ := slices.BinarySearch(s.words, t.word[:min(3, len(t.word))])
		for i := from; i < len(s.words) && strings.HasPrefix(s.words[i], t.word[:min(3, len(t.word))]); i++ {
			if t.has(s.words[i]) || len(s.words[i]) > 2*len(t.word)+4 {
				continue
			}
			for j, stem := range stems(s.words[i], l.usage(s.words[i]).languages) {
				if stem != "" && stem == termStems[j] {
					t.answers = append(t.answers, answer{word: s.words[i], weight: formWeight, how: "word form of"})
					break
				}
			}
		}
	}
}

// addSynonyms adds the forms of synonyms, and reports whether the thesaurus has the word itself, which then is not a
// typing error.
func (l *vocabulary) addSynonyms(t *term) (known bool) {
	weight := synonymWeight
	if len(t.answers) > 0 {
		weight = extraSynonymWeight
	}
	for i, stem := range stems(t.word, l.spoken) {
		words, isListed := synonyms(languages[i].name, stem)
		isStem := strings.HasPrefix(t.word, stem) && len(t.word) <= len(stem)+1
		known = known || isListed && isStem
		for _, other := range words {
			l.addFormsOf(t, other, i, weight)
		}
	}
	return known
}

// addFormsOf adds the forms of a synonym in a language, and in German also compounds that begin with it.
func (l *vocabulary) addFormsOf(t *term, other string, language int, weight float64) {
	stem := stems(other, 1<<language)[language]
	begin := stem[:min(len(stem), max(3, len(stem)-1))] // a final y may become i
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
					weight: min(weight, synonymCompoundWeight),
					how:    compoundWithOther,
				})
			}
		}
	}
}

// addBeginnings adds words of titles that begin with a term, if some terms have no answers. It considers the titles
// that match all terms without answers. A term may also be inside a long word, as in German compounds.
func (l *vocabulary) addBeginnings(terms []*term) {
	unknown := slices.Clone(terms)
	unknown = slices.DeleteFunc(unknown, func(t *term) bool { return len(t.answers) > 0 })
	isUnfit := func(t *term) bool { return len(t.word) < minBeginning || t.isFar() }
	if len(unknown) == 0 || slices.ContainsFunc(unknown, isUnfit) {
		return
	}
	l.eachTitle(unknown, func(words []string) {
		for _, t := range terms {
			word := t.matchingWord(words)
			if word != "" && word != t.word && l.isNewTo(t, word) {
				t.answers = append(t.answers, answer{word: word, weight: beginWeight, how: "begins with", in: inTitle})
			}
		}
	})
}

// eachTitle calls visit with the words of each visible title in which all terms have a matching word.
func (l *vocabulary) eachTitle(terms []*term, visit func(words []string)) {
	var words []string
	for i, s := range l.x.segments {
		// The words of titles are among those of the segment, which are far fewer than its titles have together.
		if slices.ContainsFunc(terms, func(t *term) bool { return !s.mayHaveMatch(t) }) {
			continue
		}
		for j := range s.files {
			if !l.visible[i][j] {
				continue
			}
			_, title := splitPath(s.files[j].path, s.files[j].kind)
			if !mayMatch(title, terms) {
				continue
			}
			words = words[:0]
			eachWritten(title, nil, func(written string, _, _ int) { words = append(words, forms(written)...) })
			if !slices.ContainsFunc(terms, func(t *term) bool { return t.matchingWord(words) == "" }) {
				visit(words)
			}
		}
	}
}

// mayMatch reports whether a title may have words that match all terms. It rules out most titles by their bytes.
func mayMatch(title string, terms []*term) bool {
	for i := range len(title) {
		if title[i] >= utf8.RuneSelf {
			title = fold(title)
			break
		}
	}
	return !slices.ContainsFunc(terms, func(t *term) bool { return !containsFold(title, t.word) })
}

// containsFold reports whether a text contains a word, which is in lower case, ignoring the case of ASCII letters.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// isFar reports whether the term is in a script that does not fold to ASCII.
func (t *term) isFar() bool {
	first, _ := utf8.DecodeRuneInString(t.word)
	return isFar(first)
}

// matchingWord returns the first of some words that begins with the term, otherwise the first long word that contains
// it, or "".
func (t *term) matchingWord(words []string) string {
	for _, w := range words {
		if strings.HasPrefix(w, t.word) {
			return w
		}
	}
	for _, w := range words {
		if t.isInside(w) {
			return w
		}
	}
	return ""
}

// isInside reports whether a long word contains the term.
func (t *term) isInside(word string) bool {
	return len(t.word) >= 4 && len(word) >= len(t.word)+4 && strings.Contains(word, t.word)
}

// mayHaveMatch reports whether [term.matchingWord] finds a word of the segment.
func (s *segment) mayHaveMatch(t *term) bool {
	first, _ := slices.BinarySearch(s.words, t.word)
	if first < len(s.words) && strings.HasPrefix(s.words[first], t.word) {
		return true
	}
	letters := lettersOf(t.word)
	for i, w := range s.words {
		hasLetters := s.letters[i]&letters == letters
		if hasLetters && t.isInside(w) {
			return true
		}
	}
	return false
}

// addParts adds compounds that begin or end with the word. If there are no answers, it splits the word and adds the two
// words of which it may be composed.
func (l *vocabulary) addParts(t *term) {
	const minPart = 3 // bytes of the other part
	letters := lettersOf(t.word)
	for _, s := range l.x.segments {
		for i, w := range s.words {
			switch {
			case s.letters[i]&letters != letters || len(w) < len(t.word)+minPart:
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
			head, hasJoint := strings.CutSuffix(t.word[:cut], joint)
			if !hasJoint || len(head) < 4 {
				continue
			}
			if l.addHalves(t, head, t.word[cut:]) {
				return
			}
		}
	}
}

// addHalves adds the two words of a compound, if each of them is in the vault or the thesaurus, and reports whether
// it has.
func (l *vocabulary) addHalves(t *term, head, tail string) bool {
	similar := [][]string{l.germanSynonyms(head), l.germanSynonyms(tail)}
	isThere := []bool{l.frequency(head) > 0, l.frequency(tail) > 0}
	for i := range similar {
		isUnknown := len(similar[i]) == 0 && !isThere[i]
		if isUnknown {
			return false
		}
	}
	for i, half := range []string{tail, head} {
		if isThere[1-i] {
			t.answers = append(t.answers, answer{word: half, weight: partWeight, how: "part of"})
		}
	}
	for _, other := range similar[0] { // the first half usually says what a compound is about
		l.addFormsOf(t, other, inGerman, synonymCompoundWeight)
	}
	return true
}

// germanSynonyms returns synonyms of a part of a compound, if the view has German notes.
func (l *vocabulary) germanSynonyms(word string) []string {
	if l.spoken&(1<<inGerman) == 0 {
		return nil
	}
	words, _ := synonyms(languages[inGerman].name, stems(word, 1<<inGerman)[inGerman])
	return words
}

// addTypos adds the nearest words that are one typing error away, or two for terms of five letters and more. Shorter
// terms also need the same first letter, see isTypo. Other words that are almost as near are only added to near.
func (l *vocabulary) addTypos(t *term) {
	length := utf8.RuneCountInString(t.word)
	if length < 3 {
		return
	}
	var candidates []answer
	isJudged := map[string]bool{} // a word can be in several segments
	finder := newTypoFinder(t.word)
	for _, s := range l.x.segments {
		for i, w := range s.words {
			errors, isNear := finder.compare(w, s.letters[i])
			if !isNear || isJudged[w] || l.frequency(w) == 0 {
				continue
			}
			isJudged[w] = true
			if digitsOf(w) != digitsOf(t.word) {
				continue // another date, version or number is not a typing error
			}
			if errors > finder.maxErrors || !isTypo(t.word, w, length, errors) {
				if len(w) >= 4 && stopWords()[w] == 0 {
					t.near = append(t.near, w)
				}
				continue
			}
			weight := typoWeight
			if errors > 1 {
				weight = farTypoWeight
			}
			candidates = append(candidates, answer{word: w, weight: weight, how: typo})
		}
	}
	best := 0.0
	for _, a := range candidates {
		best = max(best, a.weight)
	}
	for _, a := range candidates {
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

// typoFinder compares words with the word of a term.
type typoFinder struct {
	word      string
	runes     []rune
	letters   uint32 // see segment
	maxErrors int
}

func newTypoFinder(word string) typoFinder {
	f := typoFinder{word: word, runes: []rune(word), letters: lettersOf(word), maxErrors: 1}
	if len(f.runes) >= 5 {
		f.maxErrors = 2
	}
	return f
}

// compare returns the number of errors between a word, which has a set of letters, and the word of the term. isNear
// reports whether there are not many more than maxErrors. Lengths and letters that differ too much rule out most words
// at little cost.
func (f *typoFinder) compare(word string, letters uint32) (errors int, isNear bool) {
	longer := len(word) - len(f.word)
	otherLetters := bits.OnesCount32(letters ^ f.letters)
	if max(longer, -longer) > 2*f.maxErrors || otherLetters > 2*f.maxErrors+2 {
		return 0, false
	}
	errors = excerpt.Mistakes(f.runes, []rune(word), f.maxErrors+1)
	if otherLetters > 2*f.maxErrors {
		return errors, errors <= f.maxErrors
	}
	return errors, errors <= f.maxErrors+1
}

// isTypo reports whether a word of the index was probably meant by a word with a number of errors. length is the
// number of letters of word: shorter words have to agree more closely.
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

// digitsOf returns the digits of a word.
func digitsOf(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, word)
}

// Vault gives access to the files of an index.
type Vault struct {
	// Wanted reports whether a file is to be searched. If it is nil, all files are.
	Wanted func(path string) bool
	// Read calls use with the content of a note or a canvas, unless it cannot be read. use keeps no part of the
	// content. An error ends the question. Read must be safe for concurrent use.
	Read func(path string, use func(Content)) error
	// Modified returns when a file was last changed.
	Modified func(path string) time.Time
	// Daily is the path of the daily note of a day that the question mentions, or "".
	Daily string
	Now   time.Time // rounded to the day, so that the answer is the same all day
	// Near, if it is not nil, returns up to most visible notes that are nearest in meaning to a question, best first.
	// The answer then does without them and reports the error.
	Near func(ctx context.Context, question string, visible func(path string) bool, most int) ([]NearNote, error)
}

// Content is the text of a note.
type Content struct {
	Text     string
	Body     int                // offset in bytes at which the sections begin, after the properties
	Headings []markdown.Heading // in the order of the text
	Links    []Link
}

// Link is a link as it is written, without heading or block. Text is "" if the link has no display text.
type Link struct{ Text, Target string }

// Result is a file that answers a question.
type Result struct {
	Path    string
	Kind    Kind
	Heading string  // of the best section, "" for the part before the first heading
	Line    int     // line of the best section, from 1; 0 if the file has no text
	Score   float64 // about 1 or more if all words of the question are in one place
	Why     []string
	Section string // text of the best section, up to [MaxSection] bytes
	Marks   []Mark // matching words in Section, in order
}

// Mark is the range of bytes from Start up to but not including End.
type Mark struct{ Start, End int }

// Answer is the answer to a question.
type Answer struct {
	Results []Result // best first
	// Tried reports for each word of the question what was searched for, to explain an answer without results.
	Tried []Tried
	// WithoutMeaning is the reason why meaning does not count, or nil if it does or was not wanted.
	WithoutMeaning error
}

// Tried is a word of a question, with what was searched for.
type Tried struct {
	Word  string
	Found []string // matching words of the vault
	// Changed reports that none of them is the word itself.
	Changed bool
	// Guessed reports that none of them is a form of the word, because the vault does not have it.
	Guessed bool
	Near    []string // words of the vault with a similar spelling, if none matches
	Files   int      // number of files with a matching word
}
