package lookup

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	files := New([]string{
		"Alpha.md", "Archive/2024/Plan.md", "Archive/Plan.md", "Ext.MD", "LICENSE", "Notes/Alpha.md", "Notes/Deep/Alpha.md",
		"Notes/image.png", "Notes/Plan.md", "Plan.v2.md", "Work/Alpha.md", "Work/Same/Zeta.md", "Work/Zoo/Zeta.md",
		"abc/Party.md", "abcd/Wide.md", "caf\u00e9.md", "x.md.md", "🎉🎉/Party.md", "日本語/Wide.md",
	})
	tests := []struct{ name, target, source, want string }{
		{"an empty path is the note itself", "", "Notes/Plan.md", "Notes/Plan.md"},
		{"an exact path beats a file beside the source", "Alpha", "Notes/Plan.md", "Alpha.md"},
		{"with its extension too", "Alpha.md", "Notes/Plan.md", "Alpha.md"},
		{"case is ignored", "aLPHA", "", "Alpha.md"},
		{"the source's own folder comes before a shorter path", "Plan", "Archive/2024/Other.md", "Archive/2024/Plan.md"},
		{"a parent folder has no such right", "Plan", "Archive/2024/Deep/Other.md", "Notes/Plan.md"},
		{"the shortest path in characters wins", "Plan", "", "Notes/Plan.md"},
		{"not in bytes", "Wide", "", "日本語/Wide.md"},
		{"as the app counts them", "Party", "", "abc/Party.md"},
		{"of one length the first in the order of listings", "Zeta", "", "Work/Zoo/Zeta.md"},
		{"folders in the link narrow it", "Deep/Alpha", "", "Notes/Deep/Alpha.md"},
		{"only whole folders count", "eep/Alpha", "", ""},
		{"an attachment needs its extension", "image.png", "", "Notes/image.png"},
		{"and is not found without", "image", "", ""},
		{"a dot in the name is no extension", "Plan.v2", "", "Plan.v2.md"},
		{"the extension's case is ignored", "Ext", "", "Ext.MD"},
		{"a file without an extension cannot be linked to", "LICENSE", "", ""},
		{"the text as it is comes before the name of a note", "x.md", "", "x.md.md"},
		{"relative to the source's folder only", "./Alpha", "Notes/Plan.md", "Notes/Alpha.md"},
		{"and not elsewhere", "./Zeta", "Notes/Plan.md", ""},
		{"one folder up", "../Alpha", "Notes/Deep/Alpha.md", "Notes/Alpha.md"},
		{"out of the vault is nowhere", "../../Alpha", "Notes/Plan.md", ""},
		{"from the vault's folder only", "/Alpha", "Notes/Plan.md", "Alpha.md"},
		{"and not elsewhere", "/Zeta", "Work/Same/Zeta.md", ""},
		{"letters spelled in two parts are the same letters", "cafe\u0301", "", "caf\u00e9.md"},
		{"nothing there", "Nothing", "", ""},
	}
	for _, tt := range tests {
		i, ok := files.Resolve(tt.target, tt.source)
		got := ""
		if ok {
			got = files.Path(i)
		}
		assert.Equal(t, got, tt.want, "%s: [[%s]] in %q leads to", tt.name, tt.target, tt.source)
	}
}

func TestPathsThatDifferInCaseAlone(t *testing.T) {
	files := New([]string{"Note.md", "NOTE.md"})
	for _, path := range []string{"Note.md", "NOTE.md"} {
		i, ok := files.Index(path)
		require.That(t, ok, "%s is at %d, %v", path, i, ok)
		assert.Equal(t, files.Path(i), path, "%s is at %d", path, i)
	}
	_, ok := files.Index("note.md")
	assert.That(t, !ok, "a path in another case is found")
}

// TestResolveAgreesWithAWalk compares the maps with a look at every file, in whatever order the files come.
func TestResolveAgreesWithAWalk(t *testing.T) {
	segment := rapid.SampledFrom([]string{"a", "A", "b", "bb", "c.x", "é", "E\u0301"})
	rapid.Check(t, func(t *rapid.T) {
		var paths []string
		for range rapid.IntRange(1, 12).Draw(t, "files") {
			parts := rapid.SliceOfN(segment, 1, 3).Draw(t, "path")
			paths = append(paths, strings.Join(parts, "/")+".md")
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		filenames.Sort(paths) // of several that are equally good the first one counts
		target := rapid.SampledFrom([]string{"", "/"}).Draw(t, "slash") + strings.Join(rapid.SliceOfN(segment, 1, 2).Draw(t, "target"), "/")
		source := rapid.SampledFrom(paths).Draw(t, "source")
		want := walkFor(paths, target, source)
		for range 2 {
			files := New(slices.Clone(paths))
			i, ok := files.Resolve(target, source)
			if ok != (want != "") || ok && files.Path(i) != want {
				t.Fatalf("[[%s]] in %s of %q leads to %d (%v), want %q", target, source, paths, i, ok, want)
			}
			slices.Reverse(paths)
		}
	})
}

// walkFor is the rules once more, in the plainest way.
func walkFor(paths []string, target, source string) string {
	target, fixed := strings.CutPrefix(target, "/")
	names := []string{target + ".md"}
	if strings.Contains(target[strings.LastIndex(target, "/")+1:], ".") {
		names = []string{target, target + ".md"}
	}
	for _, name := range names {
		best, rank := "", 0
		for _, p := range paths {
			low, want := Fold(p), Fold(name)
			r := 0
			switch {
			case low == want:
				r = 3
			case fixed:
			case strings.HasSuffix(low, "/"+want) && low == Fold(parent(source))+"/"+want:
				r = 2
			case strings.HasSuffix(low, "/"+want):
				r = 1
			}
			if r > rank || r == rank && r > 0 && units(p) < units(best) {
				best, rank = p, r
			}
		}
		if best != "" {
			return best
		}
	}
	return ""
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"ABC": "abc", "É": "é", "e\u0301": "é", "ẞ": "ß", "日本": "日本"} {
		assert.Equal(t, Fold(in), want, "%q folds to", in)
	}
}

