//go:build unix

package ownerfiles

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What mends the place of a program that ordinary set-ups have.
func TestTheCommandThatMendsAProgram(t *testing.T) {
	for path, want := range map[string]string{
		"/Applications/Obsidian.app":                             `sudo chown -R root "/Applications/Obsidian.app"`,
		"/Applications/Obsidian.app/Contents/MacOS/obsidian-cli": `sudo chown -R root "/Applications/Obsidian.app"`,
		"/opt/Obsidian/obsidian-cli":                             `sudo chown root "/opt/Obsidian/obsidian-cli"`,
		"/opt/My.apps/obsidian-cli":                              `sudo chown root "/opt/My.apps/obsidian-cli"`,
	} {
		assert.Equal(t, chownRootCommand(path), want, "%s", path)
	}
}

// The group staff of macOS is everybody, also where it is the user's own.
func TestGroupsOfUsers(t *testing.T) {
	for _, test := range []struct {
		goos       string
		group, own uint32
		want       bool
	}{
		{"linux", 1000, 1000, false}, {"linux", 20, 20, false}, {"linux", 4711, 1000, true},
		{"darwin", 20, 20, true}, {"darwin", 501, 501, false}, {"darwin", 80, 20, true},
	} {
		assert.Equal(t, isGroupOfUsers(test.goos, test.group, test.own), test.want, "group %d on %s", test.group, test.goos)
	}
}
