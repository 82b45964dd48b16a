package memory

import (
	"os"
	"testing"

	"vaultwicket/tests/assert"
)

func TestOnlyAFolderInMemoryIsUsed(t *testing.T) {
	for _, folder := range []string{"/proc", "/nowhere"} {
		assert.That(t, !isFit(folder) && !Holds(folder), "%s is taken for a folder in memory", folder)
	}
	t.Setenv("TMPDIR", "/somewhere")
	if Use(); os.Getenv("TMPDIR") != "/somewhere" {
		t.Error("the folder of the user was not kept")
	}
	t.Setenv("TMPDIR", "")
	if Use(); isFit(place) != (os.TempDir() == place) {
		t.Errorf("temporary folders are in %s", os.TempDir())
	}
}
