package system

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// twoFiles returns an old and a new file of one folder, opened as a change opens them.
func twoFiles(t *testing.T) (from, to *os.File) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"old.md", "new.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	from = require.Value(os.Open(filepath.Join(dir, "old.md")))(t)
	t.Cleanup(func() { from.Close() })
	to = require.Value(os.OpenFile(filepath.Join(dir, "new.md"), os.O_RDWR, 0))(t)
	t.Cleanup(func() { to.Close() })
	return from, to
}

func accessListOf(t *testing.T, file *os.File) string {
	t.Helper()
	list := require.Value(windows.GetSecurityInfo(
		windows.Handle(file.Fd()), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION,
	))(t)
	return list.String()
}

func TestAnAccessListOfTheFileItselfIsCopied(t *testing.T) {
	from, to := twoFiles(t)
	descriptor := require.Value(windows.SecurityDescriptorFromString("D:P(A;;FA;;;WD)(A;;FR;;;BU)"))(t)
	list, _, err := descriptor.DACL()
	require.NoError(t, err)
	require.NoError(t, windows.SetNamedSecurityInfo(
		from.Name(), windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil,
	))
	want := accessListOf(t, from)
	if want == accessListOf(t, to) {
		t.Skip("the file system keeps no access list of a file")
	}
	CopyAttributes(from, to)
	assert.Equal(t, accessListOf(t, to), want)
}

func TestStreamsAreCopied(t *testing.T) {
	from, to := twoFiles(t)
	const zone = "[ZoneTransfer]\r\nZoneId=3\r\n"
	if err := os.WriteFile(from.Name()+":Zone.Identifier", []byte(zone), 0o600); err != nil {
		t.Skipf("the file system has no streams: %v", err)
	}
	if len(streamsOf(windows.Handle(from.Fd()))) == 0 {
		t.Skip("the system does not list streams")
	}
	CopyAttributes(from, to)
	got := require.Value(os.ReadFile(to.Name() + ":Zone.Identifier"))(t)
	assert.Equal(t, string(got), zone)
	content := require.Value(os.ReadFile(to.Name()))(t)
	assert.Equal(t, string(content), "new.md")
}

func TestAttributesOfTheUserAreCopied(t *testing.T) {
	from, to := twoFiles(t)
	attributesOf := func(file *os.File) uint32 {
		var info windows.ByHandleFileInformation
		require.NoError(t, windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info))
		return info.FileAttributes
	}
	name := require.Value(windows.UTF16PtrFromString(from.Name()))(t)
	require.NoError(t, windows.SetFileAttributes(name, windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED))
	want := attributesOf(from) & keptAttributes
	if want == 0 {
		t.Skip("the file system keeps no such attributes")
	}
	before := attributesOf(to)
	CopyAttributes(from, to)
	assert.Equal(t, attributesOf(to), before|want)
	require.NoError(t, to.Chmod(0o600))
	assert.Equal(t, attributesOf(to), before|want, "after a mode was set, as a change does")
}
