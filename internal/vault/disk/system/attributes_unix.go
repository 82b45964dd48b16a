//go:build linux || darwin

package system

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// maxAttributes bounds the names of the extended attributes of a file, and each of their values, in bytes.
const maxAttributes = 1 << 20

// CopyAttributes gives a new file the extended attributes of the one that it replaces, such as tags and comments, on Linux
// access lists, too, and its time of creation, as far as the system and the rights of the user allow it.
func CopyAttributes(from, to *os.File) {
	defer keepMore(from, to)
	_ = control(from, func(old int) error {
		size, err := unix.Flistxattr(old, nil)
		if err != nil || size <= 0 || size > maxAttributes {
			return err
		}
		names := make([]byte, size)
		if size, err = unix.Flistxattr(old, names); err != nil {
			return err
		}
		return control(to, func(made int) error {
			for name := range bytes.SplitSeq(bytes.TrimSuffix(names[:size], []byte{0}), []byte{0}) {
				copyAttribute(old, made, string(name))
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
