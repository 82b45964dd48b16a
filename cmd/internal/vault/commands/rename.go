package commands

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/relink"
)

func init() {
	register(
		command.Command{Name: "heading:rename", Plan: renameHeading},
		command.Command{Name: "property:rename", Plan: renameProperty},
		command.Command{Name: "tag:rename", Plan: renameTag},
		command.Command{Name: "note:merge", Plan: mergeNotes},
		command.Command{Name: "note:extract", Plan: extractSection},
		command.Command{Name: "note:split", Plan: splitNote},
	)
}

// renameHeading changes the text of a heading, and the links of all notes and canvases
// that lead to it. It changes nothing if one of them cannot be changed.
func renameHeading(v *command.Vault, p command.Values) (command.Proposal, error) {
	if !p.Has("file") && !p.Has("path") {
		return command.Proposal{}, command.Misuse("Missing required parameter: path=<path> or file=<name>")
	}
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Proposal{}, err
	}
	place, err := headingOf(text, p["heading"], p["to"])
	if err != nil {
		return command.Proposal{}, err
	}
	x, err := v.Index()
	if err != nil {
		return command.Proposal{}, err
	}
	at, ok := x.Place(t.Path.String())
	if !ok {
		return command.Proposal{}, command.FileNotFound(t.Typed)
	}
	r := headingRename{note: t.Path, place: place, to: strings.TrimSpace(p["to"]), links: renamingIn(x, t.Path, text, place, p["to"])}
	all, err := editAll(v, r.sources(x, at), "", r.apply)
	all.Message = fmt.Sprintf("Renamed heading to %q: %s", command.Verbatim(r.to), command.Count(r.places, "link")) + all.Message
	all.Note = t.Path
	return all, err
}

// headingOf returns the place of the heading that is to be renamed. The new text must
// be that of no other heading, for links could not tell them apart.
func headingOf(text []byte, heading, to string) (place int, err error) {
	found := markdown.Scan(text)
	if _, err := Edit(text, func() (_ []byte, err error) {
		place, err = edit.FindHeading(found, heading)
		return nil, err
	}); err != nil {
		return 0, err
	}
	for i, other := range found.Headings {
		if i != place && edit.SameHeading(other.Text, to) {
			return 0, command.AlreadyExists.Failure("The note has a heading %q already (line %d).", command.Verbatim(other.Text), other.Line)
		}
	}
	_, err = edit.RenameHeading(text, place, to)
	return place, badHeading(to, err)
}

// badHeading explains why a text cannot be that of a heading.
func badHeading(to string, err error) error {
	var refusal *edit.Refusal
	if errors.As(err, &refusal) {
		return command.BadValue.Failure("Invalid value for to: %s. It must be one line that is a heading.", command.Verbatim(to))
	}
	return err
}

// headingRename is a heading of a note and its new text.
type headingRename struct {
	note   disk.Path
	place  int
	to     string
	links  *relink.Heading
	places int // how many links were changed
}

func renamingIn(x *index.Index, note disk.Path, text []byte, place int, to string) *relink.Heading {
	paths := command.Map(x.Files, func(f *index.File) string { return f.Path.String() })
	found := markdown.Scan(text)
	names := func(subpath string) (parts []int) {
		for part, heading := range edit.LinkedHeadings(found, subpath) {
			if heading == place {
				parts = append(parts, part)
			}
		}
		return parts
	}
	return relink.NewHeading(note.String(), lookup.New(paths), names, to)
}

// sources are the note and all files with links to it.
func (r *headingRename) sources(x *index.Index, at int) []disk.Path {
	sources := []disk.Path{r.note}
	for _, source := range x.Graph().In(at) {
		if path := x.Files[source.Place].Path; path != r.note {
			sources = append(sources, path)
		}
	}
	return sources
}

