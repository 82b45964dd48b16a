package handlers

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/relink"
)

// headingAt is a heading of a note by its place.
type headingAt struct {
	note string
	at   int
}

// division says where the headings and blocks of notes go whose parts go to other notes.
type division struct {
	was  map[string]*linked               // the notes by their paths before
	now  map[string]*linked               // and after
	to   map[headingAt]headingAt          // places of headings
	part func(note string, at int) string // the note in which a place of a note is afterwards
	// alike is a heading of which a link could not be told from another one of its name, "" if
	// there is none.
	alike string
}

// linked is a note as links see it.
type linked struct {
	markdown.Note
	outline *edit.Outline
	blocks  map[string]markdown.Block // by the id, see [markdown.FoldCase]
}

func newLinked(found markdown.Note) *linked {
	l := &linked{Note: found, outline: edit.NewOutline(found), blocks: map[string]markdown.Block{}}
	for _, block := range found.Blocks { // of several the last one counts
		l.blocks[markdown.FoldCase(block.ID)] = block
	}
	return l
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
		if block, ok := found.blocks[markdown.FoldCase(id)]; ok {
			return d.part(file, block.Span.Start), subpath
		}
		return d.part(file, 0), subpath
	}
	places := found.outline.Linked(subpath)
	if places == nil {
		return d.part(file, 0), subpath
	}
	to := d.to[headingAt{file, places[len(places)-1]}]
	now := d.now[to.note]
	leads := func() bool {
		last := now.outline.Linked(subpath)
		return last != nil && last[len(last)-1] == to.at
	}
	if leads() {
		return to.note, subpath
	}
	chain := ""
	for i := to.at; i >= 0; i = now.outline.Above(i) {
		chain = "#" + relink.PartOf(now.Headings[i].Text) + chain
		if subpath = chain; leads() {
			return to.note, subpath
		}
	}
	d.alike = now.Headings[to.at].Text
	return to.note, subpath
}

// checked refuses a proposal after which a link would lead to another heading.
func (d *division) checked(planned change.Proposal, err error) (change.Proposal, error) {
	if err == nil && d.alike != "" {
		kind := answer.AlreadyExists.Advise("rename one of the headings with heading:rename first")
		err = kind.Failure(
			"A link leads to the heading %q, which it could not tell from another one. Nothing was changed.",
			answer.Verbatim(d.alike),
		)
	}
	return planned, err
}

// mergeNotes adds the text of a note to another one, at its end or at that of a section, and
// moves the first to the trash. Of the properties, those that the second does not have are added,
// the items of lists are united, and of others the value of the second stays.
func mergeNotes(v *call.Vault, p call.Values) (change.Proposal, error) {
	from, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	into, other, err := v.MarkdownNote(call.Values{"path": p["into"]})
	switch {
	case err != nil:
		return change.Proposal{}, err
	case into.Path == from.Path:
		return change.Proposal{}, answer.Misuse("A note cannot be merged into itself.")
	}
	v.Taken = append(v.Taken, call.Taken{Path: from.Path, Text: text})
	// Footnotes and reference links lead where they led, and what is open in one text does not hide the other.
	text, renamed := edit.WithOwnLabels(edit.Closed(text), other)
	original := other
	other = edit.Closed(other)
	a := newLinked(markdown.Scan(text))
	b := newLinked(markdown.Scan(other))
	for _, block := range a.Blocks {
		if _, both := b.blocks[markdown.FoldCase(block.ID)]; both {
			return change.Proposal{}, answer.AlreadyExists.Failure(
				"Both notes have a block %q. Nothing was changed.",
				"^"+block.ID,
			)
		}
	}
	merged, err := combineNotes(p, text, other)
	if err != nil {
		return change.Proposal{}, err
	}
	source := from.Path.String()
	target := into.Path.String()
	d := &division{
		was: map[string]*linked{
			source: a,
			target: b,
		}, now: map[string]*linked{target: newLinked(markdown.Scan(merged))},
		to: map[headingAt]headingAt{}, part: func(string, int) string { return target },
	}
	d.mergeHeadings(p, source, target)
	x, m, err := dividing(v, d, map[string]string{source: target}, nil)
	if err != nil {
		return change.Proposal{}, err
	}
	ours, _, lost := m.Rewrite(text, source)
	theirs, _, more := m.Rewrite(other, target)
	if merged, err = combineNotes(p, ours, theirs); err != nil {
		return change.Proposal{}, err
	}
	properties, err := change.PropertiesIn(ours)
	if err != nil {
		return change.Proposal{}, propertyError(into.Path, ours, err)
	}
	merged, kept, err := withProperties(merged, properties)
	if err != nil {
		return change.Proposal{}, propertyError(into.Path, merged, err)
	}
	planned, err := removing(v, []call.Target{from}, toTrash)
	if err != nil {
		return change.Proposal{}, err
	}
	message := "Merged: " + source + " -> " + target
	if len(kept) > 0 {
		message += "\nKept of " + target + ": " + strings.Join(kept, ", ")
	}
	if len(renamed) > 0 {
		message += "\nLabels: " + strings.Join(renamed, ", ")
	}
	message += remarks(into.Path, append(lost, more...))
	changed := change.ProposeChange(into.Path, original, merged, message)
	changed.Steps = append(changed.Steps, planned.Steps...)
	err = changeLinks(v, &changed, m, others(x, m, from.Path, into.Path), followLinks)
	return d.checked(changed, err)
}

