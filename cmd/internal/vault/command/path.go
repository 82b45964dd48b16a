package command

import (
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/session"
)

// StepPath returns a path in an entry as the disk has it.
func StepPath(v *session.Vault, text string) (disk.Path, error) {
	at, err := ParseStepPath(text)
	if err != nil {
		return at, err
	}
	return v.NameOnDisk(at)
}

// ParseStepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func ParseStepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(text)
}
