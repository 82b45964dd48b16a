package fake

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// file is a file that is no note.
type file struct{ path, text string }

// settings are the records of the app. Two folders are excluded: one by its
// name, one by an expression.
var settings = []file{
	{".obsidian/app.json", `{"userIgnoreFilters": ["Archive/", "/^Drafts\\//"], "alwaysUpdateLinks": true}`},
	{".obsidian/daily-notes.json", `{"folder": "Daily", "format": "YYYY-MM-DD"}`},
	{".obsidian/templates.json", `{"folder": "Templates"}`},
	{".obsidian/types.json", `{"types": {"aliases": "aliases", "cssclasses": "multitext", "tags": "tags", "due": "date", "rank": "number", "done": "checkbox"}}`},
	{".trash/gone.md", "[[Index]] #gone\n- [ ] gone\n"},
	{"LICENSE", "a file without an ending\n"},
	{"Overview.base", "views:\n  - type: table\n    name: All\n"},
}

// others returns everything but the notes.
func (p *plan) others() []file {
	r := p.chance(otherStream)
	files := append([]file(nil), settings...)
	for _, name := range p.pictures {
		files = append(files, file{name, fmt.Sprintf("picture %d [[Index]]\n", r.Uint32())})
	}
	for i := range max(len(p.notes)/200, 2) {
		files = append(files, file{p.free(pick(r, p.folders), fmt.Sprintf("Board %d", i), ".canvas"), p.canvas(r)})
	}
	return files
}

// canvas links to notes by nodes and by the text of nodes; one of its files is
// gone.
func (p *plan) canvas(r *rand.Rand) string {
	type node struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		File   string `json:"file,omitempty"`
		Text   string `json:"text,omitempty"`
		X      int    `json:"x"`
		Y      int    `json:"y"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	}
	g := &page{Rand: r, plan: p}
	nodes := []node{{Type: "file", File: "Gone/away.md"}}
	for range 3 + r.IntN(5) {
		nodes = append(nodes, node{Type: "file", File: p.target(r)}, node{Type: "text", Text: "# Board\n" + g.sentence()})
	}
	for i := range nodes {
		nodes[i].ID = fmt.Sprintf("%016x", i)
		nodes[i].X = i * 300
		nodes[i].Width = 250
		nodes[i].Height = 60
	}
	text, _ := json.MarshalIndent(map[string]any{"nodes": nodes, "edges": []string{}}, "", "\t") // text and numbers always encode
	return string(text)
}