// combineNotes adds the body of a text to another one, at its end or at that of the section that the call names.
func combineNotes(p call.Values, text, other []byte) ([]byte, error) {
	content := strings.TrimLeft(string(edit.Body(text)), "\r\n")
	if content == "" {
		return other, nil
	}
	if p.Has("heading") {
		insert := func(text []byte) ([]byte, error) {
			return edit.Insert(text, edit.After, edit.Heading(p["heading"]), content)
		}
		return explained(insert)(other)
	}
	if trimmed := strings.TrimRight(string(edit.Body(other)), "\r\n"); trimmed != "" {
		content = "\n" + content
	}
	return edit.Append(other, content, edit.OwnLine), nil
}

// mergeHeadings says where the headings of source and target are in the merged note: those of source stand together,
// at the end of the target or of the section that the call names.
func (d *division) mergeHeadings(p call.Values, source, target string) {
	added := d.was[source].Headings
	own := d.was[target].Headings
	behind := len(own)
	if p.Has("heading") {
		i, _ := d.was[target].outline.Find(p["heading"]) // it was found when the texts were combined
		for behind = i + 1; behind < len(own) && own[behind].Level > own[i].Level; behind++ {
		}
	}
	for i := range added {
		d.to[headingAt{source, i}] = headingAt{target, behind + i}
	}
	for i := range own {
		to := headingAt{target, i}
		if i >= behind {
			to.at += len(added)
		}
		d.to[headingAt{target, i}] = to
	}
}

// extractSection moves a section of a note to a note of its own, and leaves a link there.
func extractSection(v *call.Vault, p call.Values) (change.Proposal, error) {
	return divide(v, p, "Extracted", func(found markdown.Note, _ string) ([]section, error) {
		i, err := edit.FindHeading(found, p["heading"])
		if err != nil {
			return nil, explainEditError(found, err)
		}
		to, err := newPath(v, call.Values{"path": p["to"]})
		return []section{{heading: i, to: to}}, err
	})
}

