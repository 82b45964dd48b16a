package gateway

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
)

// hiding stands for what hides notes of a vault besides the access rules: it is
// another one when the patterns are others. The zero value is no patterns.
type hiding [sha256.Size]byte

// hiding looks at the patterns of the vault. Where they cannot be read no call
// succeeds, so it does not matter what they are.
func (g *door) hiding() hiding {
	folder := g.target().folder
	if folder == "" {
		return hiding{}
	}
	name := filepath.Join(folder, ignoreFile)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return hiding{}
	}
	file, err := os.Open(name)
	if err != nil {
		return hiding{}
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return hiding{}
	}
	return hiding(sum.Sum(nil))
}
