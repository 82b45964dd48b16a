package vault

import (
	"errors"
	"io/fs"

	"vaultwicket/cmd/internal/vault/disk"
)

// fileNotFound is the app's sentence for a target that cannot be seen.
func fileNotFound(asTyped string) error {
	return notFound.failure("File %q not found.", verbatim(asTyped))
}

func folderNotFound(asTyped string) error {
	return notFound.failure("Folder %q not found.", verbatim(asTyped))
}

// unreadable explains why a file could not be opened for reading.
func unreadable(asTyped string, err error) error {
	switch {
	case disk.IsHardLinked(err):
		return hardLinked(asTyped)
	case disk.IsMissing(err):
		return fileNotFound(asTyped)
	case errors.Is(err, disk.ErrInUse):
		return inUse(asTyped)
	case errors.Is(err, fs.ErrPermission):
		return failure("File %q cannot be read: permission denied.", verbatim(asTyped))
	}
	return err
}

// hardLinked explains why a file with further names is left alone: the rules say
// nothing about the places that these may be in.
func hardLinked(path string) error {
	return hardLinkDenied.failure("Access denied: %q has more than one hard link, and a part of this vault is hidden.", verbatim(path))
}

// inUse says that another program keeps a file from being opened or changed.
func inUse(path string) error {
	return inUseConflict.failure("File %q is open in another program. Nothing was changed.", verbatim(path))
}

// unwritten explains why a note could not be written.
func unwritten(path string, err error) error {
	var refusal *disk.Refusal
	switch {
	case err == nil:
		return nil
	case disk.IsHardLinked(err):
		return hardLinked(path)
	case errors.As(err, &refusal):
		return failure("File %q cannot be written: %q %s.", verbatim(path), verbatim(refusal.Path), refusal.Reason)
	case errors.Is(err, disk.ErrInUse):
		return inUse(path)
	case errors.Is(err, disk.ErrChanged):
		return conflict.failure("File %q was changed by somebody else at the same time. Nothing was written.", verbatim(path))
	case errors.Is(err, fs.ErrPermission):
		return failure("File %q cannot be written: permission denied.", verbatim(path))
	}
	return err
}

// errVaultNotFound is the one answer of the app that does not begin with
// "Error:".
var errVaultNotFound error = &fault{status: failed, kind: vaultNotFound, text: "Vault not found."}

// errNoActiveFile is the app's sentence for a call without a target while no
// note is open; the angle brackets are part of it.
func errNoActiveFile() error {
	return targetRequired.failure("No active file. Use file=<name> or path=<path> to specify a file.")
}
