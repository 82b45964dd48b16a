package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digestOf returns the digest of a change: of the files as they are, of what they
// would become and of the way there. A user who was shown a plan approves the
// change with its digest, and another change has another one.
//
// The text that a template makes at another minute is another text, so there the
// template counts in its place.
func (v *vault) digestOf(p proposal) string {
	hash := sha256.New()
	item := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	item(v.source.text)
	for _, s := range p.steps {
		if s.idle() {
			continue
		}
		item(s.path.String())
		item(s.from.String())
		fmt.Fprintf(hash, "%t %t;", s.trash, s.before.there)
		item(string(s.before.text))
		fmt.Fprintf(hash, "%t %t;", s.after.there, v.source.timed)
		if !v.source.timed {
			item(string(s.after.text))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
