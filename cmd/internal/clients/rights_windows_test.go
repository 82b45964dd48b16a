package clients

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// everybodys reports whether every user has one of the rights to a file.
func everybodys(t *testing.T, name string, wanted ownerfiles.Rights) bool {
	t.Helper()
	descriptor := require.Value(ownerfiles.DescriptorOf(name))(t)
	found := require.Value(descriptor.Check(wanted))(t)
	return found.Account != ""
}

func TestTheAccessListStays(t *testing.T) {
	for _, tt := range []struct{ file, folder string }{{"", "(A;OICI;FA;;;WD)"}, {"(A;;FR;;;WD)", ""}} {
		m, c := newMachine(t, "windows"), client(t, "cursor")
		name := m.System.File(c, User)
		text := "{\"secret\": 1}\n"
		write(t, name, &text)
		testenv.AllowRights(t, name, tt.file)
		testenv.AllowRights(t, filepath.Dir(name), tt.folder)
		m.install(t, c, User, server("vaultwicket"))
		assert.Equal(t, everybodys(t, name, ownerfiles.AllRights), (tt.file != ""), "%+v: everybody has rights", tt)
	}
}

func TestBackupsAreTheUsersAlone(t *testing.T) {
	m, c := newMachine(t, "windows"), client(t, "cursor")
	name := m.System.File(c, User)
	text := "{\"secret\": 1}\n"
	write(t, name, &text)
	around := filepath.Dir(m.Backups)
	require.NoError(t, os.MkdirAll(around, 0o700))
	testenv.AllowRights(t, around, "(A;OICI;FA;;;WD)")
	change := require.Value(m.Install(c, User, server("vaultwicket"), false))(t)
	backup, err := change.Write(context.Background())
	require.NoError(t, err)
	assert.NoError(t, ownerfiles.CheckFolder(filepath.Dir(backup)))
	assert.That(t, !everybodys(t, backup, ownerfiles.AllRights), "everybody has rights to %q", backup)
	testenv.AllowRights(t, filepath.Dir(backup), "(A;OICI;FR;;;WD)")
	change, err = m.Uninstall(c, User, "vaultwicket")
	require.NoError(t, err)
	_, err = change.Write(context.Background())
	wantError(t, err, terminal.ExitNotReady, "the folder for backups")
}
