package filenames

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A file that a sync client manages is a file. Every other reparse point may lead elsewhere.
func TestReparsePointsOfACloudAreFiles(t *testing.T) {
	want := map[uint32]bool{
		0xA000000C: false, // symbolic link
		0xA0000003: false, // junction
		0x8000001B: false, // link to an app of the store
		0x80000023: false, // socket
		0xA000001D: false, // symbolic link of WSL
		0x80000017: false, // compressed by the system
		0x9000001C: false, // projected by another program, such as a Git client
		0x8000001A: false, // one bit less
		0xB000001A: false, // a name for something else
		0x9001001A: false, // beyond the sixteen
		0x00000000: false,
	}
	for n := range uint32(16) {
		want[0x9000001A|n<<12] = true
	}
	for tag, isCloud := range want {
		asked := func() (uint32, error) { return tag, nil }
		assert.Equal(t, isFile(fs.ModeIrregular|0o666, asked), isCloud, "tag %#x", tag)
	}
}

// The system is asked for the tag of what may be such a file, and of nothing else.
func TestOnlyWhatIsIrregularIsAskedForItsTag(t *testing.T) {
	for mode, want := range map[fs.FileMode]struct{ file, asked bool }{
		0o644:                               {true, false},
		fs.ModeIrregular:                    {true, true},
		fs.ModeDir | 0o755:                  {false, false},
		fs.ModeDir | fs.ModeIrregular:       {false, false}, // a folder that is kept in step
		fs.ModeSymlink:                      {false, false},
		fs.ModeNamedPipe:                    {false, false},
		fs.ModeSocket:                       {false, false},
		fs.ModeDevice | fs.ModeCharDevice:   {false, false},
		fs.ModeIrregular | fs.ModeSymlink:   {false, false},
		fs.ModeIrregular | fs.ModeSetuid:    {true, true},
		fs.ModeIrregular | fs.ModeNamedPipe: {false, false},
	} {
		asked := false
		file := isFile(mode, func() (uint32, error) { asked = true; return 0x9000601A, nil })
		assert.Equal(t, fmt.Sprint(file, asked), fmt.Sprint(want.file, want.asked), "%v", mode)
	}
	file := isFile(fs.ModeIrregular, func() (uint32, error) { return 0x9000601A, errors.New("gone") })
	assert.That(t, !file, "what cannot be looked at counts as a file")
}

func TestRegularFilesAreFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.md"), nil, 0o600))
	root := require.Value(os.OpenRoot(dir))(t)
	defer root.Close()
	assert.That(t, IsFile(root, "a.md", 0o600), "a regular file is none")
	assert.That(t, IsFileAt(filepath.Join(dir, "a.md"), 0o600), "a regular file is none")
	// An entry that the system calls irregular, and that has no reparse point.
	assert.That(t, !IsFile(root, "a.md", fs.ModeIrregular), "a file without a tag counts as one of a cloud")
	assert.That(t, !IsFileAt(filepath.Join(dir, "none", "a.md"), fs.ModeIrregular), "a missing folder has a file")
}
