package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestParsePath(t *testing.T) {
	folders := strings.Repeat(strings.Repeat("a", 255)+"/", 15) + strings.Repeat("b", 100) + "/" // 3941 bytes
	for _, test := range []struct{ name, path, want string }{                                    // the reason of the refusal, "" for none
		{"a note", "a.md", ""},
		{"a note in folders", "a b/ü/日本.md", ""},
		{"two dots inside a name", "a..b.md", ""},
		{"an emoji of several characters", "👨‍👩‍👧.md", ""},
		{"nothing", "", "has an empty segment"},
		{"an absolute path", "/a.md", "has an empty segment"},
		{"a parent", "../a.md", "has a hidden segment"},
		{"a parent alone", "..", "has a hidden segment"},
		{"a parent inside", "a/../b.md", "has a hidden segment"},
		{"the folder itself", "./a.md", "has a hidden segment"},
		{"an empty segment", "a//b.md", "has an empty segment"},
		{"a slash at the end", "a/", "has an empty segment"},
		{"a hidden file", ".a.md", "has a hidden segment"},
		{"a hidden folder", "a/.obsidian/b.json", "has a hidden segment"},
		{"a backslash", `a\b.md`, "has a backslash"},
		{"a line break", "a\nb.md", "has a control character"},
		{"a NUL", "a\x00.md", "has a control character"},
		{"a control character", "a\x1f", "has a control character"},
		{"a line separator", "a\u2028b.md", "has a control character"},
		{"a character that turns the writing direction", "a\u202edm.exe", "has a control character"},
		{"broken UTF-8", "a\xff.md", "is not UTF-8"},
		{"a segment as long as can be", strings.Repeat("a", 255), ""},
		{"a byte more", strings.Repeat("a", 256), "has a segment that is too long"},
		{"a segment of characters of two bytes", strings.Repeat("é", 127) + "a", ""},
		{"more of them than any system takes", strings.Repeat("é", 256), "has a segment that is too long"},
		{"as many segments as can be", strings.Repeat("a/", 199) + "a", ""},
		{"one more", strings.Repeat("a/", 200) + "a", "path of 201 segments: at most 200"},
		{"a path as long as can be", folders + strings.Repeat("c", 155), ""},
		{"a path of a byte more", folders + strings.Repeat("c", 156), "path of 4097 bytes: at most 4096"},
	} {
		path, err := ParsePath(test.path)
		if test.want == "" {
			require.Equal(t, err, nil, "%s: %q", test.name, path)
			assert.Equal(t, path.String(), test.path, "%s: %q", test.name, path)
			continue
		}
		want := test.want
		if !strings.HasPrefix(want, "path of ") {
			want = "path " + strconv.Quote(test.path) + ": " + want
		}
		require.That(t, err != nil, "%s: %v, want %s", test.name, err, want)
		assert.Equal(t, err.Error(), want, "%s: %v", test.name, err)
		assert.Equal(t, path, Path{}, "%s: %v, want %s", test.name, err, want)
	}
}

// What could make one line of a listing look like several is no part of a name;
// everything that is only seen is.
func TestForgesLines(t *testing.T) {
	for r, want := range map[rune]bool{
		0: true, '\n': true, 0x1f: true, ' ': false, '!': false, '~': false, 0x7f: true, 0x80: true, 0x9f: true, 0xa0: false, 'é': false,
		0x2027: false, 0x2028: true, 0x2029: true, 0x202a: true, 0x202e: true, 0x202f: false, 0x2066: true,
		0x2069: true, 0x200e: true, 0x200f: true, 0x61c: true,
		0x200b: false, 0x200c: false, 0x200d: false, 0xfeff: false, '日': false, 0x1f600: false,
	} {
		assert.Equal(t, forgesLines(r), want, "%U", r)
	}
}

