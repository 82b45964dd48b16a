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

// listOf reads one list of the note.
func listOf[T any](f Facts, l list[T]) []T {
	note, _ := f.open()
	r := note.list(l.place)
	return l.elements(&r)
}

// Properties returns those of the frontmatter.
func (f Facts) Properties() frontmatter.Properties {
	_, r := f.open()
	return readProperties(&r, frontmatter.MaxDepth)
}

// Tasks returns the tasks in the order of the text.
func (f Facts) Tasks() []markdown.Task { return listOf(f, taskList) }

// Headings returns the headings in the order of the text.
func (f Facts) Headings() []markdown.Heading { return listOf(f, headingList) }

// HasBases reports whether there is a code block in the language of bases.
func (f Facts) HasBases() bool { return len(listOf(f, baseList)) > 0 }

// BodyTags returns the tags of the text after the properties, in its order.
func (f Facts) BodyTags() []markdown.Tag { return listOf(f, tagList) }

// Tags returns the tags with their "#", those of the properties first, each
// as often as it occurs.
func (f Facts) Tags() []string {
	note, r := f.open()
	var tags []string
	// Most notes have no property that may be called "tags", in any case, and this is asked of all.
	packed := r.text[r.at:]
	for i := 1; i < len(packed); i++ {
		if packed[i]|0x20 == 'g' && packed[i-1]|0x20 == 'a' {
			tags = frontmatter.Tags(readProperties(&r, frontmatter.MaxDepth))
			break
		}
	}
	r = note.list(tagList.place)
	l := last{}
	count, _ := r.readCount(tagList.least)
	tags = slices.Grow(tags, count)
	for range count {
		tags = append(tags, r.string())
		l.read(&r)
	}
	return tags
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

// EachLink visits the links in the order of Links. The link that visit gets changes after
// it.
func (f Facts) EachLink(visit func(*markdown.Link)) {
	note, r := f.open()
	if strings.Contains(r.text[r.at:], "[") { // few properties are links
		for _, link := range frontmatter.Links(readProperties(&r, frontmatter.MaxDepth)) {
			visit(&link.Link)
		}
	}
	r = note.list(linkList.place)
	l := last{}
	var link markdown.Link // one for all: each takes memory of its own otherwise
	count, _ := r.readCount(linkList.least)
	for range count {
		link = markdown.Link{}
		readLink(&r, &l, &link)
		visit(&link)
	}
}

// Read returns the facts of a text as the file at a path; "" if files of that kind have
// none.
func Read(path disk.Path, text []byte) Facts { return read(path, text, (*packer).facts) }

// readTogether is Read for many files of which all are kept or none: their facts share pieces
// of memory, which takes less time than a piece for each.
func readTogether(path disk.Path, text []byte) Facts { return read(path, text, (*packer).sharedFacts) }

// read is Read; keep copies what was packed of a note.
func read(path disk.Path, text []byte, keep func(*packer) Facts) Facts {
	switch path.Ext() {
	case "md":
		p := packers.Get().(*packer)
		defer packers.Put(p)
		found := foundIn(p.scanner.Scan(text), text, p.properties.Parse)
		p.packed = found.appendBinary(p.packed[:0])
		return keep(p)
	case "canvas":
		// The links of a canvas: its file nodes, the images of its groups, and the links of its text nodes (release notes of 1.12.0). A
		// canvas that is no JSON has none.
		var canvas struct {
			Nodes []struct {
				Type    string `json:"type"`
				File    string `json:"file"`
				Subpath string `json:"subpath"`
				Text    string `json:"text"`
				// Background is the image of a group.
				Background string `json:"background"`
			} `json:"nodes"`
		}
		found := &Found{}
		if json.Unmarshal(text, &canvas) != nil {
			return found.Pack()
		}
		for _, node := range canvas.Nodes {
			switch node.Type {
			case "file":
				found.Links = append(found.Links, markdown.Link{
					Target: node.File + node.Subpath, Path: "/" + node.File, Subpath: node.Subpath, Embed: true,
				})
			case "group":
				if node.Background != "" {
					found.Links = append(
						found.Links,
						markdown.Link{Target: node.Background, Path: "/" + node.Background, Embed: true},
					)
				}
			case "text":
				text := markdown.Scan([]byte(node.Text))
				found.Links = append(found.Links, text.Links...)
				found.Bases = append(found.Bases, text.Bases...)
			}
		}
		return found.Pack()
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

// facts returns a copy of what was packed.
func (p *packer) facts() Facts { return Facts(p.packed) }

// sharedFacts returns a copy of what was packed in memory that is shared with others.
func (p *packer) sharedFacts() Facts { return Facts(p.shared.Copy(p.packed)) }

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

// File is one file of the vault. It does not change.
type File struct {
	Path disk.Path
	// Stamp is that of the moment in which the file was read. It is zero for a file that
	// was written meanwhile, and for one that is not read.
	Stamp system.Stamp
	// Filter is that of the text of a note. It is "" where the text was not read for this
	// index.
	Filter Trigrams

	settled  bool // the stamp can be trusted: as long as it stays, the facts do
	closed   bool // by its text: it has no facts
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

// Settled reports whether the facts are valid as long as the stamp stays the same.
func (f *File) Settled() bool { return f.settled }

// HasFacts reports whether there are facts, wherever they are.
func (f *File) HasFacts() bool { return f.hasFacts }

// Facts are those of a note or a canvas. They are "" for other files and for one that could
// not be read.
func (f *File) Facts() Facts {
	if facts := f.facts.Load(); facts != nil {
		return *facts
	}
	facts := f.shelf.Load().Get(f)
	f.facts.Store(&facts)
	return facts
}

// Shelf returns facts that were taken out of memory. It is used by several goroutines.
type Shelf struct {
	// Get returns the facts of a file. It never fails: damaged facts are computed again.
	Get func(*File) Facts
	// GetAll calls give for those of many files that it can read together, with the place
	// of each, from several goroutines.
	GetAll func(files []*File, give func(i int, facts Facts))
}

// fewShelved is how many files are read one by one.
const fewShelved = 64

// unshelve brings the facts of many files into memory, as far as they can be read together.
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

// Shelve takes the facts of a file out of memory. The shelf returns them when they are
// needed next.
func (f *File) Shelve(on *Shelf) {
	f.shelf.Store(on)
	f.facts.Store(nil)
}

// share is how many files one goroutine takes at a time.
const share = 64

// Collect calls ask for the facts of each file that has some, on all processors, and
// returns the results in the order of the files. That of a file without facts is the zero
// value.
func Collect[T any](files []*File, ask func(Facts) T) []T {
	unshelve(files)
	answers := make([]T, len(files))
	budget.InParallel(len(files), share, func(start, end int) {
		for i := start; i < end; i++ {
			if files[i].HasFacts() {
				answers[i] = ask(files[i].Facts())
			}
		}
	})
	return answers
}
