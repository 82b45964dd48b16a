package bases

import (
	"cmp"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// Config describes the vault of a query.
type Config struct {
	Folder *disk.Folder
	Index  *index.Index
	// Types are the types that the user has assigned to properties, by lower-case name.
	Types map[string]string
	// Now is the time of the query, in the local time zone.
	Now time.Time
	// Excluded, if it is not nil, reports whether a file is never a row. Links still lead to it.
	Excluded func(path string) bool
	// This is the path of the file that "this" stands for, or "".
	This string
}

// Vault is a vault for one query. It is safe for concurrent use.
type Vault struct {
	Config
	files  []file
	memory *Memory
}

// Memory caches the properties of notes and the order of names between queries. The zero Memory is empty. It
// is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	index   *index.Index
	columns []column // by place in index
	byName  []int32
}

// Forget empties the cache.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.index = nil
	m.columns = nil
	m.byName = nil
}

// New returns the vault of a query. It reuses the cached properties of files that have not changed since the
// last query.
func (m *Memory) New(c Config) *Vault {
	x := c.Index
	m.mu.Lock()
	if m.index != x {
		m.follow(x)
	}
	columns := m.columns
	m.mu.Unlock()
	v := &Vault{Config: c, memory: m, files: make([]file, len(x.Files))}
	for i, f := range x.Files {
		v.files[i] = file{vault: v, place: int32(i), indexed: f, column: &columns[i]}
	}
	return v
}

// follow makes the cache one for another index, with the cached properties of unchanged files. The caller holds m.mu.
func (m *Memory) follow(x *index.Index) {
	columns := make([]column, len(x.Files))
	if m.index != nil {
		cached := make(map[*index.File]*column, len(m.index.Files))
		for i, f := range m.index.Files {
			cached[f] = &m.columns[i]
		}
		for i, f := range x.Files {
			if c := cached[f]; c != nil {
				columns[i].properties.Store(c.properties.Load())
			}
		}
	}
	m.index = x
	m.columns = columns
	m.byName = nil
}

// Source returns the files of the vault for [Base.Run].
func (v *Vault) Source() Source {
	s := Source{
		Environment: formula.Environment{
			World:     formula.World{Now: v.Now, Resolve: v.resolve},
			Backlinks: v.backlinks,
			Leads:     v.leads,
			Dangles:   v.dangles,
			Random:    rand.Float64,
			This:      v.Entry(v.This),
		},
		Files:  make([]formula.Entry, len(v.files)),
		ByName: v.byName,
	}
	for i := range v.files {
		s.Files[i] = &v.files[i]
	}
	if v.Excluded == nil {
		return s
	}
	return s.Only(func(e formula.Entry) bool { return !v.Excluded(e.Path()) })
}

// resolve implements Resolve of [formula.World].
func (v *Vault) resolve(target, from string) formula.Entry {
	// A link with only a heading or block leads to its own file.
	name, _, _ := strings.Cut(target, "#")
	if place, ok := v.Index.ResolveFrom(name, from); ok {
		return &v.files[place]
	}
	return nil
}

// backlinks implements Backlinks of [formula.Environment].
func (v *Vault) backlinks(to formula.Entry) formula.Value {
	edges := v.Index.Graph().In(int(to.(*file).place))
	return formula.OfUnmade(len(edges), func() []formula.Value {
		links := make([]formula.Value, len(edges))
		for i, edge := range edges {
			from := &v.files[edge.Place]
			full := from.Path()
			links[i] = formula.OfLinkTo(from, strings.TrimSuffix(path.Base(full), path.Ext(full)))
		}
		return links
	})
}

// leads implements Leads of [formula.Environment].
func (v *Vault) leads(from, to formula.Entry) bool {
	edges := v.Index.Graph().Out(int(from.(*file).place))
	byPlace := func(e index.Edge, place int32) int { return cmp.Compare(e.Place, place) }
	_, isLinked := slices.BinarySearchFunc(edges, to.(*file).place, byPlace)
	return isLinked
}

// dangles implements Dangles of [formula.Environment].
func (v *Vault) dangles(from formula.Entry, path string) bool {
	missing := v.Index.Graph().Unresolved(int(from.(*file).place))
	wanted := bare(path) // the form in which the index has unresolved links
	return slices.ContainsFunc(missing, func(m index.Missing) bool { return strings.EqualFold(bare(m.Key), wanted) })
}