func TestUnportableSaysWhy(t *testing.T) {
	reasons := map[string]string{
		"a[[b": `contains "[[", which no link can carry`, "a]]b": `contains "]]", which no link can carry`, "a%%b": `contains "%%", which no link can carry`,
		"a.": "begins with a blank, or ends with one or with a dot", "a ": "begins with a blank, or ends with one or with a dot",
		" a": "begins with a blank, or ends with one or with a dot", "a\u00a0": "begins with a blank, or ends with one or with a dot",
		"NUL": "is the name of a device on Windows", "LPT².md": "is the name of a device on Windows",
		"2026-11-21.md": "", "a (b) [c].md": "", "100%.md": "",
		"a#b|c":   "contains '#', which not every system and link can carry",
		"a[b]c%d": "", ".a": "", "a.b": "", "": "",
	}
	for _, c := range `:*?"<>|#^` {
		for _, name := range []string{string(c), string(c) + "a", "a" + string(c), "a" + string(c) + "b"} {
			reasons[name] = "contains " + strconv.QuoteRune(c) + ", which not every system and link can carry"
		}
	}
	for name, want := range reasons {
		assert.Equal(t, unportable(name), want, "%q", name)
	}
}

// No other character keeps a name from being made, wherever it is.
func TestEveryOtherCharacterIsPortable(t *testing.T) {
	for c := rune(' '); c <= '~'; c++ {
		closed := strings.ContainsRune(`:*?"<>|#^`, c)
		for name, want := range map[string]bool{
			"a" + string(c) + "b": closed, string(c) + "a": closed || c == ' ', "a" + string(c): closed || c == ' ' || c == '.',
		} {
			assert.Equal(t, unportable(name) != "", want, "%q: refused", name)
		}
	}
}

// Windows takes these names for devices, with any extension and in any case, and
// no others.
func TestDeviceNames(t *testing.T) {
	var devices, others []string
	for _, stem := range []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} {
		devices = append(devices, stem)
		others = append(others, stem+"X", "X"+stem, stem[1:], stem[:len(stem)-1], stem+"1", stem+"~")
	}
	for _, port := range []string{"COM", "LPT"} {
		for _, number := range strings.Split("1 2 3 4 5 6 7 8 9 ¹ ² ³", " ") {
			devices = append(devices, port+number)
			others = append(others, number, number+port, port+number+number, port+"x"+number)
		}
		others = append(others, port, port+"X", port+"⁴", port+"$", port+"~", "X"+port+"1", port+"12", port+"¹²")
	}
	for _, name := range devices {
		for _, spelling := range []string{name, strings.ToLower(name), name + ".md", name + ".tar.gz", name + " ", name + " .md", name + ".", name + "  .a"} {
			assert.That(t, isDevice(spelling), "%q is no device", spelling)
		}
		others = append(others, "a."+name, "a "+name)
	}
	for _, name := range others {
		assert.That(t, !isDevice(name), "%q is a device", name)
		assert.That(t, !isDevice(name+".md"), "%q is a device", name)
	}
}

func TestPartsOfAPath(t *testing.T) {
	for _, test := range []struct{ path, folder, base, stem, ext string }{
		{"", "", "", "", ""},
		{"a.md", "", "a.md", "a", "md"},
		{"a/b.md", "a", "b.md", "b", "md"},
		{"a/b/c.d/e", "a/b/c.d", "e", "e", ""},
		{"v1.2 notes.md", "", "v1.2 notes.md", "v1.2 notes", "md"},
		{"x.tar.gz", "", "x.tar.gz", "x.tar", "gz"},
		{"x.md.md", "", "x.md.md", "x.md", "md"},
		{"a/add.md", "a", "add.md", "add", "md"},
		{"d.", "", "d.", "d", ""},
	} {
		p := Path{test.path}
		got := [...]string{p.Folder(), p.Base(), p.Stem(), p.Ext()}
		assert.Equal(t, got, [...]string{test.folder, test.base, test.stem, test.ext}, "%q", p)
		parents, segments := p.parents(), strings.FieldsFunc(test.path, func(r rune) bool { return r == '/' })
		assert.EqualSlices(t, p.segments(), segments, "%q: segments", p)
		assert.EqualSlices(t, parents, segments[:max(0, len(segments)-1)], "%q: parents", p)
	}
	assert.Equal(t, Bookmarks().String(), ".obsidian/bookmarks.json", "the bookmarks are in")
}

func TestAColonOpensAStreamOnWindows(t *testing.T) {
	assert.Equal(t, flaw("a:b") != "", (runtime.GOOS == "windows"), "refused")
}