func TestAppendFoldedAgreesWithFold(t *testing.T) {
	text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("aAéEÉйЙȺ漢\u0301\u0323İßẞΣς한ᄒ각K/."))))
	rapid.Check(t, func(t *rapid.T) {
		name := text.Draw(t, "name") + rapid.SampledFrom([]string{"", "\xff", "\xe2\x82"}).Draw(t, "end")
		key := appendFolded([]byte("before"), name)
		require.Equal(t, string(key), "before"+Fold(name), "%q is folded to %q, want %q", name, key, Fold(name))
		other := text.Draw(t, "other")
		require.That(t, foldsTo(other, key[len("before"):]) == (Fold(other) == Fold(name)), "whether %q is %q", other, name)
		require.That(t, endsWith(other, key[len("before"):]) == (Fold(other) == Fold(name) ||
			strings.HasSuffix(Fold(other), "/"+Fold(name))), "whether %q ends in %q", other, name)
		require.That(t, foldsTo(name, key[len("before"):]), "%q does not fold to %q", name, key)
		require.That(t, endsWith(name, key[len("before"):]), "%q does not fold to %q", name, key)
	})
}

// A text of these characters is in normal form C if each is and none joins the one before.
func TestComposedCharactersStayAsTheyAre(t *testing.T) {
	for r := range rune(unicode.MaxRune) {
		if !isComposed(r) {
			continue
		}
		p := norm.NFC.PropertiesString(string(r))
		assert.That(t, norm.NFC.IsNormalString(string(r)), "%U changes or joins another", r)
		assert.That(t, p.BoundaryBefore(), "%U changes or joins another", r)
		assert.Equal(t, p.CCC(), 0, "%U changes or joins another", r)
	}
}

func TestUnitsCountAsTheAppDoes(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "ü": 1, "日本": 2, "🎉": 2, "e\u0301": 2, "\xff": 1} {
		assert.Equal(t, units(text), want, "units(%q) =", text)
	}
}

// Keys are saved, and compared by other processes.
func TestAKeyIsTheSameInEveryProcess(t *testing.T) {
	got, want := Keys("a/Plan.md"), [2]Key{0xb7cbc712, 0xb7cbc712}
	require.Equal(t, got, want)
	assert.Equal(t, KeyOf("../PLAN", "b/c.md"), want[0])
}

var (
	folders = rapid.SampledFrom([]string{"", "", "a/", "A/", "a/b/", "é/", "E\u0301/x/", "n/"})
	names   = rapid.SampledFrom([]string{"n.md", "N.MD", "n", "n.md.md", "m.md", "n.png", "v1.2.md", "v1.2", "é.md", "É.md"})
	file    = rapid.Custom(func(t *rapid.T) string { return folders.Draw(t, "folder") + names.Draw(t, "name") })
	target  = rapid.Custom(func(t *rapid.T) string {
		before := rapid.SampledFrom([]string{"", "", "/", "./", "../", "a/", "b/"}).Draw(t, "before")
		return before + rapid.SampledFrom([]string{"", "n", "N", "n.md", "n.MD", "n.md.md", "m", "n.png", "v1.2",
			"e\u0301", "nothing", "a/..", ".", ".md"}).Draw(t, "target")
	})
)

func draw(t *rapid.T, label string) []string {
	paths := rapid.SliceOfNDistinct(file, 0, 14, rapid.ID[string]).Draw(t, label)
	filenames.Sort(paths)
	return paths
}

// A link that leads elsewhere after a change led to a file that is gone or to a rival of a
// new one, or it led nowhere and has a key of a new one.
func TestKeysAndRivalsTellWhichLinksAChangeConcerns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := draw(t, "before")
		after := draw(t, "after")
		source := rapid.SampledFrom([]string{"s.md", "a/s.md", "A/s.md", "a/b/s.md", "é/s.md"}).Draw(t, "source")
		link := target.Filter(func(link string) bool { return link != "" }).Draw(t, "link")
		then, now := New(before), New(after)
		led, leads := "", ""
		i, ok := then.Resolve(link, source)
		if ok {
			led = before[i]
		}
		if i, ok := now.Resolve(link, source); ok {
			leads = after[i]
		}
		if led == leads || ok && !slices.Contains(after, led) {
			return
		}
		for _, path := range after {
			if slices.Contains(before, path) {
				continue
			}
			keys := Keys(path)
			if ok && slices.Contains(then.Rivals(path), int32(i)) || !ok && slices.Contains(keys[:], KeyOf(link, source)) {
				return
			}
		}
		t.Fatalf("[[%s]] in %s leads to %q instead of %q: nothing tells from %q and %q", link, source, leads, led, before, after)
	})
}
