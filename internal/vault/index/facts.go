package index

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Found is the parsed content of a note or a canvas.
type Found struct {
	// Note is the parsed body. For a canvas it has only links and bases.
	markdown.Note
	// Properties are those of the frontmatter. As in the app, there are none if it is not valid
	// YAML.
	Properties frontmatter.Properties
}

// Facts are an encoded [Found]. The encoding needs an eighth of the memory, because a vault has very many
// of them. Each method decodes what it needs, in microseconds. Facts are "" if nothing is known.
type Facts string

// Pack encodes f.
func (f *Found) Pack() Facts { return Facts(f.appendBinary(nil)) }

func (f *Found) appendBinary(b []byte) []byte {
	b = appendSized(b, func(b []byte) []byte { return appendNote(b, &f.Note) })
	return appendProperties(b, f.Properties)
}

// Found decodes all facts.
func (f Facts) Found() *Found {
	packed, r := f.open()
	note := newReader(string(packed))
	return &Found{readNote(&note), readProperties(&r, frontmatter.MaxDepth)}
}

// open returns the packed note and a reader of the properties, by value so that nothing is allocated.
func (f Facts) open() (packed, reader) {
	r := newReader(string(f))
	note := packed(r.string())
	return note, r
}

// listOf decodes one list of the note.
func listOf[T any](f Facts, l list[T]) []T {
	note, _ := f.open()
	r := note.list(l.index)
	return l.elements(&r)
}

// Properties returns the properties of the frontmatter.
func (f Facts) Properties() frontmatter.Properties {
	_, r := f.open()
	return readProperties(&r, frontmatter.MaxDepth)
}

// Tasks returns the tasks in the order of the text.
func (f Facts) Tasks() []markdown.Task { return listOf(f, taskList) }

// Headings returns the headings in the order of the text.
func (f Facts) Headings() []markdown.Heading { return listOf(f, headingList) }

// HasBases reports whether there is a code block with a base.
func (f Facts) HasBases() bool { return len(listOf(f, baseList)) > 0 }

// BodyTags returns the tags of the text after the frontmatter, in the order of the text.
func (f Facts) BodyTags() []markdown.Tag { return listOf(f, tagList) }

// Tags returns the tags with their "#", with duplicates, those of the properties first.
func (f Facts) Tags() []string {
	note, r := f.open()
	var tags []string
	// Most notes have no property named "tags" in any case. Searching for "ag" is faster than decoding them all.
	if containsAG(r.text[r.at:]) {
		tags = frontmatter.Tags(readProperties(&r, frontmatter.MaxDepth))
	}
	r = note.list(tagList.index)
	l := position{}
	count, _ := r.readCount(tagList.minSize)
	tags = slices.Grow(tags, count)
	for range count {
		tags = append(tags, r.string())
		l.read(&r)
	}
	return tags
}

// containsAG reports whether a text contains "ag" in any case.
func containsAG(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i]|0x20 == 'g' && text[i-1]|0x20 == 'a' {
			return true
		}
	}
	return false
}

// Links returns all links, those of the properties first.
func (f Facts) Links() []markdown.Link {
	links := listOf(f, linkList)
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

// EachLink calls visit for the links in the order of Links. The link is valid only during the call.
func (f Facts) EachLink(visit func(*markdown.Link)) {
	note, r := f.open()
	if strings.Contains(r.text[r.at:], "[") { // few properties are links
		for _, link := range frontmatter.Links(readProperties(&r, frontmatter.MaxDepth)) {
			visit(&link.Link)
		}
	}
	r = note.list(linkList.index)
	l := position{}
	var link markdown.Link // shared, to allocate only once
	count, _ := r.readCount(linkList.minSize)
	for range count {
		link = markdown.Link{}
		readLink(&r, &l, &link)
		visit(&link)
	}
}

// Read returns the facts of a text that is, or could be, the file at path. It returns "" if files of
// that kind have no facts.
func Read(path disk.Path, text []byte) Facts { return read(path, text, (*packer).facts) }

// readTogether is Read for many files whose facts are kept for the same time: they share blocks of
// memory, which is faster than an allocation for each.
func readTogether(path disk.Path, text []byte) Facts { return read(path, text, (*packer).sharedFacts) }

// read implements Read. keep copies the packed facts of a note out of the packer.
func read(path disk.Path, text []byte, keep func(*packer) Facts) Facts {
	switch path.Ext() {
	case "md":
		p := packers.Get().(*packer)
		defer packers.Put(p)
		found := foundIn(p.scanner.Scan(text), text, p.properties.Parse)
		p.packed = found.appendBinary(p.packed[:0])
		return keep(p)
	case "canvas":
		return readCanvas(text).Pack()
	}
	return ""
}

// readCanvas parses a canvas. Its links are its file nodes, the images of its groups, and the links in its text nodes
// (release notes of 1.12.0). A canvas that is not valid JSON has none.
func readCanvas(text []byte) *Found {
	var canvas struct {
		Nodes []struct {
			Type    string `json:"type"`
			File    string `json:"file"`
			Subpath string `json:"subpath"`
			Text    string `json:"text"`
			// Background is the path of the image of a group.
			Background string `json:"background"`
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
				Target:  node.File + node.Subpath,
				Path:    "/" + node.File,
				Subpath: node.Subpath,
				Embed:   true,
			})
		case "group":
			if node.Background != "" {
				image := markdown.Link{Target: node.Background, Path: "/" + node.Background, Embed: true}
				found.Links = append(found.Links, image)
			}
		case "text":
			note := markdown.Scan([]byte(node.Text))
			found.Links = append(found.Links, note.Links...)
			found.Bases = append(found.Bases, note.Bases...)
		}
	}
	return found
}