// onlyFolders sees every folder and no file, or the other way round.
type onlyFolders bool

func (o onlyFolders) SeesFile(string) bool   { return !bool(o) }
func (o onlyFolders) SeesFolder(string) bool { return bool(o) }
func (o onlyFolders) Enters(string) bool     { return true }

func TestAViewIsAskedAboutAFileAsAFile(t *testing.T) {
	whole := openFolder(t, planted(t, map[string]string{"a/n.md": "text"}))
	_, err := whole.WithView(onlyFolders(true)).Read(mustPath(t, "a/n.md"))
	assert.ErrorIs(t, err, fs.ErrNotExist, "a file was taken for a folder")
	text, err := whole.WithView(onlyFolders(false)).Read(mustPath(t, "a/n.md"))
	assert.Equal(t, string(text), "text", "%q, %v", text, err)
	assert.EqualSlices(t, walkedIn(t, whole.WithView(onlyFolders(true)), ""), []string{"a/"}, "folders only")
	assert.EqualSlices(t, walkedIn(t, whole.WithView(onlyFolders(false)), ""), []string{"a/n.md"}, "files only")
}

// walkedIn are what both walks meet in a folder, and what they say if they
// cannot begin.
func walkedIn(t *testing.T, f *Folder, under string) []string {
	t.Helper()
	at := require.Value(ParseFolder(under))(t)
	told := func(walk func(Path, func(Entry)) error) []string {
		names := entries(t, walk, at)
		if err := walk(at, func(Entry) {}); err != nil {
			names = append(names, err.Error())
		}
		return names
	}
	one, both := told(f.Walk), told(f.WalkParallel)
	assert.That(t, slices.Equal(one, both), "in %q: %q, and at once %q", under, one, both)
	return one
}

