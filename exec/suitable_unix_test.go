//go:build unix

package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// mendedBy is the command in the hint, by what is wrong.
var mendedBy = map[string]string{
	"every user": "sudo chmod o-w ", "belongs to another user": "sudo chown root ", "a group of users": "sudo chmod g-w ",
}

// foreignID is the number of a user and of a group that are not those of the test.
const foreignID = 4711

func TestTheWayToAProgramBelongsToTheUser(t *testing.T) {
	tests := []struct {
		name   string
		asRoot bool // only root can give folders away
		// make gets the folder of the test and the one of the program in it, and
		// returns the path under which the program is asked for.
		make func(top, dir, program string) (path string, err error)
		want string
	}{
		{"in a folder of the user", false, func(_, _, program string) (string, error) { return program, nil }, ""},
		{"in a sticky folder of everybody", false, func(_, dir, program string) (string, error) {
			return program, os.Chmod(dir, 0o777|os.ModeSticky)
		}, "every user"},
		{"below a sticky folder of everybody", false, func(top, _, program string) (string, error) {
			return program, os.Chmod(top, 0o777|os.ModeSticky)
		}, ""},
		{"in a folder of another user", true, func(_, dir, program string) (string, error) {
			return program, os.Chown(dir, foreignID, 0)
		}, "belongs to another user"},
		{"below a folder of another user", true, func(top, _, program string) (string, error) {
			return program, os.Chown(top, foreignID, 0)
		}, "belongs to another user"},
		{"in a folder of a foreign group", true, func(_, dir, program string) (string, error) {
			if err := os.Chown(dir, 0, foreignID); err != nil {
				return "", err
			}
			return program, os.Chmod(dir, 0o775)
		}, "a group of users"},
		{"in a folder that a foreign group only reads", true, func(_, dir, program string) (string, error) {
			return program, os.Chown(dir, 0, foreignID)
		}, ""},
		{"in a folder of the user's group", false, func(_, dir, program string) (string, error) {
			return program, os.Chmod(dir, 0o775)
		}, ""},
		{"through a link in a sticky folder of everybody", false, func(top, _, program string) (string, error) {
			return linked(top, program, func(dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) })
		}, "every user"},
		{"through a link in a folder of another user", true, func(top, _, program string) (string, error) {
			return linked(top, program, func(dir string) error { return os.Chown(dir, foreignID, 0) })
		}, "belongs to another user"},
		{"through two links, the second in a folder of another user", true, func(top, _, program string) (string, error) {
			second, err := linked(top, program, func(dir string) error { return os.Chown(dir, foreignID, 0) })
			if err != nil {
				return "", err
			}
			return filepath.Join(top, "first"), os.Symlink(second, filepath.Join(top, "first"))
		}, "belongs to another user"},
		{"through a link of the user", false, func(top, _, program string) (string, error) {
			return linked(top, program, func(string) error { return nil })
		}, ""},
		{"through a link without end", false, func(top, _, _ string) (string, error) {
			return filepath.Join(top, "loop"), os.Symlink("loop", filepath.Join(top, "loop"))
		}, "cannot be inspected"},
		{"with the rights of its owner", false, func(_, _, program string) (string, error) {
			return program, os.Chmod(program, 0o755|os.ModeSetuid)
		}, "set-uid"},
		{"with the rights of its group", false, func(_, _, program string) (string, error) {
			return program, os.Chmod(program, 0o755|os.ModeSetgid)
		}, "set-gid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.asRoot && os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			top := filepath.Join(t.TempDir(), "top")
			dir := filepath.Join(top, "bin")
			require.NoError(t, os.MkdirAll(dir, 0o755))
			writeProgram(t, filepath.Join(dir, "obsidian"), harmless)
			path := require.Value(tt.make(top, dir, filepath.Join(dir, "obsidian")))(t)
			_, err := New(Config{CLI: path}).App()
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (codeOf(err) != CodeUnsuitable || !strings.Contains(err.Error(), tt.want) || hintOf(err) == ""):
				t.Errorf("%v; want %q", err, tt.want)
			case mendedBy[tt.want] != "" && !strings.Contains(hintOf(err), "the user can run: "+mendedBy[tt.want]):
				t.Errorf("the hint is %q; want %q", hintOf(err), mendedBy[tt.want])
			}
		})
	}
}

// linked makes a link to a program in a folder that spoil does something to.
func linked(top, program string, spoil func(dir string) error) (path string, err error) {
	dir := filepath.Join(top, "links")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "obsidian")
	if err := os.Symlink(program, path); err != nil {
		return "", err
	}
	return path, spoil(dir)
}
