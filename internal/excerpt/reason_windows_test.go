package excerpt

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestNoPathOfTheMachineIsInAReason(t *testing.T) {
	for path, want := range map[string]string{
		`C:\Users\me\a.md`:         "open: input/output error",
		`\\server\share\a.md`:      "open: input/output error",
		`\\?\C:\Users\me\a.md`:     "open: input/output error",
		`\Users\me\a.md`:           "open: input/output error",
		`/Users/me/a.md`:           "open: input/output error",
		`C:a.md`:                   "open: input/output error",
		`a.md`:                     "open a.md: input/output error",
		`.vaultwicket-0000000.tmp`: "open .vaultwicket-0000000.tmp: input/output error",
	} {
		assert.Equal(t, Reason(&fs.PathError{Op: "open", Path: path, Err: syscall.EIO}), want, path)
	}
}