// A walk that begins in a folder which is not seen meets what is seen in it; if
// there is nothing, the folder is missing, in the words of one that is.
func TestAWalkFromAFolderThatIsNotSeen(t *testing.T) {
	dir := planted(t, map[string]string{"shut/a/in.md": "", "shut/b.md": "", "dark/c.md": "", "file": "", "open/d.md": ""})
	for _, name := range []string{"bare/x", "empty"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	view := levels{"shut": false, "shut/a": true, "shut/gone": true, "dark": false, "file": false, "file/x": true,
		"gone": false, "gone/x": true, "bare": false, "bare/x/y": true}
	folder := openFolder(t, dir).WithView(view)
	for under, want := range map[string][]string{
		"open":  {"open/d.md"},
		"empty": nil,
		"shut":  {"shut/a/", "shut/a/in.md"},
		"dark":  {"open dark: file does not exist"},
		"file":  {"open file: file does not exist"},
		"gone":  {"open gone: file does not exist"},
		"bare":  {"open bare: file does not exist"},
		"":      {"empty/", "open/", "open/d.md", "shut/a/", "shut/a/in.md"},
	} {
		assert.EqualSlices(t, walkedIn(t, folder, under), want, "in %q", under)
	}
	all := openFolder(t, dir).WithView(levels{"": false})
	got := walkedIn(t, all, "")
	assert.That(t, got == nil, "in a vault of which nothing is seen: %q", got)
	_, err := all.begin(Path{"open"}, nil)
	assert.ErrorIs(t, err, fs.ErrNotExist, "a walk that could meet nothing begins")
}

// Whether a folder that is not seen may be entered is not told; any other fault
// of the disk is.
func TestFailureOfAWalk(t *testing.T) {
	under, broken := Path{"shut"}, errors.New("the disk is broken")
	denied := &fs.PathError{Op: "open", Path: "shut", Err: fs.ErrPermission}
	refused := &Refusal{Path: "shut", Reason: "is a symbolic link"}
	folder := openFolder(t, t.TempDir()).WithView(levels{"shut": false, "shut/a": true, "open": true})
	hidden := require.Value(folder.begin(under, func(Entry) {}))(t)
	seen := require.Value(folder.begin(Path{"open"}, func(Entry) {}))(t)
	for _, test := range []struct {
		name string
		err  error
		told string
	}{
		{"not there", &fs.PathError{Op: "openat", Path: "shut", Err: fs.ErrNotExist}, "open shut: file does not exist"},
		{"not allowed", denied, "open shut: file does not exist"},
		{"something else", refused, "open shut: file does not exist"},
		{"broken", broken, "the disk is broken"},
	} {
		assert.Equal(t, hidden.end(under, test.err).Error(), test.told, "%s", test.name)
		assert.Equal(t, seen.end(under, test.err), test.err, "%s, of a folder that is seen", test.name)
	}
}

// linkedVault returns a vault in which one note has a second name in the hidden
// folder Private, one outside the vault, and one in a folder that is seen.
func linkedVault(t *testing.T) (dir string, linked []string) {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	plant(t, dir, map[string]string{"Private/secret.md": "text", ".trash/old.md": "text", "A/plain.md": "text", "A/one.md": "text", "A/seen.md": "text"})
	plant(t, outside, map[string]string{"key.md": "text"})
	for from, to := range map[string]string{
		filepath.Join(dir, "Private", "secret.md"): "A/inside.md", filepath.Join(outside, "key.md"): "A/outside.md",
		filepath.Join(dir, "A", "one.md"): "A/two.md",
	} {
		if err := os.Link(from, filepath.Join(dir, filepath.FromSlash(to))); err != nil {
			t.Skip("no hard links here: ", err)
		}
	}
	return dir, []string{"A/inside.md", "A/outside.md", "A/one.md", "A/two.md"}
}

// Where something is hidden, a file with further names is neither read nor listed
// nor changed, and what is said of it is why.
func TestAHardLinkedFileIsRefusedWhereSomethingIsHidden(t *testing.T) {
	dir, linked := linkedVault(t)
	folder := openFolder(t, dir).WithView(levels{"Private": false})
	before := treeText(t, dir)
	for _, method := range byPath {
		if method.name == "SyncFile" && !system.CanSyncLater { // it does nothing
			continue
		}
		for _, path := range linked {
			err := method.call(folder, Path{path}, Path{"A/seen.md"})
			isTaken := errors.Is(err, fs.ErrExist) && slices.Contains([]string{"Publish", "Move", "Untrash", "IsFree"}, method.name)
			isWalk := (strings.HasPrefix(method.name, "Walk") || method.name == "Contents" ||
				strings.HasSuffix(method.name, "Folder") || method.name == "FolderInfo") && err != nil // it is no folder
			if !isTaken && !isWalk {
				assert.That(t, IsHardLinked(err), "%s %s: %v", method.name, path, err)
				assert.That(t, IsMissing(err), "%s %s: %v", method.name, path, err)
			}
		}
		after := treeText(t, dir)
		require.That(t, after == before, "%s changed the folder:\n%s\nbefore:\n%s", method.name, after, before)
	}
	want := []string{"A/", "A/plain.md", "A/seen.md"}
	for name, walk := range map[string]func(Path, func(Entry)) error{"Walk": folder.Walk, "WalkParallel": folder.WalkParallel} {
		assert.EqualSlices(t, entries(t, walk, Path{}), want, "%s meets", name)
	}
}

// Both kinds of places refuse it, at every step.
func TestAPlaceRefusesAHardLinkedFile(t *testing.T) {
	dir, _ := linkedVault(t)
	for kind, at := range places(t, openFolder(t, filepath.Join(dir, "A")).WithView(levels{"x": false})) {
		_, informed := at.info("inside.md")
		_, stamped := at.stamp("inside.md")
		text, _, read := at.read("inside.md", nil)
		for call, err := range map[string]error{"info": informed, "stamp": stamped, "read": read} {
			assert.That(t, IsHardLinked(err), "%s, %s: %v", kind, call, err)
		}
		assert.That(t, len(text) == 0, "%s: read %q", kind, text)
		text, _, err := at.read("plain.md", nil)
		assert.Equal(t, string(text), "text", "%s", kind)
		assert.NoError(t, err, "%s", kind)
	}
}

// Where nothing is hidden it is a file like any other, and a change stays with the
// name that was asked for.
func TestAHardLinkedFileIsAFileWhereNothingIsHidden(t *testing.T) {
	dir, linked := linkedVault(t)
	folder := openFolder(t, dir)
	for _, path := range linked {
		text, err := folder.Read(Path{path})
		assert.Equal(t, string(text), "text", "%s", path)
		assert.NoError(t, err, "%s", path)
	}
	assert.Equal(t, len(entries(t, folder.Walk, Path{"A"})), 6, "met")
	assert.NoError(t, swap(folder, Path{"A/inside.md"}, []byte("text"), []byte("new")))
	text, err := os.ReadFile(filepath.Join(dir, "Private", "secret.md"))
	assert.Equal(t, string(text), "text", "the other name contains %q", text)
	assert.NoError(t, err, "the other name contains %q", text)
}

// Two names that differ in the case of letters can be two names of one file: then
// a rename from the one to the other would do nothing and say that it did.
func TestARenameToASecondNameOfTheFile(t *testing.T) {
	dir := planted(t, map[string]string{"a.md": "text"})
	if err := os.Link(filepath.Join(dir, "a.md"), filepath.Join(dir, "A.md")); err != nil {
		t.Skip("one name in two spellings, or no hard links: ", err)
	}
	err := openFolder(t, dir).Move(Path{"a.md"}, Path{"A.md"}, Text([]byte("text")))
	got := contents(t, dir)
	assert.ErrorIs(t, err, fs.ErrExist, "%q", got)
	assert.Equal(t, len(got), 2, "%v, %q", err, got)
}

// TestANoteThatICloudTookIsNotMadeAgain: a second one would be in conflict with it when it
// returns.
func TestANoteThatICloudTookIsNotMadeAgain(t *testing.T) {
	folder, root := t.TempDir(), filepath.Join("Ideas", system.CloudStub("Bread.md"))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "Ideas"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, root), []byte("stub"), 0o600))
	f := openFolder(t, folder)
	gone, other := mustPath(t, "Ideas/Bread.md"), mustPath(t, "Ideas/Breads.md")
	assert.That(t, f.HasStub(gone), "stubs: %v, %v", f.HasStub(gone), f.HasStub(other))
	assert.That(t, !f.HasStub(other), "stubs: %v, %v", f.HasStub(gone), f.HasStub(other))
	var refusal *Refusal
	err := makeNote(f, gone, []byte("x"))
	require.That(t, errors.As(err, &refusal), "making it again: %v", err)
	assert.Equal(t, refusal.Reason, system.ErrElsewhere.Error(), "making it again: %v", err)
	assert.NoError(t, makeNote(f, other, []byte("x")))
	for name, want := range map[string]bool{".Bread.md.icloud": true, ".icloud": false, "Bread.md.icloud": false, ".Bread.md": false} {
		assert.That(t, system.IsCloudStub(name) == want, "%s is a stub: %v", name, !want)
	}
}