// apply returns a file with its links changed and, if it is the note, the heading.
func (r *headingRename) apply(source disk.Path, text []byte) ([]byte, error) {
	edited, changed, left := r.links.Rewrite(text, source.String())
	if len(left) > 0 {
		return nil, command.Failure("Link %q in %q, line %d, cannot be changed: %s. Nothing was changed.", command.Verbatim(left[0].Target), command.Verbatim(source.String()), left[0].Line, left[0].Reason)
	}
	r.places += changed
	if source != r.note {
		return edited, nil
	}
	edited, err := edit.RenameHeading(edited, r.place, r.to)
	return edited, badHeading(r.to, err)
}

// renameProperty changes the name of a property and leaves its values as they are
// written. A note that has the new name, too, is a reason to change nothing: one of
// the two values would be lost.
func renameProperty(v *command.Vault, p command.Values) (command.Proposal, error) {
	name, to := p["name"], strings.TrimSpace(p["to"])
	notes, err := Indexed(v, p, func(f *index.File) bool {
		_, ok := f.Facts().Properties().Lookup(name)
		return ok
	})
	if err != nil {
		return command.Proposal{}, err
	}
	if len(notes) == 0 {
		known, err := PropertyNames(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return command.Proposal{}, command.NotFound.DidYouMean(lookup.NearestNames(name, known), "Property %q not found.", command.Verbatim(name))
	}
	all, err := editAll(v, notes, "Renamed property "+name+" to "+to, func(path disk.Path, text []byte) ([]byte, error) {
		edited, _, err := frontmatter.Rename(text, name, to)
		if err != nil {
			return nil, PropertyError(path, text, err)
		}
		return edited, nil
	})
	if err != nil {
		return command.Proposal{}, err
	}
	remark, err := leftType(v, name, to)
	all.Message += remark
	return all, err
}

// leftType says that the type which the user gave a property stays with the old name:
// the app keeps it in a settings file, which is the user's.
func leftType(v *command.Vault, name, to string) (string, error) {
	types, err := PropertyTypes(v)
	if err != nil {
		return "", err
	}
	kind, given := types[strings.ToLower(name)]
	if _, already := types[strings.ToLower(to)]; !given || already {
		return "", nil
	}
	return "\nThe type " + kind + " of " + name + " is not carried over: the user can set it for " + to + " in the app.", nil
}

// renameTag changes a tag in texts and properties, in whatever case it is written,
// and the tags below it. What only looks like a tag, in code or in a link, stays.
func renameTag(v *command.Vault, p command.Values) (command.Proposal, error) {
	var r tagRename
	for param, name := range map[string]*string{"name": &r.from, "to": &r.to} {
		bare, ok := markdown.TagName(p[param])
		if !ok {
			return command.Proposal{}, command.Misuse("Invalid value for %s: %s. A tag is letters, digits, _, - and /, with something else than digits.", param, command.Verbatim(p[param]))
		}
		*name = bare
	}

	notes, err := Indexed(v, p, func(f *index.File) bool {
		return slices.ContainsFunc(f.Facts().Tags(), func(tag string) bool { return r.renamed(tag[1:]) != "" })
	})
	if err != nil {
		return command.Proposal{}, err
	}
	if len(notes) == 0 {
		known, err := TagNames(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return command.Proposal{}, command.NotFoundTag.DidYouMean(lookup.NearestNames(r.from, known), "Tag %q not found.", command.Verbatim("#"+r.from))
	}
	places := 0
	all, err := editAll(v, notes, "", func(path disk.Path, text []byte) ([]byte, error) {
		edited, n, err := r.apply(path, text)
		places += n
		return edited, err
	})
	all.Message = "Renamed tag #" + r.from + " to #" + r.to + ": " + command.Count(places, "place") + all.Message
	return all, err
}

// tagRename is a tag and its new name, both without "#".
type tagRename struct{ from, to string }

// renamed returns the new name of a tag, "" if it is another one. Like the app it
// takes tags that differ in case for one.
func (r tagRename) renamed(name string) string {
	size := len(r.from)
	switch {
	case strings.EqualFold(name, r.from):
		return r.to
	case len(name) > size && name[size] == '/' && strings.EqualFold(name[:size], r.from):
		return r.to + name[size:]
	}
	return ""
}

// apply returns a note with the tag renamed, and in how many places.
func (r tagRename) apply(path disk.Path, text []byte) (edited []byte, places int, err error) {
	edited, inProperties, err := frontmatter.RewriteTags(text, r.renamed)
	if err != nil {
		return nil, 0, PropertyError(path, text, err)
	}
	found := markdown.Scan(edited)
	out, at := []byte(nil), 0
	for _, tag := range found.Tags {
		to := r.renamed(tag.Text[1:])
		if to == "" || to == tag.Text[1:] {
			continue
		}
		out = append(append(append(out, edited[at:tag.At]...), '#'), to...)
		at = tag.At + len(tag.Text)
		places++
	}
	out = append(out, edited[at:]...)
	if !r.isKept(found, markdown.Scan(out)) {
		return nil, 0, command.Failure("%q cannot be changed: with the new tag other parts of the note would be read differently.", command.Verbatim(path.String()))
	}
	return out, places + inProperties, nil
}

// isKept reports whether a text has the renamed tags in the place of the old ones,
// and as many links and headings.
func (r tagRename) isKept(old, now markdown.Note) bool {
	same := slices.EqualFunc(old.Tags, now.Tags, func(a, b markdown.Tag) bool {
		to := r.renamed(a.Text[1:])
		return b.Text[1:] == a.Text[1:] || b.Text[1:] == to
	})
	return same && len(old.Links) == len(now.Links) && len(old.Headings) == len(now.Headings)
}

// headingAt is a heading of a note by its place.
type headingAt struct {
	note string
	at   int
}

// division says where the headings and blocks of notes go whose parts go to other notes.
type division struct {
	was  map[string]markdown.Note         // the notes by their paths before
	now  map[string]markdown.Note         // and after
	to   map[headingAt]headingAt          // places of headings
	part func(note string, at int) string // the note in which a place of a note is afterwards
	// alike is a heading of which a link could not be told from another one of its name, "" if
	// there is none.
	alike string
}

// link returns where a link leads afterwards. Of several headings of one name the link gets the
// names of those above it.
func (d *division) link(file, subpath string) (newFile, newSubpath string) {
	found, divided := d.was[file]
	switch {
	case !divided:
		return file, subpath
	case subpath == "":
		return d.part(file, 0), ""
	}
	if id, isBlock := strings.CutPrefix(subpath[strings.LastIndexByte(subpath, '#')+1:], "^"); isBlock {
		if block, ok := found.Block(id); ok {
			return d.part(file, block.Span.Start), subpath
		}
		return d.part(file, 0), subpath
	}
	places := edit.LinkedHeadings(found, subpath)
	if places == nil {
		return d.part(file, 0), subpath
	}
	to := d.to[headingAt{file, places[len(places)-1]}]
	now := d.now[to.note]
	chain := ""
	level := 7
	for i := to.at; i >= -1; i-- {
		if last := edit.LinkedHeadings(now, subpath); last != nil && last[len(last)-1] == to.at {
			return to.note, subpath
		}
		if i >= 0 && now.Headings[i].Level < level {
			level = now.Headings[i].Level
			chain = "#" + relink.PartOf(now.Headings[i].Text) + chain
			subpath = chain
		}
	}
	d.alike = now.Headings[to.at].Text
	return to.note, subpath
}

// checked refuses a proposal after which a link would lead to another heading.
func (d *division) checked(planned command.Proposal, err error) (command.Proposal, error) {
	if err == nil && d.alike != "" {
		kind := command.Kind{Code: command.AlreadyExists.Code, Hint: "rename one of the headings with heading:rename first"}
		err = kind.Failure("A link leads to the heading %q, which it could not tell from another one. Nothing was changed.", command.Verbatim(d.alike))
	}
	return planned, err
}

// order notes that the headings of a note come from these places, in this order.
func (d *division) order(note string, headings []headingAt) {
	for i, h := range headings {
		d.to[h] = headingAt{note, i}
	}
}

func headingsOf(note string, from, to int) (list []headingAt) {
	for i := from; i < to; i++ {
		list = append(list, headingAt{note, i})
	}
	return list
}

// mergeNotes adds the text of a note to another one, at its end or at that of a section, and
// moves the first to the trash. Of the properties, those that the second does not have are added,
// the items of lists are united, and of others the value of the second stays.
func mergeNotes(v *command.Vault, p command.Values) (command.Proposal, error) {
	from, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Proposal{}, err
	}
	into, other, err := v.MarkdownNote(command.Values{"path": p["into"]})
	switch {
	case err != nil:
		return command.Proposal{}, err
	case into.Path == from.Path:
		return command.Proposal{}, command.Misuse("A note cannot be merged into itself.")
	}
	a, b := markdown.Scan(text), markdown.Scan(other)
	for _, block := range a.Blocks {
		if _, both := b.Block(block.ID); both {
			return command.Proposal{}, command.AlreadyExists.Failure("Both notes have a block %q. Nothing was changed.", "^"+block.ID)
		}
	}
	combine := func(text, other []byte) ([]byte, error) {
		content := strings.TrimLeft(string(edit.Body(text)), "\r\n")
		if content == "" {
			return other, nil
		}
		if p.Has("heading") {
			return Edit(other, func() ([]byte, error) { return edit.Insert(other, edit.After, edit.Heading(p["heading"]), content) })
		}
		if trimmed := strings.TrimRight(string(edit.Body(other)), "\r\n"); trimmed != "" {
			content = "\n" + content
		}
		return edit.Append(other, content, false), nil
	}
	merged, err := combine(text, other)
	if err != nil {
		return command.Proposal{}, err
	}
	d := &division{was: map[string]markdown.Note{from.Path.String(): a, into.Path.String(): b}, now: map[string]markdown.Note{into.Path.String(): markdown.Scan(merged)}, to: map[headingAt]headingAt{},
		part: func(string, int) string { return into.Path.String() }}
	behind := len(b.Headings)
	if p.Has("heading") {
		i, _ := edit.FindHeading(b, p["heading"]) // it was found above
		for behind = i + 1; behind < len(b.Headings) && b.Headings[behind].Level > b.Headings[i].Level; behind++ {
		}
	}
	d.order(into.Path.String(), slices.Concat(headingsOf(into.Path.String(), 0, behind), headingsOf(from.Path.String(), 0, len(a.Headings)), headingsOf(into.Path.String(), behind, len(b.Headings))))

	x, m, err := dividing(v, d, map[string]string{from.Path.String(): into.Path.String()}, nil)
	if err != nil {
		return command.Proposal{}, err
	}
	ours, _, lost := m.Rewrite(text, from.Path.String())
	theirs, _, more := m.Rewrite(other, into.Path.String())
	if merged, err = combine(ours, theirs); err != nil {
		return command.Proposal{}, err
	}
	properties, err := propertiesIn(ours)
	if err != nil {
		return command.Proposal{}, PropertyError(into.Path, ours, err)
	}
	merged, kept, err := withProperties(merged, properties)
	if err != nil {
		return command.Proposal{}, PropertyError(into.Path, merged, err)
	}
	planned, err := removing(v, []command.Target{from}, false)
	if err != nil {
		return command.Proposal{}, err
	}
	changed := command.ProposeChange(into.Path, other, merged, "Merged: "+from.Path.String()+" -> "+into.Path.String())
	changed.Steps = append(changed.Steps, planned.Steps...)
	if len(kept) > 0 {
		changed.Message += "\nKept of " + into.Path.String() + ": " + strings.Join(kept, ", ")
	}
	changed.Message = strings.Join(append([]string{changed.Message}, remarks(into.Path, append(lost, more...))...), "\n")
	return d.checked(changed, changeLinks(v, &changed, m, others(x, m, from.Path, into.Path), true))
}

// extractSection moves a section of a note to a note of its own, and leaves a link there.
func extractSection(v *command.Vault, p command.Values) (command.Proposal, error) {
	return divide(v, p, "Extracted", func(from disk.Path, found markdown.Note, _ []byte) ([]section, error) {
		i, err := edit.FindHeading(found, p["heading"])
		if err != nil {
			return nil, explainEditError(found, err)
		}
		to, err := newPath(v, command.Values{"path": p["to"]})
		return []section{{heading: i, to: to}}, err
	})
}

// splitNote makes notes of all sections of a level.
func splitNote(v *command.Vault, p command.Values) (command.Proposal, error) {
	level := 2
	if p.Has("level") {
		level, _ = strconv.Atoi(p["level"]) // the table admits digits only
	}
	return divide(v, p, "Split", func(from disk.Path, found markdown.Note, _ []byte) (sections []section, err error) {
		folder := from.Folder()
		if p.Has("folder") {
			folder = strings.Trim(p["folder"], "/")
		}
		for i, h := range found.Headings {
			if h.Level != level {
				continue
			}
			title := nameOf(h.Text)
			for n := 1; ; n++ {
				typed := path.Join(folder, title)
				if n > 1 {
					typed += " " + strconv.Itoa(n)
				}
				to, err := newPath(v, command.Values{"path": typed + ".md"})
				if err != nil {
					return nil, err
				}
				_, there := v.Disk.Stat(to)
				if disk.IsMissing(there) && !slices.ContainsFunc(sections, func(s section) bool { return strings.EqualFold(s.to.String(), to.String()) }) {
					sections = append(sections, section{i, to})
					break
				}
				if err := budget.From(v.Ctx).Step(1); err != nil {
					return nil, err
				}
			}
		}
		if len(sections) == 0 {
			return nil, command.NotFoundHeading.Failure("The note has no heading of level %d.", level)
		}
		return sections, nil
	})
}

// nameOf returns the name of a note for a heading: without what no name or link can hold.
func nameOf(heading string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`\/:*?"<>|#^[]%`, r) || r < ' ' {
			return ' '
		}
		return r
	}, heading)
	name = strings.Trim(strings.Join(strings.Fields(name), " "), ". ")
	if len(name) > maxName {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:maxName], ""))
	}
	if name == "" {
		return "Section"
	}
	return name
}

