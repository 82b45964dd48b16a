package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"vaultwicket/cmd/internal/vault/session"
)

// digestOf returns the digest of a change: of the files as they are, of what they
// would become and of the way there. A user who was shown a plan approves the
// change with its digest, and another change has another one.
//
// The text that a template makes at another minute is another text, so there the
// template counts in its place.
func digestOf(v *session.Vault, p Proposal) string {
	hash := sha256.New()
	item := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	item(v.Origin.Text)
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		item(s.Path.String())
		item(s.From.String())
		fmt.Fprintf(hash, "%t %t;", s.Trash, s.Before.Exists)
		item(string(s.Before.Text))
		fmt.Fprintf(hash, "%t %t;", s.After.Exists, v.Origin.Timed)
		if !v.Origin.Timed {
			item(string(s.After.Text))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
