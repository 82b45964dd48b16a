package index

import (
	"encoding/json"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Facts are what a note or a canvas holds.
type Facts struct {
	// Note is what stands in the body. Of a canvas it has the links alone.
	markdown.Note
	// Properties are those of the frontmatter. A block that is no YAML has none,
	// as in the app.
	Properties frontmatter.Properties
}

// AllTags returns the tags with their "#", those of the properties first, each
// as often as it occurs.
func (f *Facts) AllTags() []string {
	tags := frontmatter.Tags(f.Properties)
	for _, tag := range f.Tags {
		tags = append(tags, tag.Text)
	}
	return tags
}

// links returns all links, those of the properties first.
func (f *Facts) links() []markdown.Link {
	inProperties := frontmatter.Links(f.Properties)
	if len(inProperties) == 0 {
		return f.Links
	}
	links := make([]markdown.Link, 0, len(inProperties)+len(f.Links))
	for _, link := range inProperties {
		links = append(links, link.Link)
	}
	return append(links, f.Links...)
}

// Read returns what a text holds as the file at a path; nil if nobody looks
// through such files.
func Read(path disk.Path, text []byte) *Facts {
	if read := reader(path.Ext()); read != nil {
		return read(text)
	}
	return nil
}

// IsRead reports whether the file at a path is of a kind that holds facts.
func IsRead(path disk.Path) bool { return reader(path.Ext()) != nil }

// reader returns what looks through files with this extension, nil for those
// that nobody looks through.
func reader(extension string) func([]byte) *Facts {
	switch extension {
	case "md":
		return ReadNote
	case "canvas":
		return readCanvas
	}
	return nil
}

// ReadNote returns what a text holds as a note.
func ReadNote(text []byte) *Facts {
	facts := &Facts{Note: markdown.Scan(text)}
	block := text[facts.Frontmatter.Start:facts.Frontmatter.End]
	if properties, err := frontmatter.Parse(block); err == nil {
		facts.Properties = properties
	}
	return facts
}

// readCanvas finds the links of a canvas: its file nodes, and what its text
// nodes link to (release notes of 1.12.0). A canvas that is no JSON has none.
func readCanvas(text []byte) *Facts {
	var canvas struct {
		Nodes []struct {
			Type    string `json:"type"`
			File    string `json:"file"`
			Subpath string `json:"subpath"`
			Text    string `json:"text"`
		} `json:"nodes"`
	}
	facts := &Facts{}
	if json.Unmarshal(text, &canvas) != nil {
		return facts
	}
	for _, node := range canvas.Nodes {
		switch node.Type {
		case "file":
			facts.Links = append(facts.Links, markdown.Link{
				Target: node.File + node.Subpath, Path: "/" + node.File, Subpath: node.Subpath, Embed: true,
			})
		case "text":
			facts.Links = append(facts.Links, markdown.Scan([]byte(node.Text)).Links...)
		}
	}
	return facts
}
