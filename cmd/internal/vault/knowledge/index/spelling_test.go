package index

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/tests/folding"
	"vaultwicket/tests/require"
)

// A change that is told of a file in another spelling is one of that file.
func TestUpdateKnowsOneNameOfAFile(t *testing.T) {
	dir := folding.Dir(t, folding.APFS)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "Pub"), 0o755))
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(text), 0o644))
	}
	write("Pub/Note.md", "# One")
	folder, err := disk.Open(dir)
	require.NoError(t, err)
	defer folder.Close()
	x, err := Build(folder, nil, Forgetful{}, time.Now(), nil)
	require.NoError(t, err)
	for i, told := range []string{"PUB/note.MD", "pub", "Pub/Note.md"} {
		want := "# " + string(rune('a'+i))
		write("Pub/Note.md", want)
		x, err = x.Update(folder, []string{told}, Forgetful{}, time.Now())
		require.NoError(t, err)
		if len(x.Files) != 1 || x.Files[0].Path.String() != "Pub/Note.md" || x.Files[0].Facts().Found().Note.Headings[0].Text != want[2:] {
			t.Errorf("told of %q: %d files, the first is %v", told, len(x.Files), x.Files[0].Path)
		}
	}
}
