package packaging

import (
	"bytes"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// skipped are folders of the repository that are no source.
var skipped = []string{".git", "dist", "stage"}

// TestTwoBuildsAreEqual: the program is the same, byte for byte, in whatever folder it is
// built, and does not contain the name of that folder. Everything is compiled once with
// -trimpath for this, so it is one of the long tests.
func TestTwoBuildsAreEqual(t *testing.T) {
	if !testenv.Long() {
		t.Skip("LONG_TESTS is not set")
	}
	first := built(t, filepath.Join(t.TempDir(), "one"))
	second := built(t, filepath.Join(t.TempDir(), "another", "and longer", "folder"))
	assert.That(t, bytes.Equal(first, second), "the builds differ: %d and %d bytes", len(first), len(second))
}

// built copies the source into a folder and builds the program there, as a release is built.
func built(t *testing.T, folder string) []byte {
	t.Helper()
	copySource(t, filepath.Join("..", ".."), folder)
	command := osexec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid= -X github.com/vaultwicket/vaultwicket/internal/release.commit=0123abcd", "-o",
		"program", "./cmd/vaultwicket")
	command.Dir = folder
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := require.Value(os.ReadFile(filepath.Join(folder, "program")))(t)
	assert.That(t, !bytes.Contains(program, []byte(folder)), "the program contains the name of the folder %s", folder)
	said, err := osexec.Command(filepath.Join(folder, "program"), "version").Output()
	require.Equal(t, err, nil, "%q", said)
	assert.Contains(t, string(said), "\ncommit 0123abcd\n")
	assert.Contains(t, string(said), "-trimpath=true")
	return program
}

func copySource(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains(skipped, entry.Name()) {
			return filepath.SkipDir
		}
		below, err := filepath.Rel(from, name)
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, below)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return err
		}
		return os.WriteFile(copied, content, 0o644)
	})
	require.NoError(t, err)
}