// splitNote makes notes of all sections of a level.
func splitNote(v *call.Vault, p call.Values) (change.Proposal, error) {
	level := 2
	if p.Has("level") {
		level, _ = strconv.Atoi(p["level"]) // the table admits digits only
	}
	return divide(v, p, "Split", func(found markdown.Note, folder string) (sections []section, err error) {
		if p.Has("folder") {
			folder = strings.Trim(p["folder"], "/")
		}
		taken := map[string]bool{}
		last := map[string]int{} // the number of the last section of a title
		for i, h := range found.Headings {
			if h.Level != level {
				continue
			}
			title := nameOf(h.Text)
			for {
				last[title]++
				typed := path.Join(folder, title)
				if n := last[title]; n > 1 {
					typed += " " + strconv.Itoa(n)
				}
				to, err := newPath(v, call.Values{"path": typed + ".md"})
				if err != nil {
					return nil, err
				}
				isFree, err := v.Disk.IsFree(to)
				if err != nil {
					return nil, answer.ReadError(to.String(), err)
				}
				if name := markdown.FoldCase(to.String()); isFree && !taken[name] {
					sections = append(sections, section{i, to})
					taken[name] = true
					break
				}
				if err := budget.From(v.Ctx).Step(1); err != nil {
					return nil, err
				}
			}
		}
		if len(sections) == 0 {
			return nil, answer.NotFoundHeading.Failure("The note has no heading of level %d.", level)
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
func divide(
	v *call.Vault,
	p call.Values,
	said string,
	choose func(found markdown.Note, folder string) ([]section, error),
) (change.Proposal, error) {
	from, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	v.Taken = append(v.Taken, call.Taken{Path: from.Path, Text: text})
	found := markdown.Scan(text)
	sections, err := choose(found, from.Path.Folder())
	if err != nil {
		return change.Proposal{}, err
	}
	note := from.Path.String()
	d, made, err := divisionOf(v, note, text, found, sections)
	if err != nil {
		return change.Proposal{}, err
	}
	x, m, err := dividing(v, d, nil, made)
	if err != nil {
		return change.Proposal{}, err
	}
	if p["links"] == holdLinks {
		m = m.Holding()
	}
	divided, err := divideText(v, d, m, note, text, sections, linksFor(p, m))
	if err != nil {
		return change.Proposal{}, err
	}
	message := fmt.Sprintf("%s: %s -> %s", said, note, strings.Join(made, ", "))
	planned := divided.proposal(from.Path, text, sections, message)
	partOf := func(at int) string { return d.part(note, at) }
	planned.Message += unwrittenIn(text, divided.lost, partOf, sections, from.Path)
	err = changeLinks(v, &planned, m, others(x, m, from.Path), followLinks)
	return d.checked(planned, err)
}

// linksFor returns what writes a link in place of a section, or an embed.
func linksFor(p call.Values, m *relink.Move) func(source, target string) string {
	if p.Has("embed") {
		return func(source, target string) string { return "!" + m.Wikilink(source, target) }
	}
	return m.Wikilink
}

// dividedText is the text of a note that was divided.
type dividedText struct {
	parts   [][]byte // those of the sections, and at last what stays of the note
	carried []string // definitions that were taken along
	lost    []relink.Left
}

// proposal returns the change that makes the notes of the sections and leaves the rest in the note.
func (t dividedText) proposal(from disk.Path, text []byte, sections []section, message string) change.Proposal {
	planned := change.ProposeChange(from, text, t.parts[len(sections)], message)
	planned.Keeps = true
	var made []change.Step
	for i, s := range sections {
		made = append(made, change.Step{Path: s.to, After: change.Existing(t.parts[i])})
	}
	planned.Steps = append(made, planned.Steps...)
	if len(t.carried) > 0 {
		planned.Message += "\nDefinitions taken along: " + strings.Join(t.carried, ", ")
	}
	return planned
}

// divideText divides the text of a note, with what link returns in place of each section.
func divideText(
	v *call.Vault,
	d *division,
	m *relink.Move,
	note string,
	text []byte,
	sections []section,
	link func(source, target string) string,
) (divided dividedText, err error) {
	// Each link is rewritten for the note in which it is afterwards.
	moves := map[string]*relink.Move{note: m.At(note)}
	for _, s := range sections {
		moves[s.to.String()] = m.At(s.to.String())
	}
	edited, _, lost := m.RewriteParts(text, note, func(at int) *relink.Move { return moves[d.part(note, at)] })
	divided.lost = lost
	linkTo := func(to disk.Path) string { return link(note, to.String()) }
	parts, err := cutSections(v, edited, sections, linkTo)
	if err != nil {
		return divided, err
	}
	divided.parts, divided.carried = edit.DivideReferences(parts, func(part int, definition []byte) []byte {
		if part == len(sections) {
			return definition
		}
		// A link in a definition is one of the note in which it is afterwards.
		written, _, _ := moves[sections[part].to.String()].Rewrite(definition, note)
		return written
	})
	return divided, nil
}

// cutSections returns the texts of the sections of a note, and at last what stays of it: with what link returns in place of
// each section.
func cutSections(
	v *call.Vault, text []byte, sections []section, link func(to disk.Path) string,
) (parts [][]byte, err error) {
	found := markdown.Scan(text)
	ends := sectionEnds(found)
	var rest []byte
	at := 0
	for _, s := range sections {
		span := markdown.Span{Start: found.Headings[s.heading].At, End: ends[s.heading]}
		content := string(text[span.Start:span.End])
		if bare := strings.TrimRight(content, "\r\n"); span.End < len(text) { // else it ends as the note does
			content = bare + content[len(bare):len(bare)+1+strings.Index(content[len(bare):], "\n")]
		}
		if err := budget.From(v.Ctx).Hold(int64(len(content))); err != nil {
			return nil, err
		}
		parts = append(parts, []byte(content))
		rest = append(rest, text[at:span.Start]...)
		endsWithBlankLine := bytes.HasSuffix(rest, []byte("\n\n")) || bytes.HasSuffix(rest, []byte("\n\r\n"))
		isInBody := len(rest) > 0 && len(rest) > found.Body
		if isInBody && !endsWithBlankLine {
			rest = append(rest, '\n')
		}
		rest = append(rest, link(s.to)+"\n"...)
		if at = span.End; at < len(text) {
			rest = append(rest, '\n')
		}
	}
	return append(parts, append(rest, text[at:]...)), nil
}

// divisionOf returns where the headings of a note go whose sections go to notes of their own, and the
// paths of these. The error is that one of them exists.
func divisionOf(
	v *call.Vault,
	note string,
	text []byte,
	found markdown.Note,
	sections []section,
) (d *division, made []string, err error) {
	d = &division{
		was: map[string]*linked{note: newLinked(found)},
		now: map[string]*linked{},
		to:  map[headingAt]headingAt{},
	}
	ends := sectionEnds(found)
	spanOf := func(s section) markdown.Span {
		return markdown.Span{Start: found.Headings[s.heading].At, End: ends[s.heading]}
	}
	d.part = func(_ string, at int) string {
		// They are in the order of the text, and none is in another one.
		after, _ := slices.BinarySearchFunc(
			sections,
			at,
			func(s section, at int) int { return cmp.Compare(spanOf(s).Start, at+1) },
		)
		if after > 0 && at < spanOf(sections[after-1]).End {
			return sections[after-1].to.String()
		}
		return note
	}
	// The rest of the note as it will be, but for links: all sections are cut out of it.
	var rest []byte
	at := 0
	for _, s := range sections {
		isFree, err := v.Disk.IsFree(s.to)
		if err != nil {
			return nil, nil, answer.ReadError(s.to.String(), err)
		}
		if !isFree {
			return nil, nil, answer.AlreadyExists.Failure("File %q already exists.", answer.Verbatim(s.to.String()))
		}
		made = append(made, s.to.String())
		span := spanOf(s)
		rest = append(rest, text[at:span.Start]...)
		at = span.End
		for i := s.heading; i < len(found.Headings) && found.Headings[i].At < span.End; i++ {
			d.to[headingAt{note, i}] = headingAt{s.to.String(), i - s.heading}
		}
		d.now[s.to.String()] = newLinked(markdown.Scan(text[span.Start:span.End]))
	}
	d.now[note] = newLinked(markdown.Scan(append(rest, text[at:]...)))
	left := 0
	for i := range found.Headings {
		if h := (headingAt{note, i}); d.to[h] == (headingAt{}) {
			d.to[h] = headingAt{note, left}
			left++
		}
	}
	return d, made, nil
}

// sectionEnds returns where the section of each heading of a note ends, as [markdown.Note.Section] does for one.
func sectionEnds(found markdown.Note) []int {
	ends := make([]int, len(found.Headings))
	var open []int // headings whose sections have not ended, each below the one before
	for i, h := range found.Headings {
		for len(open) > 0 && found.Headings[open[len(open)-1]].Level >= h.Level {
			ends[open[len(open)-1]] = h.At
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		ends[i] = found.Size
	}
	return ends
}

// unwrittenIn says of the links of a divided note that could not be rewritten in which of its parts they are.
func unwrittenIn(
	text []byte,
	lost []relink.Left,
	partOf func(at int) string,
	sections []section,
	rest disk.Path,
) string {
	if len(lost) == 0 {
		return ""
	}
	in := map[string][]relink.Left{}
	at := 0
	line := 1
	for _, l := range lost {
		if l.Line < line { // what is found in the properties, and in bases, is not in the order of the text
			at = 0
			line = 1
		}
		at, _ = lineStart(text, at, l.Line-line)
		line = l.Line
		part := partOf(at)
		in[part] = append(in[part], l)
	}
	unwritten := ""
	for _, s := range sections {
		unwritten += remarks(s.to, in[s.to.String()])
	}
	return unwritten + remarks(rest, in[rest.String()])
}

// dividing returns the index, and the move of a division: files that go as a whole, and those that
// are made.
func dividing(v *call.Vault, d *division, to map[string]string, made []string) (*index.Index, *relink.Move, error) {
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
