package index

import (
	"encoding/json"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Found is what was found in a note or a canvas.
type Found struct {
	// Note is the scan of the body. Of a canvas it has only the links.
	markdown.Note
	// Properties are those of the frontmatter. A block that is no YAML has none, as in the
	// app.
	Properties frontmatter.Properties
}

// Facts are a Found in few bytes, because a vault has very many of them: an eighth of its
// size in memory. Each question is answered from the bytes, in microseconds. They are ""
// where nothing is known.
type Facts string

// Pack returns f as facts.
func (f *Found) Pack() Facts { return Facts(f.appendBinary(nil)) }

func (f *Found) appendBinary(b []byte) []byte {
	b = appendSized(b, func(b []byte) []byte { return appendNote(b, &f.Note) })
	return appendProperties(b, f.Properties)
}

// Known reports whether there are facts.
func (f Facts) Known() bool { return f != "" }

// Found returns everything at once.
func (f Facts) Found() *Found {
	packed, r := f.open()
	note := newReader(string(packed))
	return &Found{readNote(&note), readProperties(&r, frontmatter.MaxDepth)}
}

// open returns the packed note, and the reader of the properties, by value: none of them
// is allocated.
func (f Facts) open() (packed, reader) {
	r := newReader(string(f))
	note := packed(r.string())
	return note, r
}

// readListOf reads one list of the note.
func readListOf[T any](f Facts, n int, read func(*reader) []T) []T {
	note, _ := f.open()
	r := note.list(n)
	return read(&r)
}

// Properties returns those of the frontmatter.
func (f Facts) Properties() frontmatter.Properties {
	_, r := f.open()
	return readProperties(&r, frontmatter.MaxDepth)
}

// Tasks returns the tasks in the order of the text.
func (f Facts) Tasks() []markdown.Task { return readListOf(f, taskList, readTasks) }

// Headings returns the headings in the order of the text.
func (f Facts) Headings() []markdown.Heading { return readListOf(f, headingList, readHeadings) }

// HasBases reports whether there is a code block in the language of bases.
func (f Facts) HasBases() bool { return len(readListOf(f, baseList, readBases)) > 0 }

// BodyTags returns the tags of the text after the properties, in its order.
func (f Facts) BodyTags() []markdown.Tag { return readListOf(f, tagList, readTags) }

// Tags returns the tags with their "#", those of the properties first, each
// as often as it occurs.
func (f Facts) Tags() []string {
	note, r := f.open()
	var tags []string
	if mayNameTags(r.rest()) {
		tags = frontmatter.Tags(readProperties(&r, frontmatter.MaxDepth))
	}
	return note.appendTagTexts(tags)
}

// mayNameTags reports whether one of the packed properties may be called "tags", in any
// case. Most notes have none, and this is checked for all.
func mayNameTags(packed string) bool {
	for i := 1; i < len(packed); i++ {
		if packed[i]|0x20 == 'g' && packed[i-1]|0x20 == 'a' {
			return true
		}
	}
	return false
}

// Links returns all links, those of the properties first.
func (f Facts) Links() []markdown.Link {
	links := readListOf(f, linkList, readLinks)
	inProperties := frontmatter.Links(f.Properties())
	if len(inProperties) == 0 {
		return links
	}
	all := make([]markdown.Link, 0, len(inProperties)+len(links))
	for _, link := range inProperties {
		all = append(all, link.Link)
	}
	return append(all, links...)
}

// EachLink visits the links in the order of Links. The link that visit gets changes after
// it.
func (f Facts) EachLink(visit func(*markdown.Link)) {
	note, r := f.open()
	if strings.Contains(r.rest(), "[") { // few properties are links
		for _, link := range frontmatter.Links(readProperties(&r, frontmatter.MaxDepth)) {
			visit(&link.Link)
		}
	}
	note.eachLink(visit)
}

// Read returns the facts of a text as the file at a path; "" if files of that kind have
// none.
func Read(path disk.Path, text []byte) Facts { return read(path, text, false) }

// read is Read. With together it is for many files of which all are kept or none: their
// facts share pieces of memory, which takes less time than a piece for each.
func read(path disk.Path, text []byte, together bool) Facts {
	switch path.Ext() {
	case "md":
		p := packers.Get().(*packer)
		defer packers.Put(p)
		found := foundIn(p.scanner.Scan(text), text, p.properties.Parse)
		p.packed = found.appendBinary(p.packed[:0])
		if together {
			return Facts(p.shared.Copy(p.packed))
		}
		return Facts(p.packed)
	case "canvas":
		return readCanvas(text).Pack()
	}
	return ""
}

// IsRead reports whether the file at a path is of a kind that has facts.
func IsRead(path disk.Path) bool { return path.Ext() == "md" || path.Ext() == "canvas" }

// packer computes the facts of one note after the other in the same memory.
type packer struct {
	scanner    markdown.Scanner
	properties frontmatter.Parser
	packed     []byte
	shared     markdown.Arena
}

var packers = sync.Pool{New: func() any { return new(packer) }}

// ReadNote returns what is found in a text as a note.
func ReadNote(text []byte) *Found {
	found := foundIn(markdown.Scan(text), text, frontmatter.Parse)
	return &found
}

// foundIn adds the properties to the scan of a note.
func foundIn(note markdown.Note, text []byte, parse func([]byte) (frontmatter.Properties, error)) Found {
	found := Found{Note: note}
	block := text[note.Frontmatter.Start:note.Frontmatter.End]
	if properties, err := parse(block); err == nil {
		found.Properties = properties
	}
	return found
}

// readCanvas finds the links of a canvas: its file nodes, and the links of its text nodes
// (release notes of 1.12.0). A canvas that is no JSON has none.
func readCanvas(text []byte) *Found {
	var canvas struct {
		Nodes []struct {
			Type    string `json:"type"`
			File    string `json:"file"`
			Subpath string `json:"subpath"`
			Text    string `json:"text"`
		} `json:"nodes"`
	}
	found := &Found{}
	if json.Unmarshal(text, &canvas) != nil {
		return found
	}
	for _, node := range canvas.Nodes {
		switch node.Type {
		case "file":
			found.Links = append(found.Links, markdown.Link{
				Target: node.File + node.Subpath, Path: "/" + node.File, Subpath: node.Subpath, Embed: true,
			})
		case "text":
			text := markdown.Scan([]byte(node.Text))
			found.Links, found.Bases = append(found.Links, text.Links...), append(found.Bases, text.Bases...)
		}
	}
	return found
}
