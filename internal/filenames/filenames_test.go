package filenames

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// disk is a folder that takes spellings for one another as same says.
type disk struct {
	names map[string]*disk // nil for a file
	same  func(listed, asked string) bool
	real  string // of a folder or file that backs it, for its identity
	shut  bool   // it cannot be listed
	time  time.Time
	calls *calls
}

type calls struct{ lstat, list, open int }

func (d *disk) lstat(name string) (fs.FileInfo, error) {
	d.calls.lstat++
	for listed, sub := range d.names {
		if listed == name || d.same(listed, name) {
			return os.Lstat(sub.real)
		}
	}
	return nil, fs.ErrNotExist
}

func (d *disk) lstatOnDisk(name string) (fs.FileInfo, error) { return d.lstat(name) }

func (d *disk) list() ([]string, error) {
	d.calls.list++
	if d.shut {
		return nil, fs.ErrPermission
	}
	var names []string
	for name := range d.names {
		names = append(names, name)
	}
	return names, nil
}

func (d *disk) enter(name string) (level, error) { return d.names[name], nil }
func (d *disk) close()                           {}

func (d *disk) info() (fs.FileInfo, error) { return stampInfo{modified: d.time}, nil }

type stampInfo struct {
	fs.FileInfo
	modified time.Time
}

func (s stampInfo) ModTime() time.Time { return s.modified }

// grow returns a disk with the files at the paths.
func grow(t *testing.T, same func(listed, asked string) bool, paths ...string) (*disk, *Folder) {
	t.Helper()
	backing, counted := t.TempDir(), &calls{}
	old := time.Now().Add(-time.Hour)
	var plant func(place string, paths []string) *disk
	plant = func(place string, paths []string) *disk {
		require.NoError(t, os.MkdirAll(place, 0o700))
		d := &disk{names: map[string]*disk{}, same: same, real: place, time: old, calls: counted}
		below := map[string][]string{}
		for _, path := range paths {
			name, rest, deeper := strings.Cut(path, "/")
			if deeper {
				below[name] = append(below[name], rest)
				continue
			}
			file := filepath.Join(place, "file-"+hex(name))
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			d.names[name] = &disk{real: file}
		}
		for name, rest := range below {
			d.names[name] = plant(filepath.Join(place, "folder-"+hex(name)), rest)
		}
		return d
	}
	root := plant(filepath.Join(backing, "root"), paths)
	return root, newFolder(func() (level, error) {
		counted.open++
		return root, nil
	})
}

// hex tells names apart on every file system.
func hex(name string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(name) {
		b.WriteByte(digits[name[i]>>4])
		b.WriteByte(digits[name[i]&15])
	}
	return b.String()
}

func nothing(listed, asked string) bool { return false }

func caseOnly(listed, asked string) bool { return strings.EqualFold(listed, asked) }

func formOnly(listed, asked string) bool { return norm.NFC.String(listed) == norm.NFC.String(asked) }

func both(listed, asked string) bool {
	return strings.EqualFold(norm.NFC.String(listed), norm.NFC.String(asked))
}

func short(listed, asked string) bool {
	return both(listed, asked) || strings.EqualFold(asked, strings.ToUpper(listed[:min(len(listed), 4)])+"~V4F")
}