// IsRead reports whether the file at a path is of a kind that has facts.
func IsRead(path disk.Path) bool { return path.Ext() == "md" || path.Ext() == "canvas" }

// packer computes the facts of notes, one at a time, and reuses its memory.
type packer struct {
	scanner    markdown.Scanner
	properties frontmatter.Parser
	packed     []byte
	shared     markdown.Arena
}

// facts returns a copy of the packed facts.
func (p *packer) facts() Facts { return Facts(p.packed) }

// sharedFacts returns a copy of the packed facts in memory that is shared with other facts.
func (p *packer) sharedFacts() Facts { return Facts(p.shared.Copy(p.packed)) }

var packers = sync.Pool{New: func() any { return new(packer) }}

// ReadNote parses the text of a note.
func ReadNote(text []byte) *Found {
	found := foundIn(markdown.Scan(text), text, frontmatter.Parse)
	return &found
}

// foundIn adds the properties to a parsed note.
func foundIn(note markdown.Note, text []byte, parse func([]byte) (frontmatter.Properties, error)) Found {
	found := Found{Note: note}
	block := text[note.Frontmatter.Start:note.Frontmatter.End]
	if properties, err := parse(block); err == nil {
		found.Properties = properties
	}
	return found
}

// File is one file of the vault. It does not change.
type File struct {
	Path disk.Path
	// Stamp is the stamp at the time when the file was read. It is zero if the file was written
	// meanwhile, or is not read.
	Stamp system.Stamp
	// Filter has the trigrams of the text of a note. It is "" if the text was not read for this
	// index.
	Filter Trigrams

	settled  bool // the facts are valid as long as the stamp stays the same
	closed   bool // hidden because of its text; it has no facts
	hasFacts bool
	facts    atomic.Pointer[Facts] // nil while they are on the shelf
	shelf    atomic.Pointer[Shelf]
}

func newFile(path disk.Path, s system.Stamp, facts Facts) *File {
	f := &File{Path: path, Stamp: s, hasFacts: facts != ""}
	f.facts.Store(&facts)
	return f
}

// IsNote reports whether the file is a Markdown note.
func (f *File) IsNote() bool { return f.Path.Ext() == "md" }

// Settled reports whether the facts are valid as long as the stamp stays the same. They may not be if
// the file had just been written when it was read.
func (f *File) Settled() bool { return f.settled }

// HasFacts reports whether the file has facts, in memory or on a shelf.
func (f *File) HasFacts() bool { return f.hasFacts }

// Facts returns the facts of a note or a canvas. They are "" for other files and for files that could
// not be read.
func (f *File) Facts() Facts {
	if facts := f.facts.Load(); facts != nil {
		return *facts
	}
	facts := f.shelf.Load().Get(f)
	f.facts.Store(&facts)
	return facts
}

// Shelf returns facts that were removed from memory. Its functions must be safe for concurrent use.
type Shelf struct {
	// Get returns the facts of a file. It never fails: damaged facts are computed again.
	Get func(*File) Facts
	// GetAll calls give with the facts of those files that it can read together, and their indices
	// in files, from several goroutines.
	GetAll func(files []*File, give func(i int, facts Facts))
}

// fewShelved is the number of files up to which facts are read from the shelf one by one.
const fewShelved = 64

// unshelve loads the facts of many files into memory, as far as they can be read together.
func unshelve(files []*File) {
	var shelved []*File
	for _, f := range files {
		if f.facts.Load() == nil {
			shelved = append(shelved, f)
		}
	}
	if len(shelved) > fewShelved {
		shelved[0].shelf.Load().GetAll(shelved, func(i int, facts Facts) { shelved[i].facts.Store(&facts) })
	}
}

// Shelve removes the facts of a file from memory. They are read from the shelf when they are needed next.
func (f *File) Shelve(shelf *Shelf) {
	f.shelf.Store(shelf)
	f.facts.Store(nil)
}

// filesPerShare is how many files a goroutine processes at a time.
const filesPerShare = 64

// Collect calls compute with the facts of each file that has some, on all processors, and returns the
// results in the order of the files. The result of a file without facts is the zero value.
func Collect[T any](files []*File, compute func(Facts) T) []T {
	unshelve(files)
	results := make([]T, len(files))
	budget.InParallel(len(files), filesPerShare, func(start, end int) {
		for i := start; i < end; i++ {
			if files[i].HasFacts() {
				results[i] = compute(files[i].Facts())
			}
		}
	})
	return results
}
