package vault

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLinkPath(t *testing.T) {
	tests := []struct {
		text   string
		wanted []string
		rooted bool
	}{
		{"Note", []string{"Note.md"}, false},
		{"Note.md", []string{"Note.md", "Note.md.md"}, false},
		{"v1.2/Note", []string{"v1.2/Note.md"}, false},
		{"/Note", []string{"Note.md"}, true},
		{"./a/Note", []string{"a/Note.md"}, true},
		{"././Note", []string{"Note.md"}, true},
		{"../Note", []string{"../Note.md"}, false},
	}
	for _, test := range tests {
		wanted, rooted := linkPath(test.text)
		if !slices.Equal(wanted, test.wanted) || rooted != test.rooted {
			t.Errorf("linkPath(%q) = %q, %v", test.text, wanted, rooted)
		}
	}
}

func TestLengthCountsAsTheAppDoes(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "ü": 1, "日本": 2, "🎉": 2, "e\u0301": 2, "\xff": 1} {
		if got := length(text); got != want {
			t.Errorf("length(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestTheShortestPathInCharactersWins(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  string
	}{
		{"not the fewest folders", []string{"a very long folder/n.md", "a/b/c/n.md"}, "a/b/c/n.md"},
		{"not the fewest bytes", []string{"日本語/n.md", "abcd/n.md"}, "日本語/n.md"},
		{"emoji count twice", []string{"🎉🎉/n.md", "abc/n.md"}, "abc/n.md"},
		{"one length goes by the order of listings", []string{"b1/n.md", "B0/n.md", "a9/n.md"}, "a9/n.md"},
		{"nothing", []string{"x/m.md", "n.md.png", "an.md"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := bestMatch(test.files, "n.md", false)
			if got != test.want || ok != (test.want != "") {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}

func TestTheOrderOfTheFilesDoesNotMatter(t *testing.T) {
	file := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom([]string{"a/", "B/", "é/", ""}).Draw(t, "folder"), rapid.IntRange(0, 2).Draw(t, "depth")) +
			rapid.SampledFrom([]string{"n.md", "N.md", "m.md"}).Draw(t, "name")
	})
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfDistinct(file, rapid.ID[string]).Draw(t, "files")
		first, found := bestMatch(files, "N.md", false)
		slices.Reverse(files)
		second, again := bestMatch(files, "N.md", false)
		if first != second || found != again {
			t.Fatalf("%q or %q out of %q", first, second, files)
		}
	})
}
