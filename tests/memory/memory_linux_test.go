package memory

import (
	"os"
	"testing"
)

func TestOnlyAFolderInMemoryIsUsed(t *testing.T) {
	for _, folder := range []string{"/proc", "/nowhere"} {
		if isFit(folder) || Holds(folder) {
			t.Errorf("%s is taken for a folder in memory", folder)
		}
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
