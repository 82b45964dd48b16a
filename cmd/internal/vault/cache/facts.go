package cache

import (
	"vaultwicket/cmd/internal/vault/cache/wire"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/index"
	"vaultwicket/cmd/internal/vault/markdown"
)

// appendFacts writes facts behind b.
func appendFacts(b []byte, f *index.Facts) []byte {
	return f.Properties.AppendBinary(f.Note.AppendBinary(b))
}

// decodeFacts reads what appendFacts wrote. All texts share the one that is
// given.
func decodeFacts(text string) (*index.Facts, bool) {
	r := wire.NewReader(text)
	f := &index.Facts{Note: markdown.ReadNote(r), Properties: frontmatter.ReadProperties(r)}
	if !r.Done() {
		return nil, false
	}
	return f, true
}
