package disk

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/memory"
	"vaultwicket/tests/require"
)

const tempName = ".vaultwicket-0123456789abcdef.tmp"

func TestTemporaryNames(t *testing.T) {
	for range 100 {
		if name := temporary(); !isTemporary(name) {
			t.Errorf("%q is none", name)
		}
	}
	for _, name := range []string{
		"", ".tmp", ".vaultwicket-.tmp", ".vaultwicket-0123456789abcde.tmp", ".vaultwicket-0123456789abcdeff.tmp", ".vaultwicket-0123456789ABCDEF.tmp",
		".vaultwicket-0123456789abcdeg.tmp", "vaultwicket-0123456789abcdef.tmp", ".vaultwicket-0123456789abcdef.tmp.md", ".vaultwicket-0123456789abcdef", ".vaultwicketignore",
	} {
		assert.That(t, !isTemporary(name), "%q is one", name)
	}
}

// What a killed writer left is removed wherever it can be, and nothing else is,
// whatever a view hides.
func TestSweep(t *testing.T) {
	dir := memory.Folder(t)
	other := t.TempDir()
	kept := map[string]string{
		"a.md": "text", "A/.vaultwicket-0123456789abcdeg.tmp": "x", "A/vaultwicket-0123456789abcdef.tmp": "x", ".hidden/" + tempName: "x",
		".obsidian/plugins/" + tempName: "x", ".trash/deep/" + tempName: "x", "A/folder/" + tempName + "/n.md": "x", ".vaultwicketignore": "Private/\n",
	}
	plant(t, dir, kept)
	plant(t, dir, map[string]string{
		tempName: "left", "A/" + tempName: "left", "A/B/C/" + tempName: "left", "Private/" + tempName: "left", ".trash/" + tempName: "left", ".obsidian/" + tempName: "left",
	})
	plant(t, other, map[string]string{tempName: "elsewhere", "n.md": "elsewhere"})
	linked := os.Symlink(other, filepath.Join(dir, "A", "link")) == nil && os.Symlink(filepath.Join(other, "n.md"), filepath.Join(dir, "A", "B", ".vaultwicket-00000000000000aa.tmp")) == nil
	f := openFolder(t, dir).WithView(levels{"Private": false})

	if left, err := f.Sweep(time.Now().Add(-time.Hour)); left != 6 || err != nil {
		t.Errorf("what is young stays: %d, %v", left, err)
	}
	if left, err := f.Sweep(time.Now().Add(time.Hour)); left != 0 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
	assert.That(t, !linked || os.Remove(filepath.Join(dir, "A", "link")) == nil, "the link to a folder is gone")
	got := contents(t, dir)
	delete(got, "A/B/.vaultwicket-00000000000000aa.tmp") // read through the link
	assert.That(t, maps.Equal(got, kept), "the tree is %q, want %q", got, kept)
	if linked && len(contents(t, other)) != 2 {
		t.Errorf("the target of the link is %q", contents(t, other))
	}
}

// A file that was given an old time is not old where the system tells when it was
// last changed.
func TestSweepGoesByTheLastChange(t *testing.T) {
	dir := memory.Folder(t)
	plant(t, dir, map[string]string{tempName: "x"})
	full := filepath.Join(dir, tempName)
	require.NoError(t, os.Chtimes(full, time.Unix(1, 0), time.Unix(1, 0)))
	info, err := os.Stat(full)
	require.NoError(t, err)
	if system.StampOf(info).Changed == 0 {
		t.Skip("this system does not tell")
	}
	if left, err := openFolder(t, dir).Sweep(time.Now().Add(-time.Hour)); left != 1 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
}

func TestSweepFindsWhatEveryKilledWriterLeft(t *testing.T) {
	left := 0
	for name, act := range changesOfSwapped {
		for n := 1; ; n++ {
			dir := memory.Folder(t)
			plant(t, dir, swappedVault)
			f, broken := openFolder(t, dir), &faulty{n: n, killed: true}
			f.sys = broken.calls(system.Patient)
			err := act(f)
			left += len(temporaries(t, dir))
			if _, err := openFolder(t, dir).Sweep(time.Now().Add(time.Hour)); err != nil || len(temporaries(t, dir)) > 0 {
				t.Errorf("%s, killed at call %d: %v, %q", name, n, err, temporaries(t, dir))
			}
			if broken.made < n {
				assert.That(t, err == nil, "%s: %v", name, err)
				break
			}
		}
	}
	assert.That(t, left != 0, "no writer left anything")
}

// What cannot be removed is told, and looked for again.
func TestSweepTellsWhatItCouldNotRemove(t *testing.T) {
	dir := memory.Folder(t)
	plant(t, dir, map[string]string{tempName: "x", "A/" + tempName: "x"})
	f := openFolder(t, dir)
	f.sys = (&faulty{n: 1, killed: true}).calls(system.Patient)
	if left, err := f.Sweep(time.Now().Add(time.Hour)); left != 2 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
	f.Close()
	if _, err := f.Sweep(time.Now()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed folder: %v", err)
	}
}
