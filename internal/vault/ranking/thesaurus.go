package ranking

import (
	_ "embed"
	"sort"
	"strings"
)

//go:generate go test -run TestTheThesaurusIsFresh -update .

// thesaurus has a line for each stem of a language, sorted: the name of the language, the stem, and words of about
// the same meaning, separated by blanks. It is searched in place, so that a process that never uses it pays nothing.
//
//go:embed thesaurus/compiled.txt
var thesaurus string

// similar returns near-synonyms of the words with a stem in a language, and whether the thesaurus has that stem.
func similar(language, stem string) (words []string, known bool) {
	if stem == "" {
		return nil, false
	}
	line, known := lineOf(thesaurus, language+" "+stem+" ")
	if !known {
		return nil, false
	}
	return strings.Fields(line), true
}

// lineOf finds, by binary search over sorted lines, the line that begins with key, and returns the rest of it.
func lineOf(text, key string) (rest string, known bool) {
	begin := func(at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }
	at := sort.Search(len(text), func(at int) bool { return text[begin(at):] >= key })
	if at == len(text) {
		return "", false
	}
	line, _, _ := strings.Cut(text[begin(at):], "\n")
	return strings.CutPrefix(line, key)
}