func TestAPathIsAsItIsListed(t *testing.T) {
	const composed, parted = "W\u00f6rk", "Wo\u0308rk"
	for _, test := range []struct {
		what        string
		same        func(listed, asked string) bool
		files       []string
		asked, want string
	}{
		{"another case", caseOnly, []string{"Pub/A.md"}, "PUB/a.MD", "Pub/A.md"},
		{"the case that is listed", caseOnly, []string{"Pub/A.md"}, "Pub/A.md", "Pub/A.md"},
		{"a new note in a folder of another case", caseOnly, []string{"Pub/A.md"}, "PUB/New.md", "Pub/New.md"},
		{"a new folder in a folder of another case", caseOnly, []string{"Pub/A.md"}, "PUB/New/x.md", "Pub/New/x.md"},
		{"another normal form", both, []string{parted + "/a.md"}, composed + "/A.md", parted + "/a.md"},
		{"and the other way", both, []string{composed + "/a.md"}, strings.ToUpper(parted) + "/a.md", composed + "/a.md"},
		{"another form where cases are told apart", formOnly, []string{parted + "/a.md"}, composed + "/a.md", parted + "/a.md"},
		{"a short name of a folder", short, []string{"Private/a.md"}, "PRIV~V4F/a.md", "Private/a.md"},
		{"a short name of a hidden folder", short, []string{".obsidian/app.json"}, ".OBS~V4F/app.json", ".obsidian/app.json"},
		{"a short name of a note", short, []string{"Pub/Secret note.md"}, "Pub/secr~v4f", "Pub/Secret note.md"},
		{"a name that looks like a short one", short, []string{"a~1.md"}, "A~1.md", "a~1.md"},
		{"a short name before a name like it is learned", short, []string{"Abcdef", "Private/a.md"}, "PRIV~V4F/a.md", "Private/a.md"},
		{"both cases are there", nothing, []string{"Pub/A.md", "pub/a.md"}, "pub/a.md", "pub/a.md"},
		{"spellings that are told apart", nothing, []string{"Pub/A.md"}, "pub/a.md", "pub/a.md"},
		{"digits alone", caseOnly, []string{"2026/11/A.md"}, "2026/11/a.md", "2026/11/A.md"},
		{"an end that is passed over",
			func(listed, asked string) bool { return listed == strings.TrimRight(asked, ".") }, []string{"2026/A.md"},
			"2026./A.md", "2026/A.md"},
		{"letters without case", nothing, []string{"日本/日.md"}, "日本/日.md", "日本/日.md"},
		{"something invisible", func(listed,
			asked string) bool {
			return listed == strings.ReplaceAll(asked, "\u200d", "")
		}, []string{"日本/日.md"},
			"日\u200d本/日.md", "日本/日.md"},
		{"nothing there", caseOnly, nil, "A/b/C.md", "A/b/C.md"},
		{"below a file", caseOnly, []string{"A.md"}, "a.md/B.md", "A.md/B.md"},
		{"the folder itself", caseOnly, []string{"A.md"}, "", ""},
	} {
		_, folder := grow(t, test.same, test.files...)
		for range 3 { // what is remembered changes nothing
			got, err := folder.Name(test.asked)
			assert.Equal(t, got, test.want, "%s: %+q is %+q", test.what, test.asked, got)
			assert.NoError(t, err, "%s: %+q is %+q", test.what, test.asked, got)
		}
	}
}

func TestWhatTellsSpellingsApartIsNotAskedAgain(t *testing.T) {
	root, folder := grow(t, nothing, "Work/2026/A.md", "Work/2026/B.md", "Work/2026/11.md")
	at := time.Now()
	folder.memory.now = func() time.Time { return at }
	ask := func(path string) calls {
		*root.calls = calls{}
		got, err := folder.Name(path)
		assert.Equal(t, got, path)
		assert.NoError(t, err)
		return *root.calls
	}
	ask("Work/2026/A.md")
	for _, path := range []string{"Work/2026/A.md", "Work/2026/B.md", "Work/2026/11.md", "Work/2026/New.md", "work"} {
		got := ask(path)
		assert.That(t, got == (calls{}) || onWindows != nil, "%q costs %+v", path, got)
	}
	at = at.Add(sensitivityLifetime + time.Second)
	assert.That(t, ask("Work/2026/A.md").lstat != 0, "what is mounted in the place of a folder is not noticed")
}

// onWindows is not nil on a system where any name may be a short one.
var onWindows = func() error {
	if filepath.Separator == '\\' {
		return errors.New("short names")
	}
	return nil
}()

func TestAFolderIsListedOnce(t *testing.T) {
	root, folder := grow(t, both, "A.md", "B.md", "C.md")
	for i, path := range []string{"A.md", "B.md", "C.md", "A.md"} {
		if got, err := folder.Name(path); got != path || err != nil || root.calls.list != 1 {
			t.Errorf("%d: %q is %q, %v, after %d listings", i, path, got, err, root.calls.list)
		}
	}
	if got, err := folder.Name("c.md"); got != "C.md" || err != nil || root.calls.list != 2 {
		t.Errorf("another spelling is %q, %v, after %d listings", got, err, root.calls.list)
	}
	root.names["c.md"] = root.names["C.md"]
	delete(root.names, "C.md")
	root.time = root.time.Add(time.Second)
	got, err := folder.Name("C.md")
	assert.Equal(t, got, "c.md", "after the name has changed it is %q", got)
	assert.NoError(t, err, "after the name has changed it is %q", got)
}

