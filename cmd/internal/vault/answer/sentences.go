package answer

import (
	"errors"
	"fmt"
	"io/fs"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
)

// FileNotFound is the app's sentence for a target that cannot be seen.
func FileNotFound(asTyped string) error {
	return &Fault{Status: ExitFailed, kind: NotFound, Text: fmt.Sprintf("Error: File %q not found.", Verbatim(asTyped)), missing: Missing{Typed: asTyped}}
}

// FolderNotFound is the app's sentence for a folder that cannot be seen.
func FolderNotFound(asTyped string) error {
	return &Fault{Status: ExitFailed, kind: NotFoundFolder, Text: fmt.Sprintf("Error: Folder %q not found.", Verbatim(asTyped)), missing: Missing{Typed: asTyped, Folder: true}}
}

// BaseNotFound is the app's sentence for a base that cannot be seen.
func BaseNotFound(asTyped string) error {
	return &Fault{Status: ExitFailed, kind: NotFound, Text: "Error: Base file not found: " + asTyped, missing: Missing{Typed: asTyped, Ext: "base"}}
}

// ReadError explains why a file could not be opened for reading.
func ReadError(asTyped string, err error) error {
	switch {
	case disk.IsHardLinked(err):
		return hardLinked(asTyped)
	case disk.IsMissing(err):
		return FileNotFound(asTyped)
	case errors.Is(err, system.ErrInUse):
		return inUse(asTyped)
	case system.IsFetching(err):
		return InCloud.Failure("File %q is in the cloud and could not be fetched.", Verbatim(asTyped))
	case errors.Is(err, fs.ErrPermission):
		return Failure("File %q cannot be read: permission denied.", Verbatim(asTyped))
	}
	return err
}

// hardLinked explains why a file with further names is left alone: the rules say
// nothing about the places that these may be in.
func hardLinked(path string) error {
	return HardLinkDenied.Failure("Access denied: %q has more than one hard link, and a part of this vault is hidden.", Verbatim(path))
}

// inUse says that another program keeps a file from being opened or changed.
func inUse(path string) error {
	return InUseConflict.Failure("File %q is open in another program. Nothing was changed.", Verbatim(path))
}

// WriteError explains why a note could not be written.
func WriteError(path string, err error) error {
	var refusal *disk.Refusal
	switch {
	case err == nil:
		return nil
	case disk.IsHardLinked(err):
		return hardLinked(path)
	case errors.As(err, &refusal):
		return Failure("File %q cannot be written: %q %s.", Verbatim(path), Verbatim(refusal.Path), refusal.Reason)
	case errors.Is(err, system.ErrInUse):
		return inUse(path)
	case errors.Is(err, disk.ErrChanged):
		return Conflict.Failure("File %q was changed by another program at the same time. Nothing was written.", Verbatim(path))
	case errors.Is(err, fs.ErrPermission):
		return Failure("File %q cannot be written: permission denied.", Verbatim(path))
	}
	return err
}

// ErrVaultNotFound is the one answer of the app that does not begin with
// "Error:".
var ErrVaultNotFound error = &Fault{Status: ExitFailed, kind: VaultNotFound, Text: "Vault not found."}

// NoActiveFile is the app's sentence for a call without a target while no
// note is open; the angle brackets are part of it.
func NoActiveFile() error {
	return TargetRequired.Failure("No active file. Use file=<name> or path=<path> to specify a file.")
}
