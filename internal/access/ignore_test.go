package access

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// patternTable says what a file of patterns hides: names that end with a slash
// are folders.
var patternTable = []struct{ name, patterns, hidden, seen string }{
	{"a name anywhere", "secret.md", "secret.md a/secret.md a/b/secret.md", "secret.md.md asecret.md a/"},
	{"a folder anywhere with all in it", "secret/", "secret/ secret/x.md a/secret/ a/secret/b/x.md", "a/secretx.md"},
	{"a folder by its name does not mean a file", "secret.md/", "", "secret.md a/secret.md"},
	{"from the root", "/secret.md", "secret.md", "a/secret.md"},
	{"a path counts from the root", "a/b", "a/b/ a/b/x.md", "b/ b/x.md c/a/b/x.md a/x.md"},
	{"an extension", "*.draft.md", "x.draft.md a/y.draft.md", "draft.md x.md"},
	{"one character", "?.md", "a.md a/b.md", "ab.md"},
	{"a star stays in its segment", "/a/*.md", "a/x.md", "a/b/x.md x.md"},
	{"two stars at the start", "**/b", "b/ b/x.md a/b/ a/b/x.md", "a/ a/bb.md"},
	{"two stars between", "a/**/x.md", "a/x.md a/b/x.md a/b/c/x.md", "x.md b/x.md"},
	{"two stars at the end mean what lies within", "a/**", "a/x.md a/b/ a/b/x.md", "a/"},
	{"three stars are two", "***/b/***", "b/x.md a/b/x.md", "b/ a/b/"},
	{"an escaped slash is one", `a\/**`, "a/x.md", "a/"},
	{"a set", "[ab].md", "a.md b.md", "c.md"},
	{"a set of others", "[!ab].md", "c.md", "a.md"},
	{"a class", "[[:digit:]]*.md", "1.md 2x.md", "a.md"},
	{"a range", "[a-c]*.md", "b.md cc.md", "d.md"},
	{"comments and empty lines", "# secret.md\n\n   \nx.md", "x.md", "secret.md"},
	{"an escaped number sign", `\#x.md`, "#x.md", "x.md"},
	{"an escaped exclamation mark", `\!x.md`, "!x.md", "x.md"},
	{"blanks at the end", "x.md  ", "x.md", "x.md2"},
	{"an escaped blank at the end", `x\ `, "x\u00a0", "x"}, // \u00a0 stands for a blank in this table
	{"line breaks of Windows", "x.md\r\nsecret/\r\n", "x.md secret/a.md", "y.md"},
	{"a byte order mark", "\ufeffx.md\nsecret/", "x.md secret/a.md", "y.md"},
	{"taken back", "*.md\n!keep.md", "x.md a/y.md", "keep.md a/keep.md"},
	{"taken back and said again", "*.md\n!keep.md\n/keep.md", "keep.md", "a/keep.md"},
	{"not from a folder that is hidden", "secret/\n!secret/keep.md", "secret/ secret/keep.md", ""},
	{"but where only what lies in it is", "secret/*\n!secret/keep.md", "secret/x.md", "secret/ secret/keep.md"},
	{"a folder that is taken back does not take back what lies in it", "*.md\n!keep/\n!other", "keep/x.md other/x.md keep/a/x.md", "keep/ other/ keep/x.txt"},
	{"all but one folder", "/*\n!/open/", "x.md a/ a/x.md", "open/ open/x.md open/a/x.md"},
	{"all but what lies within is all", "*\n!open/**", "open/ open/x.md", ""},
	{"a pattern that ends with a backslash", "x\\\ny.md", "y.md", "x"},
	{"a slash alone", "/\ny.md", "y.md", "x.md a/x.md"},
	{"no line break at the end", "x.md", "x.md", ""},
}

func TestPatternsHideWhatGitIgnores(t *testing.T) {
	git := newGit(t)
	for _, test := range patternTable {
		t.Run(test.name, func(t *testing.T) {
			hidden, seen := tableNames(test.hidden), tableNames(test.seen)
			m := ParseIgnored(test.patterns)
			for _, name := range slices.Concat(hidden, seen) {
				plain, folder := strings.CutSuffix(name, "/")
				got, want := m.Hides(plain, Kind(folder)), slices.Contains(hidden, name)
				assert.Equal(t, got, want, "%q is hidden", name)
			}
			if git == nil {
				return
			}
			got := git.ignored(t, test.patterns, slices.Concat(hidden, seen))
			assert.That(t, slices.Equal(got, hidden), "git ignores %q, and the table says %q", got, hidden)
		})
	}
}

func tableNames(list string) (names []string) {
	for _, name := range strings.Fields(strings.ReplaceAll(list, "\u00a0", "\x01")) {
		names = append(names, strings.ReplaceAll(name, "\x01", " "))
	}
	return names
}

// git is a repository in which git is asked what it ignores.
type git struct{ program, dir string }

// newGit returns nil where git is not installed.
func newGit(t *testing.T) *git {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		return nil
	}
	g := &git{program, t.TempDir()}
	out, err := g.run(nil, "init", "-q")
	require.That(t, err == nil, "git init: %v, %s", err, out)
	return g
}

func (g *git) run(stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.Command(g.program, args...)
	cmd.Dir, cmd.Stdin = g.dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+g.dir, "GIT_DIR="+filepath.Join(g.dir, ".git"))
	return cmd.Output()
}