// The time of a folder that was changed a moment ago does not tell the next
// change.
func TestAYoungListingIsNotKept(t *testing.T) {
	root, folder := grow(t, both, "A.md")
	root.time = time.Now()
	for range 2 {
		require.Value(folder.Name("A.md"))(t)
	}
	assert.Equal(t, root.calls.list, 2, "listed, times")
}

func TestWhatIsListedUnderNoNameIsNotThere(t *testing.T) {
	root, folder := grow(t, both, "A.md")
	other := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	inner := root.same
	root.same = func(listed, asked string) bool { return inner(listed, asked) || asked == "LOST~1.MD" }
	got, err := folder.Name("LOST~1.MD")
	assert.Equal(t, got, "A.md", "a short name is %q", got)
	assert.NoError(t, err, "a short name is %q", got)
	root.names = map[string]*disk{"A.md": root.names["A.md"], "hidden": {real: other}}
	hidden := &unlisted{root}
	folder = newFolder(func() (level, error) { return hidden, nil })
	got, err = folder.Name("hidden")
	assert.ErrorIs(t, err, fs.ErrNotExist, "what no listing has is %q", got)
	assert.Equal(t, got, "", "what no listing has is %q", got)
}

// unlisted leaves a name out of its listing.
type unlisted struct{ *disk }

func (u *unlisted) list() ([]string, error) {
	names, err := u.disk.list()
	return slices.DeleteFunc(names, func(name string) bool { return name == "hidden" }), err
}

func TestAFolderThatCannotBeListed(t *testing.T) {
	root, folder := grow(t, both, "A.md", "2026")
	root.shut = true
	got, err := folder.Name("2026")
	if onWindows == nil {
		assert.NoError(t, err, "a name without other spellings")
		assert.Equal(t, got, "2026", "a name without other spellings")
	}
	for _, asked := range []string{"a.md", "A.md"} {
		got, err := folder.Name(asked)
		assert.ErrorIs(t, err, fs.ErrPermission, "%q is %q", asked, got)
		assert.Equal(t, got, "", "%q is %q", asked, got)
	}
	root.same = nothing
	folder = newFolder(func() (level, error) { return root, nil })
	got, err = folder.Name("A.md")
	if onWindows == nil {
		assert.NoError(t, err, "where spellings are told apart")
		assert.Equal(t, got, "A.md", "where spellings are told apart")
	}
}

func TestTheErrorOfTheFolder(t *testing.T) {
	broken := errors.New("broken")
	got, err := In(func() (*os.Root, error) { return nil, broken }).Name("A.md")
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, got, "")
}

func TestOtherSpellings(t *testing.T) {
	for name, want := range map[string][2]string{
		"Ab1": {"aB1", "Ab1"}, "2026": {"2026", "2026"}, "W\u00f6": {"w\u00d6", "Wo\u0308"},
		"Wo\u0308": {"wO\u0308", "W\u00f6"}, "日本": {"日本", "日本"}, "\ufb01": {"\ufb01", "\ufb01"},
	} {
		assert.Equal(t, [2]string{otherCase(name), otherForm(name)}, want, "%+q", name)
	}
}

func TestWithoutPrefix(t *testing.T) {
	for path, want := range map[string]string{`/a/b`: `/a/b`, `\\?\UNC\server\share\x`: `\\server\share\x`,
		`\\?\unc\server\share`: `\\server\share`, `\\?\GLOBALROOT\x`: `\\?\GLOBALROOT\x`} {
		assert.Equal(t, withoutPrefix(path), want, "%s", path)
	}
	if onWindows != nil && withoutPrefix(`\\?\C:\x`) != `C:\x` {
		t.Errorf(`\\?\C:\x: %s`, withoutPrefix(`\\?\C:\x`))
	}
}

