package ranking

import (
	_ "embed"
	"sort"
	"strings"
)

//go:generate go test -run TestTheThesaurusIsFresh -update .

// thesaurus has a line for each stem of a language, sorted: the name of the language, the stem, and words with about
// the same meaning, separated by blanks. It is searched in place, so that a process that never uses it pays nothing.
//
//go:embed thesaurus/compiled.txt
var thesaurus string

// synonyms returns near-synonyms of the words with a stem in a language. known reports whether the thesaurus has the
// stem.
func synonyms(language, stem string) (words []string, known bool) {
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
	lineStart := func(offset int) int { return strings.LastIndexByte(text[:offset], '\n') + 1 }
	// The search is over byte offsets: each stands for the line that it is in.
	at := sort.Search(len(text), func(offset int) bool { return text[lineStart(offset):] >= key })
	if at == len(text) {
		return "", false
	}
	line, _, _ := strings.Cut(text[lineStart(at):], "\n")
	return strings.CutPrefix(line, key)
}
