//go:build linux || darwin

package system

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// maxAttributes limits the bytes of the names of a file's extended attributes, and of each value.
const maxAttributes = 1 << 20

// CopyAttributes copies the extended attributes of a file, such as tags and comments, and on Linux also its
// access lists, to the new file that replaces it. It also preserves the creation time. It does as much as the
// system and the rights of the user allow.
func CopyAttributes(from, to *os.File) {
	defer copyOthers(from, to)
	_ = control(from, func(old int) error {
		size, err := unix.Flistxattr(old, nil)
		if err != nil || size <= 0 || size > maxAttributes {
			return err
		}
		names := make([]byte, size)
		if size, err = unix.Flistxattr(old, names); err != nil {
			return err
		}
		return control(to, func(replacement int) error {
			for name := range bytes.SplitSeq(bytes.TrimSuffix(names[:size], []byte{0}), []byte{0}) {
				copyAttribute(old, replacement, string(name))
			}
			return nil
		})
	})
}

func copyAttribute(from, to int, name string) {
	size, err := unix.Fgetxattr(from, name, nil)
	if err != nil || size > maxAttributes {
		return
	}
	value := make([]byte, size)
	if size, err = unix.Fgetxattr(from, name, value); err == nil {
		_ = unix.Fsetxattr(to, name, value[:size], 0)
	}
}
