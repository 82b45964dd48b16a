package query

import "vaultwicket/cmd/internal/vault/markdown"

// fakeNote is a note in memory. It remembers what it was asked for.
type fakeNote struct {
	path       string
	text       []byte
	properties []Property
	asked      []string
}

func (n *fakeNote) Path() string { return n.path }

func (n *fakeNote) Text() []byte {
	n.asked = append(n.asked, "text")
	return n.text
}

func (n *fakeNote) Properties() []Property {
	n.asked = append(n.asked, "properties")
	return n.properties
}

func (n *fakeNote) Scan() *markdown.Note {
	n.asked = append(n.asked, "scan")
	found := markdown.Scan(n.text)
	return &found
}