// byName implements ByName of [Source].
func (v *Vault) byName() []int32 {
	x := v.Index
	m := v.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.index == x && m.byName != nil {
		return m.byName
	}
	names := make([]string, len(x.Files))
	places := make([]int32, len(x.Files))
	for i, f := range x.Files {
		names[i] = strings.TrimSuffix(path.Base(f.Path.String()), ".md") // file.name
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(a, b int32) int {
		// Files are in the order of their paths.
		return cmp.Or(filenames.Compare(names[a], names[b]), cmp.Compare(a, b))
	})
	if m.index == x {
		m.byName = places
	}
	return places
}

// Entry returns the file at a path, or nil if there is none.
func (v *Vault) Entry(path string) formula.Entry {
	if place, ok := v.Index.Place(path); ok && path != "" {
		return &v.files[place]
	}
	return nil
}

// bare returns a path without a leading slash and without the extension of a note.
func bare(path string) string {
	const note = ".md"
	if at := len(path) - len(note); at >= 0 && strings.EqualFold(path[at:], note) {
		path = path[:at]
	}
	return strings.TrimPrefix(path, "/")
}

// column caches the properties of a file.
type column struct {
	properties atomic.Pointer[frontmatter.Properties]
}

// propertiesOf returns the properties of the file.
func (c *column) propertiesOf(f *index.File) frontmatter.Properties {
	if cached := c.properties.Load(); cached != nil {
		return *cached
	}
	var properties frontmatter.Properties
	if f.IsNote() && f.HasFacts() {
		properties = f.Facts().Properties()
	}
	c.properties.Store(&properties)
	return properties
}

// file is a file of the vault in a query. It implements [formula.Entry].
type file struct {
	vault   *Vault
	place   int32
	indexed *index.File
	column  *column
}

func (f *file) Path() string { return f.indexed.Path.String() }

func (f *file) Size() int64 {
	if f.indexed.Stamp != (system.Stamp{}) {
		return f.indexed.Stamp.Size
	}
	size, _, _ := f.readInfo()
	return size
}

func (f *file) Modified() time.Time {
	if f.indexed.Stamp != (system.Stamp{}) {
		return time.Unix(0, f.indexed.Stamp.Modified)
	}
	_, _, modified := f.readInfo()
	return modified
}

func (f *file) Created() time.Time {
	_, created, _ := f.readInfo()
	return created
}

// readInfo reads the size and times of the file from the disk. If it cannot be opened, both times are that of its
// stamp.
func (f *file) readInfo() (size int64, created, modified time.Time) {
	opened, err := f.vault.Folder.Open(f.indexed.Path)
	if err != nil {
		return 0, time.Unix(0, f.indexed.Stamp.Modified), time.Unix(0, f.indexed.Stamp.Modified)
	}
	defer opened.Close()
	return opened.Info.Size(), opened.Born(), opened.Info.ModTime()
}

func (f *file) Property(name string) (formula.Value, bool) {
	p, found := f.column.propertiesOf(f.indexed).Lookup(name)
	if !found {
		return formula.Value{}, false
	}
	return f.vault.property(p, f.Path()), true
}

func (f *file) Properties() formula.Value {
	fields := &formula.Fields{AnyCase: true}
	for _, p := range f.column.propertiesOf(f.indexed) {
		fields.Keys = append(fields.Keys, p.Key)
		fields.Values = append(fields.Values, f.vault.property(p, f.Path()))
	}
	return formula.OfFields(fields)
}

// Tags returns the tags without duplicates, those of the properties first.
func (f *file) Tags() formula.Value {
	var tags []formula.Value
	seen := map[string]bool{}
	for _, tag := range f.indexed.Facts().Tags() {
		if key := strings.ToLower(tag); !seen[key] {
			seen[key] = true
			tags = append(tags, formula.OfTag(tag))
		}
	}
	return formula.OfList(tags)
}

// Links returns the links of the properties, then those of the body, then the embeds.
func (f *file) Links() formula.Value {
	if !f.indexed.HasFacts() {
		return formula.OfList(nil)
	}
	found := f.indexed.Facts().Found()
	var links []formula.Value
	for _, l := range frontmatter.Links(found.Properties) {
		target := formula.Target{Text: l.Link.Target, Display: l.Link.Display, From: f.Path()}
		links = append(links, formula.OfTarget(target))
	}
	links = append(links, f.links(found)...)
	links = append(links, f.embeds(found)...)
	return formula.OfList(links)
}