const maxName = 120 // bytes; file systems take 255, and a number and an extension follow

// section is one of a note that goes to a note of its own.
type section struct {
	heading int
	to      disk.Path
}

// divide moves sections of a note to notes of their own. In the place of each a link stays, or
// an embed; links to what moved follow.
func divide(v *command.Vault, p command.Values, said string, choose func(from disk.Path, found markdown.Note, text []byte) ([]section, error)) (command.Proposal, error) {
	from, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Proposal{}, err
	}
	found := markdown.Scan(text)
	sections, err := choose(from.Path, found, text)
	if err != nil {
		return command.Proposal{}, err
	}
	note := from.Path.String()
	d := &division{was: map[string]markdown.Note{note: found}, now: map[string]markdown.Note{}, to: map[headingAt]headingAt{}}
	d.part = func(_ string, at int) string {
		for _, s := range sections {
			if span := found.Section(s.heading); span.Start <= at && at < span.End {
				return s.to.String()
			}
		}
		return note
	}
	// The rest of the note as it will be, but for links: all sections are cut out of it.
	rest, left, at := []byte(nil), []headingAt(nil), 0
	var made []string
	for _, s := range sections {
		if _, err := v.Disk.Stat(s.to); !disk.IsMissing(err) {
			return command.Proposal{}, command.AlreadyExists.Failure("File %q already exists.", command.Verbatim(s.to.String()))
		}
		made = append(made, s.to.String())
		span := found.Section(s.heading)
		rest, at = append(rest, text[at:span.Start]...), span.End
		in := 0
		for i, h := range found.Headings {
			if span.Start <= h.At && h.At < span.End {
				d.to[headingAt{note, i}] = headingAt{s.to.String(), in}
				in++
			}
		}
		d.now[s.to.String()] = markdown.Scan(text[span.Start:span.End])
	}
	d.now[note] = markdown.Scan(append(rest, text[at:]...))
	for i := range found.Headings {
		if h := (headingAt{note, i}); d.to[h] == (headingAt{}) {
			left = append(left, h)
		}
	}
	d.order(note, left)

	x, m, err := dividing(v, d, nil, made)
	if err != nil {
		return command.Proposal{}, err
	}
	edited, _, lost := m.Rewrite(text, note)
	now := markdown.Scan(edited)
	var out []byte
	var steps []command.Step
	var unwritten []string
	partOf := func(l relink.Left) string {
		at, _ := lineStart(text, 0, l.Line-1)
		return d.part(note, at)
	}
	at = 0
	for _, s := range sections {
		moved, _, more := m.At(s.to.String()).Rewrite(text, note)
		span := markdown.Scan(moved).Section(s.heading)
		content := string(moved[span.Start:span.End])
		if bare := strings.TrimRight(content, "\r\n"); span.End < len(moved) { // else it ends as the note does
			content = bare + content[len(bare):len(bare)+1+strings.Index(content[len(bare):], "\n")]
		}
		if err := budget.From(v.Ctx).Hold(int64(len(moved))); err != nil {
			return command.Proposal{}, err
		}
		steps = append(steps, command.Step{Path: s.to, After: command.Existing([]byte(content))})
		link := m.Wikilink(note, s.to.String())
		if p.Has("embed") {
			link = "!" + link
		}
		span = now.Section(s.heading)
		out = append(out, edited[at:span.Start]...)
		if len(out) > 0 && !strings.HasSuffix(string(out), "\n\n") && !strings.HasSuffix(string(out), "\n\r\n") && len(out) > now.Body {
			out = append(out, '\n')
		}
		out = append(out, link+"\n"...)
		if at = span.End; at < len(edited) {
			out = append(out, '\n')
		}
		unwritten = append(unwritten, remarks(s.to, slices.DeleteFunc(more, func(l relink.Left) bool { return partOf(l) != s.to.String() }))...)
	}
	unwritten = append(unwritten, remarks(from.Path, slices.DeleteFunc(lost, func(l relink.Left) bool { return partOf(l) != note }))...)
	planned := command.ProposeChange(from.Path, text, append(out, edited[at:]...), fmt.Sprintf("%s: %s -> %s", said, note, strings.Join(made, ", ")))
	planned.Keeps = true
	planned.Steps = append(steps, planned.Steps...)
	planned.Message = strings.Join(append([]string{planned.Message}, unwritten...), "\n")
	return d.checked(planned, changeLinks(v, &planned, m, others(x, m, from.Path), true))
}

// dividing returns the index, and the move of a division: files that go as a whole, and those that
// are made.
func dividing(v *command.Vault, d *division, to map[string]string, made []string) (*index.Index, *relink.Move, error) {
	x, err := v.Index()
	if err != nil {
		return nil, nil, err
	}
	var before, after []string
	appears := slices.Clone(made)
	for note := range d.was {
		appears = append(appears, note)
	}
	for _, f := range x.Files {
		before = append(before, f.Path.String())
		if _, gone := to[f.Path.String()]; !gone {
			after = append(after, f.Path.String())
		}
	}
	m, err := newMove(v, to, nil, appears, before, append(after, made...))
	if err != nil {
		return nil, nil, err
	}
	return x, m.Dividing(d.link), nil
}

// others are the files with links that a move concerns, without these.
func others(x *index.Index, m *relink.Move, without ...disk.Path) []disk.Path {
	return slices.DeleteFunc(concerned(x, m, nil), func(p disk.Path) bool { return slices.Contains(without, p) })
}
