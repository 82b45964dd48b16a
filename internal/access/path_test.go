package access

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestARefusedPathSaysWhy(t *testing.T) {
	long := strings.Repeat("a", 4097)
	for _, test := range []struct{ name, path, want string }{
		{"nothing", "", `path "" is empty; the whole vault is "/"`},
		{"more bytes than any path has", long, "path of 4097 bytes: at most 4096"},
		{"more bytes, with a slash at the end", long + "/", "path of 4097 bytes: at most 4096"},
		{"a slash in front", "/A", `path "/A" begins with a slash; paths are relative to the vault`},
		{"two slashes", "//", `path "//" begins with a slash; paths are relative to the vault`},
		{"a backslash", `A\B/`, `path "A\\B/" contains a backslash or NUL; paths are written with /`},
		{"a NUL", "A\x00", `path "A\x00" contains a backslash or NUL; paths are written with /`},
		{"a star", "A*", `path "A*" looks like a pattern; a rule names a folder or a note, and patterns go into .vaultwicketignore`},
		{"a question mark", "A?", `path "A?" looks like a pattern; a rule names a folder or a note, and patterns go into .vaultwicketignore`},
		{"a bracket", "[A", `path "[A" looks like a pattern; a rule names a folder or a note, and patterns go into .vaultwicketignore`},
		{"a bracket at the end", "A]", `path "A]" looks like a pattern; a rule names a folder or a note, and patterns go into .vaultwicketignore`},
		{"broken UTF-8", "\xff", `path "\xff" is not UTF-8`},
		{"a line break", "A\nB", `path "A\nB" contains a control character`},
		{"a delete", "A\x7f", `path "A\x7f" contains a control character`},
		{"an empty segment", "A//B", `path "A//B" has an empty segment`},
		{"two slashes at the end", "A//", `path "A//" has an empty segment`},
		{"the folder itself", "A/.", `path "A/." has the segment "."; paths have no relative segments`},
		{"its parent", "../A", `path "../A" has the segment ".."; paths have no relative segments`},
		{"a blank in front", " A", `path " A" has the segment " A" with a blank at its end`},
		{"a blank at the end of a segment", "A /B", `path "A /B" has the segment "A " with a blank at its end`},
	} {
		path, err := parsePath(test.path)
		require.That(t, err != nil, "%s: %q, %v, want %s", test.name, path, err, test.want)
		require.Equal(t, err.Error(), test.want, "%s", test.name)
		assert.Equal(t, path, "", "%s", test.name)
	}
}

func TestAPathThatIsTakenLosesOneSlash(t *testing.T) {
	longest := strings.Repeat("a", 4096)
	for written, want := range map[string]string{
		"/": "", "A": "A", "A/": "A", "A/B/": "A/B", ".A/..b/c.": ".A/..b/c.", "A B": "A B", "日本": "日本",
		"A~B{C}+^": "A~B{C}+^", longest: longest, longest + "/": longest,
	} {
		path, err := parsePath(written)
		assert.Equal(t, path, want, "%q becomes %q", written, path)
		assert.NoError(t, err, "%q becomes %q", written, path)
	}
}

// Spellings that some system takes for one file fold to one text, and others do
// not.
func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"private/a.md", "Private/A.md", "PRIVATE/A.MD", "\uff30rivate/a.md"},
		{"hidden", "Hidden", "\u210bidden", "HI\u2145DEN"},
		{"straße", "STRASSE", "Strasse", "STRA\u1e9eE", "\uff33TRASSE"},
		{"café", "CAFÉ", "cafe\u0301", "CAFE\u0301"},
		{"οδός", "ΟΔΌΣ", "Οδόσ", "ΟΔΟ\u0301Σ"},
		{"\u01f0", "J\u030c", "j\u030c"},
		{"kelvin", "\u212aelvin"},
		{"\u1fb3", "αι", "\u1fbc", "ΑΙ"},
	} {
		for _, spelling := range same {
			assert.That(t, Fold(spelling) == Fold(same[0]), "%+q folds to %+q, and %+q to %+q", spelling, Fold(spelling), same[0], Fold(same[0]))
		}
	}
	for _, other := range [][2]string{{"a", "b"}, {"Straße", "Strase"}, {"café", "cafe"}, {"@", "`"}, {"[", "{"}, {"Ä", "A"}, {"az", "a"}} {
		assert.That(t, Fold(other[0]) != Fold(other[1]), "%q and %q fold to %q", other[0], other[1], Fold(other[0]))
	}
}

// What is seen at a glance is right: a path that is plain is its own fold, also
// by the long way.
func TestPlainPaths(t *testing.T) {
	for path, want := range map[string]struct{ plain, ascii bool }{
		"":            {true, true},
		"a/b c-9.md":  {true, true},
		"`az{@[~\x7f": {true, true},
		"A":           {false, true},
		"aZ":          {false, true},
		"ä":           {false, false},
		"\u0080":      {false, false},
		"\x80":        {false, false},
	} {
		assert.Equal(t, isPlain(path), want.plain, "%q", path)
		assert.Equal(t, isASCII(path), want.ascii, "%q", path)
		assert.That(t, !want.plain || Fold(path) == path, "%q folds to %q", path, Fold(path))
		for _, r := range path {
			if want.plain && foldRune(r) != r {
				t.Errorf("%q folds to %q", r, foldRune(r))
			}
		}
	}
}
