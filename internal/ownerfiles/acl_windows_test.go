package ownerfiles

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestForeignAccountsInDescriptors(t *testing.T) {
	const me = "S-1-5-21-1-2-3-1001"
	sids := []string{me, "S-1-5-18", "S-1-5-32-544", "S-1-3-0"}
	for _, tt := range []struct {
		descriptor string
		found      bool
	}{
		{"O:" + me + "D:P(A;OICI;FA;;;" + me + ")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", false},
		{"O:BAG:DUD:PAI(A;;FA;;;BA)(A;OICIIO;FA;;;CO)", false},
		{"O:BAD:P", false}, // no one has any right
		{"O:BAD:(D;;FA;;;WD)(A;;FA;;;SY)", false},
		{"O:BAD:(OD;;FA;;;WD)(XD;;FA;;;WD)", false},
		{"O:BAD:NO_ACCESS_CONTROL", true},
		{"O:BA", true},
		{"", true},
		{"O:BAD:AI(A;OICIID;FA;;;SY)(A;OICIID;0x1301bf;;;AU)", true},
		{"O:BAD:(A;;FR;;;BU)", true},
		{"O:BAD:(A;OICIIO;FA;;;WD)", true}, // for what is made in it
		{"O:BAD:(OA;;FA;;;WD)", true},
		{`O:BAD:(XA;;FX;;;S-1-1-0;(@User.Title=="PM"))`, true},
		{`O:BAD:(XA;;FX;;;` + me + `;(@User.Title=="PM"))`, true}, // not understood
		{"O:BAD:(A;;FA)", true},
		{"O:BAD:(A;;FA;;;S-1-5-21-1-2-3-1002)", true},
	} {
		assert.Equal(t, (foreignAccount(ParseDescriptor(tt.descriptor), sids) != ""), tt.found, "%s", tt.descriptor)
	}
}

func TestAFolderThatOthersCanAccessIsRefused(t *testing.T) {
	for _, entries := range []string{"(A;OICI;FR;;;WD)", "(A;OICI;FA;;;WD)"} {
		dir := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, Disk{}.Mkdir(dir))
		require.NoError(t, CheckFolder(dir))
		testenv.AllowRights(t, dir, entries)
		err := CheckFolder(dir)
		wantProblem(t, entries, err, Accessible)
		var unsafe *Unsafe
		if !errors.As(err, &unsafe) || unsafe.Account == "" || !strings.Contains(unsafe.Reason(), unsafe.Account) {
			t.Errorf("%s: %v does not say who", entries, err)
		} else if got := unsafe.Remedy(); !strings.HasPrefix(got, "icacls ") || !strings.Contains(got, "(OI)(CI)F") || !strings.Contains(got, unsafe.Account) {
			t.Errorf("%s: the remedy is %q", entries, got)
		}
		testenv.AllowRights(t, dir, "")
		require.NoError(t, CheckFolder(dir))
	}
}

// A folder is private wherever it is made, and so is what is made in it.
func TestAFolderInheritsNoRights(t *testing.T) {
	parent := t.TempDir()
	testenv.AllowRights(t, parent, "(A;OICI;FA;;;WD)")
	wantProblem(t, "the parent", CheckFolder(parent), Accessible)
	dir := filepath.Join(parent, "a", "b")
	require.NoError(t, MakeFolder(Disk{}, dir))
	require.NoError(t, CheckFolder(filepath.Dir(dir)))
	file := require.Value(Disk{}.Create(filepath.Join(dir, "file")))(t)
	require.NoError(t, file.Close())
	if _, err := Read(filepath.Join(dir, "file"), 1); err != nil {
		t.Error(err)
	}
	assert.ErrorIs(t, (Disk{}).Mkdir(dir), fs.ErrExist, "made twice")
}

func TestAFileThatOthersCanAccessIsRefused(t *testing.T) {
	name := newFile(t, "text")
	testenv.AllowRights(t, name, "(A;;FR;;;WD)")
	for what, err := range useAll(name) {
		wantProblem(t, what, err, Accessible)
	}
	assert.That(t, text(t, name) == "text", "it was changed")
	testenv.AllowRights(t, name, "")
	if content, err := Read(name, 10); err != nil || string(content) != "text" {
		t.Errorf("%q, %v", content, err)
	}
}
