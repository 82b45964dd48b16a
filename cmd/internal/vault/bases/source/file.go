package source

import (
	"path"
	"strings"
	"sync/atomic"
	"time"

	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/markdown"
)

// column is what is kept of a file: its properties.
type column struct {
	properties atomic.Pointer[frontmatter.Properties]
}

// of returns the properties of a file.
func (c *column) of(f *index.File) frontmatter.Properties {
	if known := c.properties.Load(); known != nil {
		return *known
	}
	var properties frontmatter.Properties
	if f.IsNote() && f.HasFacts() {
		properties = f.Facts().Properties()
	}
	c.properties.Store(&properties)
	return properties
}

// file is a file of the vault in a query. It implements [value.Entry].
type file struct {
	vault   *Vault
	place   int32
	indexed *index.File
	column  *column
}

func (f *file) Path() string { return f.indexed.Path.String() }

// link returns a link to the file that is shown by its name.
func (f *file) link() value.Value {
	full := f.Path()
	return value.OfLinkTo(f, strings.TrimSuffix(path.Base(full), path.Ext(full)))
}

func (f *file) Size() int64 {
	if f.indexed.Stamp != (system.Stamp{}) {
		return f.indexed.Stamp.Size
	}
	size, _, _ := f.look()
	return size
}

func (f *file) Modified() time.Time {
	if f.indexed.Stamp != (system.Stamp{}) {
		return time.Unix(0, f.indexed.Stamp.Modified)
	}
	_, _, modified := f.look()
	return modified
}

func (f *file) Created() time.Time {
	_, created, _ := f.look()
	return created
}

// look asks the disk. A file that is not there has the time of its stamp.
func (f *file) look() (size int64, created, modified time.Time) {
	opened, err := f.vault.Folder.Open(f.indexed.Path)
	if err != nil {
		return 0, time.Unix(0, f.indexed.Stamp.Modified), time.Unix(0, f.indexed.Stamp.Modified)
	}
	defer opened.Close()
	return opened.Info.Size(), opened.Born(), opened.Info.ModTime()
}

func (f *file) Property(name string) (value.Value, bool) {
	p, found := f.column.of(f.indexed).Lookup(name)
	if !found {
		return value.Value{}, false
	}
	return f.vault.property(p, f.Path()), true
}

func (f *file) Properties() value.Value {
	fields := &value.Fields{AnyCase: true}
	for _, p := range f.column.of(f.indexed) {
		fields.Keys = append(fields.Keys, p.Key)
		fields.Values = append(fields.Values, f.vault.property(p, f.Path()))
	}
	return value.OfFields(fields)
}

// Tags has each tag once, those of the properties first.
func (f *file) Tags() value.Value {
	var tags []value.Value
	known := map[string]bool{}
	for _, tag := range f.indexed.Facts().Tags() {
		if key := strings.ToLower(tag); !known[key] {
			known[key] = true
			tags = append(tags, value.OfTag(tag))
		}
	}
	return value.OfList(tags)
}

// Links are those of the properties, then those of the body, then the embeds.
func (f *file) Links() value.Value {
	if !f.indexed.HasFacts() {
		return value.OfList(nil)
	}
	found := f.indexed.Facts().Found()
	var links []value.Value
	for _, l := range frontmatter.Links(found.Properties) {
		links = append(links, value.OfTarget(value.Target{Text: l.Link.Target, Display: l.Link.Display, From: f.Path()}))
	}
	return value.OfList(append(append(links, f.shown(found, false)...), f.shown(found, true)...))
}

func (f *file) Embeds() value.Value {
	if !f.indexed.HasFacts() {
		return value.OfList(nil)
	}
	return value.OfList(f.shown(f.indexed.Facts().Found(), true))
}

// shown returns the links of the body, or its embeds, with the text that the app
// shows for each.
func (f *file) shown(found *index.Found, embeds bool) []value.Value {
	var links []value.Value
	for _, l := range found.Note.Links {
		if l.Embed != embeds {
			continue
		}
		links = append(links, value.OfTarget(value.Target{Text: l.Target, Display: shownText(l), From: f.Path()}))
	}
	return links
}

// shownText returns what the app shows for a link: what is written, else the
// target with its heading or block behind an angle bracket.
func shownText(l markdown.Link) string {
	if l.Display != "" {
		return l.Display
	}
	parts := strings.FieldsFunc(l.Target, func(r rune) bool { return r == '#' })
	return strings.Join(parts, " > ")
}