// How long a name can be is a matter of the system: Linux counts bytes, Windows and macOS count units of UTF-16. A title of
// hundred Chinese characters is an ordinary one there.
func TestHowLongANameCanBe(t *testing.T) {
	for _, test := range []struct {
		name                   string
		segment                string
		linux, windows, darwin bool // whether it is too long
	}{
		{"255 letters", strings.Repeat("a", 255), false, false, false},
		{"256 letters", strings.Repeat("a", 256), true, true, true},
		{"85 Chinese characters", strings.Repeat("記", 85), false, false, false},
		{"86 Chinese characters", strings.Repeat("記", 86), true, false, false},
		{"255 Chinese characters", strings.Repeat("記", 255), true, false, false},
		{"256 Chinese characters", strings.Repeat("記", 256), true, true, true},
		{"127 characters of two units and a letter", strings.Repeat("𝄞", 127) + "a", true, false, false},
		{"128 characters of two units", strings.Repeat("𝄞", 128), true, true, true},
	} {
		for goos, want := range map[string]bool{"linux": test.linux, "windows": test.windows, "darwin": test.darwin} {
			assert.Equal(t, isTooLong(goos, test.segment), want, "%s on %s", test.name, goos)
		}
	}
	long := strings.Repeat("記", 86)
	assert.Equal(t, unportable(long), "is longer than 255 bytes, which not every system can carry", "the name of a new file")
}
