package gateway

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"

	"vaultwicket/policy"
)

// hiding stands for what hides notes of a vault: it is another one when the
// patterns or the policy are others. A call that is under way while they change
// has read under the earlier ones, so what it keeps must not be shown later.
type hiding struct {
	patterns [sha256.Size]byte // zero for none
	policy   *policy.Policy
}

// hiding looks at what hides notes of the vault.
func (g *door) hiding() hiding { return hiding{patternsOf(g.target().folder), g.policy.Load()} }

// patternsOf returns the digest of the patterns of a vault. Where they cannot be
// read no call succeeds, so it does not matter what they are.
func patternsOf(folder string) (digest [sha256.Size]byte) {
	if folder == "" {
		return digest
	}
	name := filepath.Join(folder, ignoreFile)
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return digest
	}
	file, err := os.Open(name)
	if err != nil {
		return digest
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return digest
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