func (f *file) Embeds() formula.Value {
	if !f.indexed.HasFacts() {
		return formula.OfList(nil)
	}
	return formula.OfList(f.embeds(f.indexed.Facts().Found()))
}

// links returns the links of the body.
func (f *file) links(found *index.Found) (links []formula.Value) {
	for _, l := range found.Note.Links {
		if !l.Embed {
			links = append(links, f.displayed(l.Target, l.Display))
		}
	}
	return links
}

// embeds returns the embeds of the body.
func (f *file) embeds(found *index.Found) (embeds []formula.Value) {
	for _, l := range found.Note.Links {
		if l.Embed {
			embeds = append(embeds, f.displayed(l.Target, l.Display))
		}
	}
	return embeds
}

// displayed returns a link or an embed with the text that the app displays for it. Without a display text, that is
// derived from the target.
func (f *file) displayed(target, display string) formula.Value {
	if display == "" {
		display = strings.Join(strings.FieldsFunc(target, func(r rune) bool { return r == '#' }), " > ")
	}
	return formula.OfTarget(formula.Target{Text: target, Display: display, From: f.Path()})
}

// property converts a property of the note at the path from.
func (v *Vault) property(p frontmatter.Property, from string) formula.Value {
	name := strings.ToLower(p.Key)
	switch name {
	case "tags", "tag":
		if p.Value.Kind() == frontmatter.Null {
			return formula.Value{}
		}
		// Tags are in a list or in a text, with or without "#".
		separates := func(r rune) bool { return r == ',' || formula.IsSpace(r) }
		var tags []formula.Value
		for _, item := range p.Value.Elements() {
			for _, tag := range strings.FieldsFunc(item.String(), separates) {
				tags = append(tags, formula.OfTag("#"+strings.TrimPrefix(tag, "#")))
			}
		}
		return formula.OfList(tags)
	case "aliases", "cssclasses":
		return v.value(p.Value, verbatim, from)
	}
	return v.value(p.Value, v.Types[name], from)
}

// verbatim is the type of properties whose texts are not converted, because an alias may look like a date.
const verbatim = "verbatim"

// value converts a value of the note at the path from. declared is the type that the user has assigned to the
// property, or "".
func (v *Vault) value(w frontmatter.Value, declared, from string) formula.Value {
	switch w.Kind() {
	case frontmatter.Bool:
		return formula.OfBool(w.IsTrue())
	case frontmatter.Number:
		return formula.OfNumber(w.Float())
	case frontmatter.List:
		if declared != verbatim { // the type of the property is not the type of the elements of a list
			declared = ""
		}
		items := make([]formula.Value, 0, len(w.List()))
		for _, item := range w.List() {
			items = append(items, v.value(item, declared, from))
		}
		return formula.OfList(items)
	case frontmatter.Map:
		fields := &formula.Fields{}
		for _, field := range w.Fields() {
			fields.Keys = append(fields.Keys, field.Key)
			fields.Values = append(fields.Values, v.value(field.Value, "", from))
		}
		return formula.OfFields(fields)
	case frontmatter.String:
		return v.text(w.Text(), declared, from)
	}
	return formula.Value{}
}

// text converts a text of the note at the path from, by its declared type or by its form.
func (v *Vault) text(text, declared, from string) formula.Value {
	switch declared {
	case verbatim:
		return formula.OfText(text)
	case "number":
		if n, ok := formula.ParseNumber(text); ok && strings.TrimSpace(text) != "" {
			return formula.OfNumber(n)
		}
	case "checkbox":
		if text == "true" || text == "false" {
			return formula.OfBool(text == "true")
		}
	}
	if text == "" {
		return formula.OfText(text)
	}
	if t, ok := formula.ParseLink(text, from); ok {
		return formula.OfTarget(t)
	}
	beginsWithDigit := '0' <= text[0] && text[0] <= '9'
	if beginsWithDigit && declared != "text" {
		if m, ok := formula.ParseProperty(text, v.Now.Location()); ok {
			return formula.OfMoment(m)
		}
	}
	if isURL(text) {
		return formula.OfURL(text)
	}
	return formula.OfText(text)
}

// isURL reports whether a text is a URL with a scheme and a host.
func isURL(text string) bool {
	if !strings.Contains(text, "://") || strings.ContainsAny(text, " \t\n") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != ""
}
