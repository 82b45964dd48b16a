//go:build unix

package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	save(t, dir, someFiles(3)...)
	names := glob(t, dir, "*")
	assert.That(t, len(names) == 3, "files %q", names)
	for name, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, names[0]: 0o600, names[1]: 0o600, names[2]: 0o600} {
		if info, err := os.Lstat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestAFolderOfOthersIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, someFiles(3)...)
	require.NoError(t, os.Chmod(dir, 0o777))
	c := open(t, dir)
	assert.Equal(t, c.Len(), 0, "one that everybody can write to is")
	assert.That(t, c.Update() == nil, "one that everybody can write to is")
	require.NoError(t, os.Chmod(dir, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	c = open(t, link)
	assert.Equal(t, c.Len(), 0, "one through a link is")
	assert.That(t, c.Update() == nil, "one through a link is")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	c = open(t, file)
	assert.Equal(t, c.Len(), 0, "a file is")
	assert.That(t, c.Update() == nil, "a file is")
}

func TestWhatIsNoFileIsNoCache(t *testing.T) {
	files := someFiles(3)
	for _, end := range []string{tableSuffix, packSuffix, lockSuffix} {
		for kind, make := range map[string]func(name string) error{
			"link":   func(name string) error { return os.Symlink(name+".away", name) },
			"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
			"folder": func(name string) error { return os.Mkdir(name, 0o700) },
		} {
			dir := t.TempDir()
			save(t, dir, files...)
			name := glob(t, dir, "*"+end)[0]
			require.NoError(t, os.Rename(name, name+".away"))
			require.NoError(t, make(name))
			c := open(t, dir)
			want := map[bool]int{end == lockSuffix: len(files)}[true]
			assert.That(t, c.Len() == want, "%s as %s: %d files, want %d", end, kind, c.Len(), want)
			u := c.Update()
			assert.That(t, (u == nil) == (end == lockSuffix), "%s as %s: update %v", end, kind, u != nil)
			u.Put(files[0].path, files[0].stamp, files[0].text(), files[0].found())
			next, err := u.Commit()
			wrong := end == lockSuffix || end == tableSuffix && kind == "folder"
			assert.That(t, (err != nil) == wrong, "%s as %s: %v", end, kind, err)
			if err == nil {
				checkAll(t, next, files[0])
				next.Close()
			}
		}
	}
}

func TestAFolderThatCannotBeWrittenToIsRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser can write to all")
	}
	dir, files := t.TempDir(), someFiles(3)
	save(t, dir, files...)
	require.NoError(t, os.Chmod(dir, 0o500))
	defer os.Chmod(dir, 0o700)
	c := open(t, dir)
	checkAll(t, c, files...)
	u := c.Update() // the lock is there already
	u.Put("a.md", files[0].stamp, []byte("a"), Found{})
	_, err := u.Commit()
	assert.That(t, err != nil, "committed")
}
