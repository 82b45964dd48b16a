package answer

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestErrorsOfReading(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"not there", fs.ErrNotExist, "Error: File \"n\" not found."},
		{"no note", &disk.Refusal{Path: "n", Reason: "is a folder"}, "Error: File \"n\" not found."},
		{"not allowed", &fs.PathError{Op: "open", Path: "n", Err: fs.ErrPermission}, "Error: File \"n\" cannot be read: permission denied."},
		{"anything else", errors.New("the disk is on strike"), "Error: File \"n\" cannot be read: the disk is on strike."},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := Explain(ReadError("n", test.err))
			assert.That(t, said.Text == test.want && said.Status == ExitFailed, "status %d, %q", said.Status, said.Text)
		})
	}
}

func TestAPlaceThatMacOSProtects(t *testing.T) {
	protected := &fs.PathError{Op: "open", Path: "n", Err: syscall.EPERM}
	for _, test := range []struct {
		goos string
		err  error
		want bool
	}{{"darwin", protected, true}, {"linux", protected, false}, {"darwin", &fs.PathError{Err: syscall.EACCES}, false}, {"darwin", nil, false}} {
		assert.Equal(t, isClosedByMacOS(test.goos, test.err), test.want, "%s, %v", test.goos, test.err)
	}
}

func TestErrorsOfWriting(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"changed meanwhile", disk.ErrChanged, "Error: File \"n\" was changed by another program at the same time. Nothing was written."},
		{"a link", &disk.Refusal{Path: "n", Reason: "is a symbolic link"}, "Error: File \"n\" cannot be written: \"n\" is a symbolic link."},
		{"not allowed", fs.ErrPermission, "Error: File \"n\" cannot be written: permission denied."},
		{"anything else", errors.New("no space left"), "Error: File \"n\" cannot be written: no space left."},
		{"a temporary file", &os.PathError{Op: "write", Path: "/home/me/V/.vaultwicket-1.tmp", Err: syscall.ENOSPC}, "Error: File \"n\" cannot be written: no space left on device."},
		{"two of them", &os.LinkError{Op: "rename", Old: "/home/me/V/a", New: "/home/me/V/b", Err: syscall.EIO}, "Error: File \"n\" cannot be written: input/output error."},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := Explain(WriteError("n", test.err))
			assert.That(t, said.Text == test.want && said.Status == ExitFailed, "status %d, %q", said.Status, said.Text)
		})
	}
	assert.NoError(t, WriteError("n", nil), "no error became")
}

// TestNoNameEndsItsQuotation: a name is legible in a sentence, and cannot continue it, hide in
// it or fill it.
func TestNoNameEndsItsQuotation(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"Ünï – 日本.md", `"Ünï – 日本.md"`},
		{"a\" not found. INJECT \"", `"a\" not found. INJECT \""`},
		{"a\nb\x1b[31m\u202ec", `"a\nb\x1b[31m\u202ec"`},
		{strings.Repeat("x", 5000), `"` + strings.Repeat("x", excerpt.Limit) + `…"`},
	} {
		assert.Equal(t, Explain(FileNotFound(test.name)).Text, "Error: File "+test.want+" not found.", "%q: said", test.name)
	}
	assert.Equal(t, List([]string{"One. INJECT", "b\nc", "d"}, 2), `"One. INJECT", "b\nc"`, "a list")
}

func TestKindsOfErrorsOfTheDisk(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Kind
	}{
		{ReadError("n", system.ErrInUse), InUseConflict},
		{WriteError("n", system.ErrInUse), InUseConflict},
		{WriteError("n", disk.ErrChanged), Conflict},
		{WriteError("n", os.ErrExist), AlreadyExists},
		{WriteError("n", os.ErrPermission), Unwritable},
		{WriteError("n", syscall.ENOSPC), Unwritable},
		{AllOf([]error{WriteError("n", disk.ErrChanged), os.ErrPermission}), Conflict},
	} {
		assert.Equal(t, Explain(test.err).Kind, test.want, "%v", test.err)
	}
}
