package vault

import "vaultwicket/cmd/internal/vault/disk"

// stepPath returns a path in an entry as the disk has it.
func (v *vault) stepPath(text string) (disk.Path, error) {
	at, err := stepPath(text)
	if err != nil {
		return at, err
	}
	return v.asListed(at)
}

// stepPath returns the path in an entry, which is judged as if it came from
// anywhere.
func stepPath(text string) (disk.Path, error) {
	if text == disk.Bookmarks().String() {
		return disk.Bookmarks(), nil
	}
	return disk.ParsePath(text)
}
