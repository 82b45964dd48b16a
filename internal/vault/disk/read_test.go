package disk

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestStatAndOpenAgree(t *testing.T) {
	folder := openFolder(t, planted(t, map[string]string{"a/n.md": "12345"}))
	for path, there := range map[string]bool{"a/n.md": true, "a": false, "a/x.md": false, "a/n.md/x": false, "b/n.md": false} {
		info, err := folder.Stat(mustPath(t, path))
		assert.Equal(t, err == nil, there, "Stat(%s): %v", path, err)
		assert.That(t, !there || info.Size() == 5, "Stat(%s): %v", path, err)
		file, err := folder.Open(mustPath(t, path))
		assert.That(t, (err == nil) == there, "Open(%s): %v", path, err)
		if err == nil {
			file.Close()
		} else if !IsMissing(err) {
			t.Errorf("%s is not missing: %v", path, err)
		}
	}
}

func TestBornIsNotAfterTheLastChange(t *testing.T) {
	file := require.Value(openFolder(t, planted(t, map[string]string{"n.md": ""})).Open(mustPath(t, "n.md")))(t)
	defer file.Close()
	// The two clocks of a file system may differ by a tick.
	if born := file.Born(); born.IsZero() || born.After(file.Info.ModTime().Add(time.Second)) {
		t.Errorf("born %v, changed %v", born, file.Info.ModTime())
	}
}

func TestOpenWantsAFolder(t *testing.T) {
	dir := planted(t, map[string]string{"n.md": ""})
	_, err := Open(filepath.Join(dir, "n.md"))
	assert.That(t, err != nil, "a file was opened as a vault")
	_, err = Open(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist, "a missing folder")
}

func TestAFileOutlivesItsFolder(t *testing.T) {
	folder := require.Value(Open(planted(t, map[string]string{"n.md": "text"})))(t)
	file := require.Value(folder.Open(mustPath(t, "n.md")))(t)
	defer file.Close()
	folder.Close()
	got, err := readAll(file, MaxNote)
	require.NoError(t, err)
	assert.Equal(t, string(got), "text")
}

func TestAFolderSwappedForALinkLeadsNowhere(t *testing.T) {
	outer := t.TempDir()
	plant(t, outer, map[string]string{"other/n.md": "secret", "vault/sub/n.md": "mine"})
	folder := openFolder(t, filepath.Join(outer, "vault"))
	exchanges := startSwapper(t, filepath.Join(outer, "vault"), "sub", "other")
	defer exchanges.stop()
	for range 2000 {
		text, err := folder.Read(mustPath(t, "sub/n.md"))
		assert.That(t, err != nil || string(text) == "mine", "read %q", text)
	}
}

func TestMessages(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&Refusal{Path: "a.md", Reason: "is a folder"}, `"a.md" is a folder`},
		{&SizeError{Path: "a.md", Size: 9, Limit: 5}, `"a.md" has 9 bytes: at most 5`},
	} {
		assert.Equal(t, test.err.Error(), test.want)
	}
}