// ignored returns the names that git ignores, in their order. All of them are
// made.
func (g *git) ignored(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, patterns string, names []string) []string {
	entries, err := os.ReadDir(g.dir)
	for _, e := range entries {
		if e.Name() != ".git" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(g.dir, e.Name())))
		}
	}
	for _, name := range names {
		full := filepath.Join(g.dir, name)
		if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(full, 0o755))
			continue
		}
		err = errors.Join(err, os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, nil, 0o644))
	}
	require.NoError(t, errors.Join(err, os.WriteFile(filepath.Join(g.dir, ".gitignore"), []byte(patterns), 0o644)))
	var stdin bytes.Buffer
	for _, name := range names {
		stdin.WriteString(strings.TrimSuffix(name, "/") + "\x00")
	}
	out, err := g.run(stdin.Bytes(), "check-ignore", "--no-index", "-z", "--stdin")
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() != 1) {
		t.Fatal(err)
	}
	said := strings.Split(string(out), "\x00")
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(said, strings.TrimSuffix(name, "/")) })
}

// gitNames are the names in the repository of the next test.
var gitNames = []string{
	"a/", "a/a/", "a/b/", "a/b/a", "a/a/b.md", "a/b.md", "b.md", "b/", "b/a/", "b/a/b", "b/b.md", "c", "a/c",
	"b/a/c.md", "#a", "!a", "a b", "a ", "[a", "[a]", "x/a/b/", "x/a/b/c", "x/b.md", "x/#a", "**",
}

// What git ignores is hidden, and nothing else is. The names differ in more than
// case, so that nothing is hidden for another spelling. Three things are left out
// that no file contains but by mistake: a set or an escape with a slash in it, which git
// takes for one; a range that runs backwards, of which git takes the first letter; and two
// stars next to something else, which gitignore(5) says are one and git at times
// takes for folders.
func TestPatternsAreThoseOfGit(t *testing.T) {
	git := newGit(t)
	if git == nil {
		t.Skip("git is not installed")
	}
	word := rapid.SampledFrom([]string{"a", "b", "c", "x", "*", "**", "?", "*.md", "b.*", "/", "/", "/", "[ab]", "[!a]",
		"[^b]", "[a-b]", "[[:alpha:]]", "]", `\`, `\a`, " ", "#", "!", "b.md", "-", "[[:upper:]]", "[]a]", `[\]]`})
	line := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "!", "/", "!/", "#"}).Draw(t,
			"start") + strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"),
			"") + rapid.SampledFrom([]string{"", "", "/", "/**", " ", "\r"}).Draw(t, "end")
	})
	besides := regexp.MustCompile(`[^/*!]\*\*|.!\*\*|\*\*[^/*\r ]|^!?\\/`)
	line = line.Filter(func(line string) bool { return !besides.MatchString(line) })
	rapid.Check(t, func(t *rapid.T) {
		patterns := strings.Join(rapid.SliceOfN(line, 1, 4).Draw(t, "lines"), "\n")
		want := git.ignored(t, patterns, gitNames)
		m := ParseIgnored(patterns)
		for _, name := range gitNames {
			plain, folder := strings.CutSuffix(name, "/")
			got := m.Hides(plain, Kind(folder))
			assert.That(t, got == slices.Contains(want, name), "%q hides %q: %v, git: %v", patterns, name, got, !got)
		}
	})
}

// On some systems another case or normal form is the same file.
func TestPatternsHideEverySpelling(t *testing.T) {
	for _, test := range []struct{ patterns, name string }{
		{"Secret.md", "sEcReT.md"}, {"secret.md", "SECRET.MD"}, {"S[A-C]*.md", "sbx.md"}, {"/Private/", "private/x.md"},
		{"Caf\u00e9.md", "Cafe\u0301.md"}, {"Cafe\u0301/", "CAF\u00c9/x.md"}, {"\u03a3.md", "\u03c2.md"},
		{"\u017fecret.md", "Secret.md"}, {"Kelvin.md", "\u212aelvin.md"},
		{"*.MD\n!Keep.md", "x.md"}, {"secret.md\n!Secret.md", "secret.md"},
	} {
		assert.That(t, ParseIgnored(test.patterns).Hides(test.name, File), "%q does not hide %q", test.patterns, test.name)
	}
}

func TestTheReason(t *testing.T) {
	list := ParseIgnored("\ufeff# private\n\nDiary/\n*.tmp.md\r\n!keep.tmp.md\nWork/**/Draft*.md  \n")
	for _, test := range []struct {
		path   string
		folder bool
		want   Reason
	}{
		{"Diary/2026/a.md", false, Reason{3, "Diary/", "Diary"}},
		{"Diary", true, Reason{3, "Diary/", "Diary"}},
		{"diary/a.md", false, Reason{3, "Diary/", "diary"}}, // another spelling
		{"a.tmp.md", false, Reason{4, "*.tmp.md", "a.tmp.md"}},
		{"Work/x/Draft 1.md", false, Reason{6, "Work/**/Draft*.md", "Work/x/Draft 1.md"}},
		{"keep.tmp.md", false, Reason{}},
		{"Diary", false, Reason{}},
		{"a.md", false, Reason{}},
	} {
		got, ok := list.Reason(test.path, Kind(test.folder))
		assert.Equal(t, got, test.want, "%s, a folder %v", test.path, test.folder)
		assert.Equal(t, ok, test.want != Reason{}, "%s, a folder %v", test.path, test.folder)
		assert.Equal(t, ok, list.Hides(test.path, Kind(test.folder)), "%s, a folder %v", test.path, test.folder)
	}
	got, ok := ParseIgnored("").Reason("a.md", File)
	assert.That(t, !ok, "no patterns: %+v", got)
}
