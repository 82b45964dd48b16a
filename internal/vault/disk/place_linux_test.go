package disk

import (
	"io"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What is opened here is not handed to programs that are started meanwhile, and
// a terminal does not become that of the process.
func TestDescriptorsStayInTheProcess(t *testing.T) {
	at := require.Value(openFolder(t, planted(t, map[string]string{"a/n.md": ""})).place([]string{"a"}))(t)
	defer at.close()
	folder := int(at.(steady).place.(descriptor).folder.Fd())
	file := require.Value(unix.Openat(folder, "n.md", openAsFile, 0))(t)
	defer unix.Close(file)
	for name, fd := range map[string]int{"folder": folder, "file": file} {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		require.Equal(t, err, nil, "the %s has the flags %#x", name, flags)
		assert.That(t, flags&unix.FD_CLOEXEC != 0, "the %s has the flags %#x", name, flags)
	}
	assert.That(t, openAsFile&unix.O_NOCTTY != 0, "a file that is a terminal could become that of the process")
}

// The errors of this place read like those of package os.
func TestErrorsOfDescriptors(t *testing.T) {
	folder := openFolder(t, planted(t, map[string]string{"n.md": "text"}))
	at := require.Value(folder.place(nil))(t)
	defer at.close()
	said := map[string]error{}
	closed := require.Value(folder.place(nil))(t)
	closed.close()
	_, said["fstatat none: no such file or directory"] = at.stamp("none")
	_, said["readdirent .: bad file descriptor"] = closed.list()
	_, said["fstat n.md: bad file descriptor"] = openFile{fd: -1, name: "n.md"}.stamp()
	_, said[`"." is a folder`] = openFile{fd: int(at.(steady).place.(descriptor).folder.Fd()), name: "."}.stamp()
	n, err := openFile{fd: -1, name: "n.md"}.Read(make([]byte, 4))
	said["read n.md: bad file descriptor"] = err
	starved(t, 0, func() { _, _, said["openat n.md: too many open files"] = at.read("n.md", nil) })
	starved(t, 1, func() { _, said["openat .: too many open files"] = folder.place(nil) }) // the first is that of the folder itself
	for want, err := range said {
		require.That(t, err != nil, "%v, want %s", err, want)
		assert.Equal(t, err.Error(), want, "%v", err)
	}
	assert.That(t, n == 0, "%d bytes of no file", n)
}

func TestReadOfDescriptors(t *testing.T) {
	fd := require.Value(unix.Open(filepath.Join(planted(t, map[string]string{"n.md": "text"}), "n.md"), openAsFile, 0))(t)
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
}
