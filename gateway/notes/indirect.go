package notes

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/failure"
	"vaultwicket/policy"
)

// RejectIndirect refuses a path in the folder of a vault that leads to a file of another
// name: through a symbolic link, or because the file has further hard links. It returns
// nil where nothing is at the path, and where the folder is "" or cannot be opened.
func RejectIndirect(folder, note string) error {
	if folder == "" {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil // the app says what is wrong
	}
	defer root.Close()
	parts := strings.Split(note, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := root.Lstat(filepath.FromSlash(at))
		switch {
		case err != nil:
			return nil // nothing is at the path
		case info.Mode()&os.ModeSymlink != 0:
			// The embedded program answers in the same way.
			return failure.New(failure.CodeNotFound, "", "file %q not found", quote.Short(note))
		case info.Mode().IsRegular() && hardLinks(root, at, info) > 1:
			return failure.New(policy.CodeAccess, "the user can put a copy in the place of the hard link",
				"file %q has more than one hard link, and there are access rules", quote.Short(note))
		}
	}
	return nil
}
