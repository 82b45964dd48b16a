package commands

import (
	"slices"
	"strings"
	"testing"
)

func TestEachWord(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"The cat sat; Sourdough-bread": "sourdough bread",
		"don't stop_now 123abcd456":    "stop abcd",
		"ÜBER naïve é éééé":            "über naïve éééé",
		"\xffword\xff\xfe wor\xffd":    "word",
		"日本語の文章":                       "日本語の文章",
		strings.Repeat("x", 41) + " " + strings.Repeat("Y", 40): strings.Repeat("y", 40),
		"cafe\u0301s": "cafe\u0301s",
	} {
		var got []string
		eachWord([]byte(text), func(word []byte) { got = append(got, string(word)) })
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
}

// A word of the note is found among the words of others, and no other word is.
func TestVocabulary(t *testing.T) {
	own := vocabularyOf([]byte("---\ntitle: hidden\n---\nquokka Sourdough [[linked words]] über quokka"))
	var got []string
	eachWord([]byte("sourdough QUOKKA title hidden linked words Über other ubers"), func(word []byte) {
		if id, known := own.id(word); known {
			got = append(got, own.words[id])
		}
	})
	if want := []string{"sourdough", "quokka", "über"}; !slices.Equal(got, want) || len(own.words) != 3 {
		t.Errorf("found %q of %q", got, own.words)
	}
}

func BenchmarkVocabulary(b *testing.B) {
	own := vocabularyOf([]byte("quokka sourdough weather garden taxes project reading measured words which"))
	text := []byte(strings.Repeat("Plain sentences about nothing in particular, written to fill a note with common words.\n", 1000))
	b.SetBytes(int64(len(text)))
	found := 0
	for b.Loop() {
		eachWord(text, func(word []byte) {
			if _, known := own.id(word); known {
				found++
			}
		})
	}
	if found == 0 {
		b.Error("no word was found")
	}
}