// Every way to write a folder leads to one identity.
func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	vault := filepath.Join(dir, "My Vault")
	require.NoError(t, os.Mkdir(vault, 0o700))
	want := Identity(vault)
	spellings := []string{vault + string(filepath.Separator), filepath.Join(dir, ".", "My Vault"), dir + "/x/../My Vault"}
	link := filepath.Join(dir, "link")
	_ = os.Symlink(vault, link)
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		spellings = append(spellings, link)
	}
	if info, err := os.Stat(filepath.Join(dir, "MY VAULT")); err == nil && info.IsDir() {
		spellings = append(spellings, filepath.Join(dir, "MY VAULT"))
	}
	if onWindows != nil {
		spellings = append(spellings, `\\?\`+vault, strings.ToLower(vault[:1])+vault[1:], strings.ToUpper(vault))
	}
	for _, spelling := range spellings {
		assert.Equal(t, Identity(spelling), want, "%s", spelling)
	}
	assert.Equal(t, filepath.Base(want), "My Vault", "the identity is %s", want)
	assert.That(t, filepath.IsAbs(want), "the identity is %s", want)
	assert.Equal(t, filepath.Base(Identity(filepath.Join(dir, "missing"))), "missing", "a folder that is not there")
	assert.Equal(t, filepath.Base(Identity(string(filepath.Separator))), string(filepath.Separator), "the root")
}

func TestANameInAnyForm(t *testing.T) {
	const composed, parted = "caf\u00e9", "cafe\u0301"
	for _, test := range []struct {
		what  string
		files []string
		asked string
		want  string
	}{
		{"a note", []string{parted + ".md"}, composed + ".md", parted + ".md"},
		{"and the other way", []string{composed + ".md"}, parted + ".md", composed + ".md"},
		{"the exact name goes first", []string{parted + ".md", composed + ".md"}, composed + ".md", composed + ".md"},
		{"a new note in a folder", []string{parted + "/a.md"}, composed + "/" + composed + ".md", parted + "/" + composed + ".md"},
		{"another case is another name", []string{parted + ".md"}, "CAF\u00c9.md", "CAF\u00c9.md"},
		{"two files have the form", []string{"o\u0302\u0323.md", "\u00f4\u0323.md"}, "\u1ed9.md", "\u1ed9.md"},
		{"nothing there", nil, composed + "/a.md", composed + "/a.md"},
		{"below a file", []string{parted}, composed + "/a.md", parted + "/a.md"},
	} {
		_, folder := grow(t, nothing, test.files...)
		got, err := folder.NameInAnyForm(test.asked)
		assert.Equal(t, got, test.want, "%s: %+q is %+q", test.what, test.asked, got)
		assert.NoError(t, err, "%s: %+q is %+q", test.what, test.asked, got)
	}
}

// plan is the top folder of a disk with changes that are only planned.
type plan struct {
	on      *disk
	created string
	removed string
}

// plannedInfo describes a file that is on no disk.
type plannedInfo struct{ fs.FileInfo }

func (p plannedInfo) IsDir() bool { return false }

func (p plan) Lstat(name string) (fs.FileInfo, error) {
	switch name {
	case p.created:
		return plannedInfo{}, nil
	case p.removed:
		return nil, fs.ErrNotExist
	}
	return p.on.lstat(name)
}

func (p plan) LstatOnDisk(name string) (fs.FileInfo, error) { return p.on.lstat(name) }
func (p plan) Enter(string) (Level, error)                  { return nil, fs.ErrNotExist }
func (p plan) Close()                                       {}

func (p plan) List() ([]string, error) {
	names, err := p.on.list()
	names = slices.DeleteFunc(names, func(name string) bool { return name == p.removed })
	return append(names, p.created), err
}

// A name that is only planned says nothing about the spellings that the disk distinguishes, nor does one whose removal is.
func TestAPlannedNameTeachesNothingAboutTheDisk(t *testing.T) {
	for _, test := range []struct {
		what string
		plan
		first string // the path that is asked for before another spelling of Secret.md
	}{
		{"a planned file", plan{created: "new.md"}, "new.md"},
		{"a planned file in another form", plan{created: "n\u00e9w.md"}, "n\u00e9w.md"},
		{"another spelling is removed", plan{created: "New.md", removed: "OLD.md"}, "old.MD"},
	} {
		test.on, _ = grow(t, both, "Secret.md", "OLD.md")
		folder := Over(func() (Level, error) { return test.plan, nil })
		_, err := folder.Name(test.first)
		isThere := test.removed == ""
		assert.Equal(t, err == nil, isThere, "%s: %v", test.what, err)
		got, err := folder.Name("secret.md")
		assert.NoError(t, err)
		assert.Equal(t, got, "Secret.md", "%s", test.what)
	}
}
