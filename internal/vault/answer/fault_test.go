package answer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
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
			assert.Equal(t, said.Text(), test.want)
			assert.Equal(t, said.Status, ExitFailed)
		})
	}
}

// No answer has a path of the machine, in whatever error it was, and a fault of the disk has a code of its own.
func TestAFaultOfTheDiskHasItsCodeAndNoPath(t *testing.T) {
	cause := syscall.EIO
	secret := "/home/someone/elsewhere/file"
	for name, err := range map[string]error{
		"a path":          &fs.PathError{Op: "openat", Path: secret, Err: cause},
		"a link":          &os.LinkError{Op: "renameat", Old: secret, New: secret + "2", Err: cause},
		"a call":          &os.SyscallError{Syscall: "fstat", Err: cause},
		"one in another":  fmt.Errorf("walk: %w", &fs.PathError{Op: "open", Path: secret, Err: cause}),
		"one among other": errors.Join(errors.New("first"), &fs.PathError{Op: "open", Path: secret, Err: cause}),
		"a bare number":   cause,
	} {
		for form, said := range map[string]Reply{
			"bare":        Explain(err),
			"in one":      Explain(Failure("Nothing came of it: %v", err)),
			"of a file":   Explain(ReadError("n", err)),
			"of a folder": Explain(FolderReadError("n", err)),
			"of a vault":  Explain(VaultError(err)),
			"unusable":    Explain(Unusable(err, "Cannot use it")),
		} {
			assert.Equal(t, said.Kind.Code, protocol.CodeVaultUnreadable, "%s, %s: %s", name, form, said.Text())
			assert.That(t, !strings.Contains(said.Text(), "someone"), "%s, %s: %s", name, form, said.Text())
		}
	}
	kept := Explain(NoJournal.Failure("Cannot use the journal: %v", &fs.PathError{Op: "open", Path: secret, Err: cause}))
	assert.Equal(t, kept.Text(), "Error: Cannot use the journal: open: input/output error")
	assert.Equal(t, kept.Kind.Code, protocol.CodeStateUnavailable)
}

// What a user reads where a system closes a place to a program: macOS by its privacy protection (EPERM, and not EACCES,
// which is the right of a file), Windows by controlled folder access.
func TestWhatAUserReadsOfAPlaceThatTheSystemCloses(t *testing.T) {
	protected := &fs.PathError{Op: "open", Path: "n", Err: syscall.EPERM}
	forbidden := &fs.PathError{Op: "open", Path: "n", Err: syscall.EACCES}
	const allow = "System Settings, Privacy & Security, Files and Folders"
	for _, test := range []struct {
		what, goos string
		err        error
		said, hint string
	}{
		{"a note", "darwin", readErrorOn("darwin", "n", protected), "Error: File \"n\" cannot be read: macOS does not allow it.", allow},
		{"a note", "darwin", readErrorOn("darwin", "n", forbidden), "Error: File \"n\" cannot be read: permission denied.", "doctor"},
		{"a note", "linux", readErrorOn("linux", "n", protected), "Error: File \"n\" cannot be read: permission denied.", "doctor"},
		{"a folder", "darwin", folderReadErrorOn("darwin", "n", protected), "Error: Folder \"n\" cannot be read: macOS does not allow it.", allow},
		{"a folder", "darwin", folderReadErrorOn("darwin", "n", forbidden), "Error: Folder \"n\" cannot be read: permission denied.", "doctor"},
		{"the vault", "darwin", vaultErrorOn("darwin", protected), "Error: The folder of the vault cannot be opened: macOS does not allow it.", allow},
		{"the vault", "darwin", vaultErrorOn("darwin", forbidden), "Error: The folder of the vault cannot be opened: permission denied.", "doctor"},
		{"a note that is written", "darwin", writeErrorOn("darwin", "n", protected), "Error: File \"n\" cannot be written: macOS does not allow it.", allow},
		{"a note that the Finder locks", "darwin", writeErrorOn("darwin", "n", protected),
			"Error: File \"n\" cannot be written: macOS does not allow it.", "Get Info, Locked"},
		{"a note that is written", "darwin", writeErrorOn("darwin", "n", forbidden), "Error: File \"n\" cannot be written: permission denied.", "make room"},
		{"a note that is written", "windows", writeErrorOn("windows", "n", forbidden),
			"Error: File \"n\" cannot be written: permission denied.", "Ransomware protection"},
		{"a note that is written", "linux", writeErrorOn("linux", "n", forbidden), "Error: File \"n\" cannot be written: permission denied.", "make room"},
		{"a note that is open elsewhere", "windows", writeErrorOn("windows", "n", system.ErrInUse),
			"Error: File \"n\" is open in another program. Nothing was changed.", "try again in a moment"},
		{"the ignore file", "darwin", unusableOn("darwin", protected, "Cannot use it"), "Error: Cannot use it: macOS does not allow it to be read.", allow},
		{"the ignore file", "linux", unusableOn("linux", forbidden, "Cannot use it"), "Error: Cannot use it: open n: permission denied", "doctor"},
	} {
		reply := Explain(test.err)
		name := test.what + " on " + test.goos
		assert.Equal(t, reply.Text(), test.said, "%s: said", name)
		hasHint := strings.Contains(reply.Kind.Hint, test.hint)
		assert.That(t, hasHint, "%s: the hint is %q, want %q", name, reply.Kind.Hint, test.hint)
		isWritten := strings.Contains(test.said, "written") || strings.Contains(test.said, "open in another program")
		assert.That(t, isWritten || reply.Kind.Code == protocol.CodeVaultUnreadable, "%s: the code is %s", name, reply.Kind.Code)
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
		{"a temporary file", &os.PathError{Op: "write", Path: "/home/me/V/.vaultwicket-1.tmp", Err: syscall.ENOSPC},
			"Error: File \"n\" cannot be written: no space left on device."},
		{"two of them", &os.LinkError{Op: "rename", Old: "/home/me/V/a", New: "/home/me/V/b", Err: syscall.EIO},
			"Error: File \"n\" cannot be written: input/output error."},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := Explain(WriteError("n", test.err))
			assert.Equal(t, said.Text(), test.want)
			assert.Equal(t, said.Status, ExitFailed)
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
		assert.Equal(t, Explain(FileNotFound(test.name)).Text(), "Error: File "+test.want+" not found.", "%q: said", test.name)
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
		{writeErrorOn("linux", "n", os.ErrPermission), Unwritable},
		{WriteError("n", syscall.ENOSPC), Unwritable},
		{AllOf([]error{WriteError("n", disk.ErrChanged), os.ErrPermission}), Conflict},
	} {
		assert.Equal(t, Explain(test.err).Kind, test.want, "%v", test.err)
	}
}
