package disk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/require"
)

// What is opened here is not handed to programs that are started meanwhile, and
// a terminal does not become that of the process.
func TestDescriptorsStayInTheProcess(t *testing.T) {
	dir := planted(t, map[string]string{"a/n.md": ""})
	at, err := openFolder(t, dir).place([]string{"a"})
	require.NoError(t, err)
	defer at.close()
	folder := at.(descriptor).fd
	file, err := openat(folder, "n.md", openAsFile)
	require.NoError(t, err)
	defer unix.Close(file)
	for name, fd := range map[string]int{"folder": folder, "file": file} {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("the %s has the flags %#x, %v", name, flags, err)
		}
	}
	if openAsFile&unix.O_NOCTTY == 0 {
		t.Error("a file that is a terminal could become that of the process")
	}
}

// The errors of this place read like those of package os.
func TestErrorsOfDescriptors(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "text"})
	folder := openFolder(t, dir)
	at, err := folder.place(nil)
	require.NoError(t, err)
	defer at.close()
	said := map[string]error{}
	_, said["openat none: no such file or directory"] = at.step("none")
	_, said["fstatat none: no such file or directory"] = at.info("none")
	_, said["fstat n.md: bad file descriptor"] = openFile{fd: -1, name: "n.md"}.stamp()
	_, said["readdirent .: bad file descriptor"] = descriptor{fd: -1}.list()
	_, said[`"." is a folder`] = openFile{fd: at.(descriptor).fd, name: "."}.stamp()
	n, err := openFile{fd: -1, name: "n.md"}.Read(make([]byte, 4))
	said["read n.md: bad file descriptor"] = err
	starved(t, 0, func() { _, _, said["openat n.md: too many open files"] = at.read("n.md", nil) })
	starved(t, 1, func() { _, said["openat .: too many open files"] = folder.place(nil) }) // the first is that of the folder itself
	for want, err := range said {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if n != 0 {
		t.Errorf("%d bytes of no file", n)
	}
}

func TestReadOfDescriptors(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "text"})
	fd, err := unix.Open(filepath.Join(dir, "n.md"), openAsFile, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	file, buf := openFile{fd: fd, name: "n.md"}, make([]byte, 3)
	for i, step := range []struct {
		into []byte
		want string
		err  error
	}{{buf, "tex", nil}, {nil, "", nil}, {buf, "t", nil}, {nil, "", nil}, {buf, "", io.EOF}, {buf[:1], "", io.EOF}} {
		if n, err := file.Read(step.into); string(step.into[:n]) != step.want || err != step.err {
			t.Errorf("%d: %q, %v", i, step.into[:n], err)
		}
	}
	if file.title() != "n.md" {
		t.Errorf("called %q", file.title())
	}
}

// What a descriptor says about a file is what package os says.
func TestInfoOfDescriptors(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": "text"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "n.md"), 0o640))
	want, err := os.Lstat(filepath.Join(dir, "n.md"))
	require.NoError(t, err)
	at, err := openFolder(t, dir).place(nil)
	require.NoError(t, err)
	defer at.close()
	got, err := at.info("n.md")
	if err != nil || got.Name() != want.Name() || got.Size() != want.Size() || got.Mode() != want.Mode() || !got.ModTime().Equal(want.ModTime()) || got.IsDir() {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if stat, ok := got.Sys().(*unix.Stat_t); !ok || stat.Size != 4 || stat.Ino == 0 {
		t.Errorf("below it is %+v", got.Sys())
	}
	if got, err := at.stamp("n.md"); err != nil || got != system.StampOf(want) {
		t.Errorf("%+v, %v, want %+v", got, err, system.StampOf(want))
	}
}

func TestModes(t *testing.T) {
	for mode, want := range map[uint32]fs.FileMode{
		unix.S_IFREG | 0o640: 0o640, unix.S_IFREG | 0o777: 0o777, unix.S_IFREG: 0, unix.S_IFREG | unix.S_ISUID | 0o755: 0o755,
		unix.S_IFDIR | 0o755: fs.ModeDir | 0o755, unix.S_IFLNK | 0o777: fs.ModeSymlink | 0o777,
		unix.S_IFIFO | 0o600: fs.ModeIrregular | 0o600, unix.S_IFSOCK | 0o600: fs.ModeIrregular | 0o600,
		unix.S_IFCHR | 0o620: fs.ModeIrregular | 0o620, unix.S_IFBLK | 0o660: fs.ModeIrregular | 0o660, 0o644: fs.ModeIrregular | 0o644,
	} {
		if got := modeOf(mode); got != want {
			t.Errorf("%#o: %v, want %v", mode, got, want)
		}
	}
}
