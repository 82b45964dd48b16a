package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestFilesThatOthersCanWriteAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name                string
		around, folder, own string // entries of the folder above, the one of the file, and the file
		reason, mend        string
	}{
		{"of the user alone", "", "", "", "", ""},
		{"that everybody can read", "(A;OICI;FRFX;;;WD)", "(A;OICI;FRFX;;;WD)", "(A;;FR;;;WD)", "", ""},
		{"that everybody can write", "", "", "(A;;FA;;;WD)", "can be written by", "icacls"},
		{"in a folder of everybody", "", "(A;;FA;;;WD)", "", "is in the folder", "icacls"},
		{"below a folder of everybody", "(A;;FA;;;WD)", "", "", "is in the folder", "icacls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			around := filepath.Join(t.TempDir(), "around")
			file := filepath.Join(around, "folder", "config.toml")
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, os.WriteFile(file, []byte("tier = \"v1\"\n"), 0o600))
			testenv.AllowRights(t, file, tt.own)
			testenv.AllowRights(t, filepath.Dir(file), tt.folder)
			testenv.AllowRights(t, around, tt.around)
			_, _, err := NewFlags("run").Load(world(nil), []string{"--config=" + file})
			var wrong *terminal.UsageError
			switch {
			case tt.reason == "" && err != nil:
				t.Error(err)
			case tt.reason != "" && (!errors.As(err, &wrong) || !strings.Contains(wrong.Reason, tt.reason) || !strings.Contains(wrong.Advice, tt.mend)):
				t.Errorf("%v, want %q", err, tt.reason)
			}
		})
	}
}

func TestNoFileIsMadeWhereOthersCanReplaceIt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	testenv.AllowRights(t, folder, "(A;;FA;;;WD)")
	err := writeNew(filepath.Join(folder, "config.toml"), nil)
	require.That(t, err != nil, "%v", err)
	assert.Contains(t, err.Error(), "is in the folder", "%v", err)
	if made, _ := filepath.Glob(filepath.Join(folder, "*")); len(made) > 0 {
		t.Errorf("made %q", made)
	}
}
