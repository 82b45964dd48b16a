package system

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What Windows answers while another program has a note open, and what this program makes of it: where the file system
// renames as POSIX does not, "access denied" for a file that may be written.
func TestAFileThatIsOpenInAnotherProgramIsInUse(t *testing.T) {
	for _, test := range []struct {
		name       string
		err        error
		attributes uint32
		opened     error
		want       error
	}{
		{"replaced", nil, 0, nil, nil},
		{"open elsewhere", codeAccessDenied, 0x20, nil, codeSharingViolation},
		{"open elsewhere, and kept in step by a cloud", codeAccessDenied, 0x420, nil, codeSharingViolation},
		{"open elsewhere, without attributes", codeAccessDenied, 0x80, nil, codeSharingViolation},
		{"open elsewhere for one program alone", codeAccessDenied, 0, codeSharingViolation, codeSharingViolation},
		{"read-only", codeAccessDenied, 0x21, nil, codeAccessDenied},
		{"a folder", codeAccessDenied, 0x10, nil, codeAccessDenied},
		{"not allowed by its access list", codeAccessDenied, 0, codeAccessDenied, codeAccessDenied},
		{"gone meanwhile", codeAccessDenied, 0, syscall.Errno(2), codeAccessDenied},
		{"the newer call says so itself", codeSharingViolation, 0, nil, codeSharingViolation},
		{"the disk is full", syscall.Errno(112), 0, nil, syscall.Errno(112)},
	} {
		err := replaceError(test.err, func() (uint32, error) { return test.attributes, test.opened })
		assert.That(t, err == test.want, "%s: %v, want %v", test.name, err, test.want)
	}
}

func TestCodesOfAFileInUse(t *testing.T) {
	for code, want := range map[syscall.Errno]bool{5: false, 2: false, 32: true, 33: true, 1224: true, 112: false} {
		wrapped := &os.LinkError{Op: "rename", Old: "a", New: "b", Err: code}
		assert.Equal(t, isWindowsInUse(wrapped), want, "code %d", code)
	}
	assert.That(t, !isWindowsInUse(nil), "another error is a file in use")
	assert.That(t, !isWindowsInUse(errors.New("other")), "another error is a file in use")
}

// A file that is in use for a moment is replaced, and what another program has saved in that moment is not lost: the
// look before each try sees it.
func TestEachTryOfAReplaceLooksFirst(t *testing.T) {
	saved := errors.New("the user has saved")
	for looks := 1; looks <= 40; looks++ {
		looked := 0
		tried := 0
		calls := Calls{
			Patience: Patience{InUse: isWindowsInUse, Sleep: func(time.Duration) {}},
			Around: func(func() error, string, ...string) error {
				tried++
				return replaceError(codeAccessDenied, func() (uint32, error) { return 0x20, nil })
			},
		}
		err := calls.Rename(nil, "draft", nil, "n.md", func() error {
			if looked++; looked == looks {
				return saved
			}
			return nil
		})
		assert.Equal(t, fmt.Sprint(looked, tried, err), fmt.Sprint(looks, looks-1, saved), "saved before try %d", looks)
	}
}
