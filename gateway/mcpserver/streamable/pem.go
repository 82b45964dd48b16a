package streamable

import (
	"fmt"
	"io"
	"os"
)

// maxPEM bounds a file of certificates or of a key in bytes. A chain takes some
// ten thousand.
const maxPEM = 1 << 20

const pemHint = "name a file in PEM form"

// readPEM reads the file that a setting names. It may be a link, as programs that
// renew certificates make, but must lead to a regular file: to open a pipe would
// wait for a writer. The error is a *SettingError; it holds nothing of the file.
func readPEM(setting, path string) ([]byte, error) {
	fail := func(reason, hint string, cause error) ([]byte, error) {
		return nil, &SettingError{Setting: setting, Value: path, Reason: reason, hint: hint, cause: cause}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fail("cannot be read", pemHint, err)
	case !info.Mode().IsRegular():
		return fail("is not a regular file", pemHint, nil)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return fail("cannot be read", pemHint, err)
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fail("is not a regular file", pemHint, err)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxPEM+1))
	switch {
	case err != nil:
		return fail("cannot be read", pemHint, err)
	case len(text) > maxPEM:
		return fail(fmt.Sprintf("is larger than %d bytes", maxPEM), pemHint, nil)
	}
	return text, nil
}
