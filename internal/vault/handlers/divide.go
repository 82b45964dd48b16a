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
)

// headingAt identifies a heading of a note by its index.
type headingAt struct {
	note string
	at   int
}

// division maps the headings and blocks of notes to where they are after parts of the notes moved to other notes.
type division struct {
	was  map[string]*linked               // the notes before, by path
	now  map[string]*linked               // the notes after, by path
	to   map[headingAt]headingAt          // headings before → after
	part func(note string, at int) string // the note that contains an offset of a note afterwards
	// alike is the text of a heading that a link could not distinguish from another heading of the same name, "" if
	// there is none.
	alike string
}

// linked is a note with what is needed to resolve links into it.
type linked struct {
	markdown.Note
	outline *edit.Outline
	blocks  map[string]markdown.Block // by id, see [markdown.FoldCase]
}

func newLinked(note markdown.Note) *linked {
	n := &linked{Note: note, outline: edit.NewOutline(note), blocks: map[string]markdown.Block{}}
	for _, block := range note.Blocks { // the last block with an id wins
		n.blocks[markdown.FoldCase(block.ID)] = block
	}
	return n
}

// link returns the new target of a link. If several headings have the same name, the new subpath also names the
// headings above it.
func (d *division) link(file, subpath string) (newFile, newSubpath string) {
	source, divided := d.was[file]
	switch {
	case !divided:
		return file, subpath
	case subpath == "":
		return d.part(file, 0), ""
	}
	if id, isBlock := strings.CutPrefix(subpath[strings.LastIndexByte(subpath, '#')+1:], "^"); isBlock {
		if block, ok := source.blocks[markdown.FoldCase(id)]; ok {
			return d.part(file, block.Span.Start), subpath
		}
		return d.part(file, 0), subpath
	}
	places := source.outline.Linked(subpath)
	if places == nil {
		return d.part(file, 0), subpath
	}
	to := d.to[headingAt{file, places[len(places)-1]}]
	target := d.now[to.note]
	leadsToHeading := func() bool {
		last := target.outline.Linked(subpath)
		return last != nil && last[len(last)-1] == to.at
	}
	if leadsToHeading() {
		return to.note, subpath
	}
	chain := ""
	for i := to.at; i >= 0; i = target.outline.Above(i) {
		chain = "#" + edit.HeadingInLink(target.Headings[i].Text) + chain
		if subpath = chain; leadsToHeading() {
			return to.note, subpath
		}
	}
	d.alike = target.Headings[to.at].Text
	return to.note, subpath
}

// checked rejects a proposal after which a link would lead to a different heading.
func (d *division) checked(proposal change.Proposal, err error) (change.Proposal, error) {
	if err == nil && d.alike != "" {
		kind := answer.AlreadyExists.Advise("rename one of the headings with heading:rename first")
		err = kind.Failure(
			"A link leads to the heading %q, which it could not tell from another one. Nothing was changed.",
			answer.Verbatim(d.alike),
		)
	}
	return proposal, err
}

// mergeNotes plans to add the text of a note to a second one, at its end or at the end of a section, and to move the
// first to the trash. Properties that the second note lacks are added, lists are merged, and for other properties the
// value of the second note is kept.
func mergeNotes(v *call.Vault, p call.Values) (change.Proposal, error) {
	from, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	into, targetText, err := v.MarkdownNote(call.Values{"path": p["into"]})
	switch {
	case err != nil:
		return change.Proposal{}, err
	case into.Path == from.Path:
		return change.Proposal{}, answer.Misuse("A note cannot be merged into itself.")
	}
	v.Taken = append(v.Taken, call.Taken{Path: from.Path, Text: text})
	// Footnotes and reference links keep their targets, and an unclosed block in one text does not swallow the other.
	text, relabelled := edit.WithOwnLabels(edit.Closed(text), targetText)
	original := targetText
	targetText = edit.Closed(targetText)
	sourceNote := newLinked(markdown.Scan(text))
	targetNote := newLinked(markdown.Scan(targetText))
	for _, block := range sourceNote.Blocks {
		if _, isInBoth := targetNote.blocks[markdown.FoldCase(block.ID)]; isInBoth {
			return change.Proposal{}, answer.AlreadyExists.Failure(
				"Both notes have a block %q. Nothing was changed.",
				"^"+block.ID,
			)
		}
	}
	merged, err := combineNotes(p, text, targetText)
	if err != nil {
		return change.Proposal{}, err
	}
	source := from.Path.String()
	target := into.Path.String()
	d := &division{
		was:  map[string]*linked{source: sourceNote, target: targetNote},
		now:  map[string]*linked{target: newLinked(markdown.Scan(merged))},
		to:   map[headingAt]headingAt{},
		part: func(string, int) string { return target },
	}
	d.mergeHeadings(p, source, target)
	idx, m, err := divisionMove(v, d, map[string]string{source: target}, nil)
	if err != nil {
		return change.Proposal{}, err
	}
	sourceRelinked, _, lost := m.Rewrite(text, source)
	targetRelinked, _, lostInTarget := m.Rewrite(targetText, target)
	if merged, err = combineNotes(p, sourceRelinked, targetRelinked); err != nil {
		return change.Proposal{}, err
	}
	properties, err := change.PropertiesIn(sourceRelinked)
	if err != nil {
		return change.Proposal{}, propertyError(into.Path, sourceRelinked, err)
	}
	merged, keptNames, err := withProperties(merged, properties)
	if err != nil {
		return change.Proposal{}, propertyError(into.Path, merged, err)
	}
	trashing, err := planRemoval(v, []call.Target{from}, toTrash)
	if err != nil {
		return change.Proposal{}, err
	}
	message := "Merged: " + source + " -> " + target
	if len(keptNames) > 0 {
		message += "\nKept of " + target + ": " + strings.Join(keptNames, ", ")
	}
	if len(relabelled) > 0 {
		message += "\nLabels: " + strings.Join(relabelled, ", ")
	}
	message += remarks(into.Path, append(lost, lostInTarget...))
	changed := change.ProposeChange(into.Path, original, merged, message)
	changed.Steps = append(changed.Steps, trashing.Steps...)
	err = changeLinks(v, &changed, m, others(idx, m, from.Path, into.Path), followLinks)
	return d.checked(changed, err)
}

// combineNotes adds the body of text to other, at its end or at the end of the section that the call names.
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

// mergeHeadings records where the headings of source and target are in the merged note: those of source are together,
// at the end of the target or of the section that the call names.
func (d *division) mergeHeadings(p call.Values, source, target string) {
	added := d.was[source].Headings
	own := d.was[target].Headings
	insertAt := len(own)
	if p.Has("heading") {
		i, _ := d.was[target].outline.Find(p["heading"]) // combineNotes reported a missing heading already
		insertAt = i + 1
		for insertAt < len(own) && own[insertAt].Level > own[i].Level {
			insertAt++
		}
	}
	for i := range added {
		d.to[headingAt{source, i}] = headingAt{target, insertAt + i}
	}
	for i := range own {
		to := headingAt{target, i}
		if i >= insertAt {
			to.at += len(added)
		}
		d.to[headingAt{target, i}] = to
	}
}

// extractSection plans to move a section of a note to a new note, and to leave a link in its place.
func extractSection(v *call.Vault, p call.Values) (change.Proposal, error) {
	return divide(v, p, "Extracted", func(note markdown.Note, _ string) ([]section, error) {
		i, err := edit.FindHeading(note, p["heading"])
		if err != nil {
			return nil, explainEditError(note, err)
		}
		to, err := newPath(v, call.Values{"path": p["to"]})
		return []section{{heading: i, to: to}}, err
	})
}

// splitNote plans to move every section of a level to a new note.
func splitNote(v *call.Vault, p call.Values) (change.Proposal, error) {
	level := 2
	if p.Has("level") {
		level, _ = strconv.Atoi(p["level"]) // the table admits digits only
	}
	return divide(v, p, "Split", func(note markdown.Note, folder string) (sections []section, err error) {
		if p.Has("folder") {
			folder = strings.Trim(p["folder"], "/")
		}
		isTaken := map[string]bool{}
		numbers := map[string]int{} // the last number tried for each title
		for i, h := range note.Headings {
			if h.Level != level {
				continue
			}
			title := nameOf(h.Text)
			for {
				numbers[title]++
				typed := path.Join(folder, title)
				if n := numbers[title]; n > 1 {
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
				if name := markdown.FoldCase(to.String()); isFree && !isTaken[name] {
					sections = append(sections, section{i, to})
					isTaken[name] = true
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

// nameOf returns a note name for a heading, without characters that a file name or a link cannot contain.
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

const maxName = 120 // bytes; file systems allow 255, and a number and an extension follow

// section is a section of a note that moves to a new note.
type section struct {
	heading int
	to      disk.Path
}

// divide plans to move the sections that choose returns to new notes. A link or an embed replaces each section, and
// links to the moved text are updated.
func divide(
	v *call.Vault,
	p call.Values,
	verb string,
	choose func(scanned markdown.Note, folder string) ([]section, error),
) (change.Proposal, error) {
	from, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	v.Taken = append(v.Taken, call.Taken{Path: from.Path, Text: text})
	scanned := markdown.Scan(text)
	sections, err := choose(scanned, from.Path.Folder())
	if err != nil {
		return change.Proposal{}, err
	}
	note := from.Path.String()
	d, targets, err := planDivision(v, note, text, scanned, sections)
	if err != nil {
		return change.Proposal{}, err
	}
	idx, m, err := divisionMove(v, d, nil, targets)
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
	message := fmt.Sprintf("%s: %s -> %s", verb, note, strings.Join(targets, ", "))
	planned := divided.proposal(from.Path, text, sections, message)
	partOf := func(at int) string { return d.part(note, at) }
	planned.Message += listUnwritten(text, divided.lost, partOf, sections, from.Path)
	err = changeLinks(v, &planned, m, others(idx, m, from.Path), followLinks)
	return d.checked(planned, err)
}

// linksFor returns the function that writes the link, or the embed, in place of a section.
func linksFor(p call.Values, m *edit.Move) func(source, target string) string {
	if p.Has("embed") {
		return func(source, target string) string { return "!" + m.Wikilink(source, target) }
	}
	return m.Wikilink
}

// dividedText is the text of a divided note.
type dividedText struct {
	parts   [][]byte         // the texts of the sections, and last the rest of the note
	carried []string         // labels of definitions that moved with a section
	lost    []edit.StaleLink // links that could not be rewritten
}

// proposal returns the change that creates the notes of the sections and leaves the rest in the note.
func (t dividedText) proposal(from disk.Path, text []byte, sections []section, message string) change.Proposal {
	proposal := change.ProposeChange(from, text, t.parts[len(sections)], message)
	proposal.Keeps = true
	var created []change.Step
	for i, s := range sections {
		created = append(created, change.Step{Path: s.to, After: change.Existing(t.parts[i])})
	}
	proposal.Steps = append(created, proposal.Steps...)
	if len(t.carried) > 0 {
		proposal.Message += "\nDefinitions taken along: " + strings.Join(t.carried, ", ")
	}
	return proposal
}

// divideText splits the text of a note into its sections and the rest. In the rest, the result of link replaces each
// section.
func divideText(
	v *call.Vault,
	d *division,
	m *edit.Move,
	note string,
	text []byte,
	sections []section,
	link func(source, target string) string,
) (divided dividedText, err error) {
	// Each link is rewritten for the note that will contain it.
	moves := map[string]*edit.Move{note: m.At(note)}
	for _, s := range sections {
		moves[s.to.String()] = m.At(s.to.String())
	}
	edited, _, lost := m.RewriteParts(text, note, func(at int) *edit.Move { return moves[d.part(note, at)] })
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
		// A link in a definition is rewritten for the note that will contain it.
		written, _, _ := moves[sections[part].to.String()].Rewrite(definition, note)
		return written
	})
	return divided, nil
}

// cutSections returns the texts of the sections of a note, and last the rest, in which the result of link replaces each
// section.
func cutSections(
	v *call.Vault, text []byte, sections []section, link func(to disk.Path) string,
) (parts [][]byte, err error) {
	note := markdown.Scan(text)
	ends := sectionEnds(note)
	var rest []byte
	at := 0
	for _, s := range sections {
		span := markdown.Span{Start: note.Headings[s.heading].At, End: ends[s.heading]}
		content := string(text[span.Start:span.End])
		if span.End < len(text) { // the last section ends as the note does
			bare := strings.TrimRight(content, "\r\n")
			content = bare + content[len(bare):len(bare)+1+strings.Index(content[len(bare):], "\n")]
		}
		if err := budget.From(v.Ctx).Hold(int64(len(content))); err != nil {
			return nil, err
		}
		parts = append(parts, []byte(content))
		rest = append(rest, text[at:span.Start]...)
		endsWithBlankLine := bytes.HasSuffix(rest, []byte("\n\n")) || bytes.HasSuffix(rest, []byte("\n\r\n"))
		isInBody := len(rest) > 0 && len(rest) > note.Body
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

// planDivision returns the division of a note whose sections move to new notes, and the paths of the new notes. It is
// an error if one of them exists.
func planDivision(
	v *call.Vault,
	note string,
	text []byte,
	scanned markdown.Note,
	sections []section,
) (d *division, targets []string, err error) {
	d = &division{
		was: map[string]*linked{note: newLinked(scanned)},
		now: map[string]*linked{},
		to:  map[headingAt]headingAt{},
	}
	ends := sectionEnds(scanned)
	spanOf := func(s section) markdown.Span {
		return markdown.Span{Start: scanned.Headings[s.heading].At, End: ends[s.heading]}
	}
	d.part = func(_ string, at int) string {
		// The sections are in the order of the text and do not overlap.
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
	// The rest of the note without the sections. Its links are rewritten elsewhere.
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
		targets = append(targets, s.to.String())
		span := spanOf(s)
		rest = append(rest, text[at:span.Start]...)
		at = span.End
		for i := s.heading; i < len(scanned.Headings) && scanned.Headings[i].At < span.End; i++ {
			d.to[headingAt{note, i}] = headingAt{s.to.String(), i - s.heading}
		}
		d.now[s.to.String()] = newLinked(markdown.Scan(text[span.Start:span.End]))
	}
	d.now[note] = newLinked(markdown.Scan(append(rest, text[at:]...)))
	next := 0
	for i := range scanned.Headings {
		if h := (headingAt{note, i}); d.to[h] == (headingAt{}) {
			d.to[h] = headingAt{note, next}
			next++
		}
	}
	return d, targets, nil
}

// sectionEnds returns the offset at which the section of each heading of a note ends, as [markdown.Note.Section] does
// for a single heading.
func sectionEnds(note markdown.Note) []int {
	ends := make([]int, len(note.Headings))
	var open []int // headings whose sections have not ended, each of a deeper level than the one before
	for i, h := range note.Headings {
		for len(open) > 0 && note.Headings[open[len(open)-1]].Level >= h.Level {
			ends[open[len(open)-1]] = h.At
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		ends[i] = note.Size
	}
	return ends
}

// listUnwritten lists the links of a divided note that could not be rewritten, by the part that contains them.
func listUnwritten(
	text []byte,
	unwritten []edit.StaleLink,
	partOf func(at int) string,
	sections []section,
	rest disk.Path,
) string {
	if len(unwritten) == 0 {
		return ""
	}
	byPart := map[string][]edit.StaleLink{}
	at := 0
	line := 1
	for _, l := range unwritten {
		if l.Line < line { // links in properties and in bases are not in the order of the text
			at = 0
			line = 1
		}
		at, _ = lineStart(text, at, l.Line-line)
		line = l.Line
		part := partOf(at)
		byPart[part] = append(byPart[part], l)
	}
	list := ""
	for _, s := range sections {
		list += remarks(s.to, byPart[s.to.String()])
	}
	return list + remarks(rest, byPart[rest.String()])
}

// divisionMove returns the index and the move for a division. to maps files that move as a whole, made are the new
// files.
func divisionMove(v *call.Vault, d *division, to map[string]string, made []string) (*index.Index, *edit.Move, error) {
	idx, err := v.Index()
	if err != nil {
		return nil, nil, err
	}
	var before, after []string
	appears := slices.Clone(made)
	for note := range d.was {
		appears = append(appears, note)
	}
	for _, f := range idx.Files {
		before = append(before, f.Path.String())
		if _, isMoved := to[f.Path.String()]; !isMoved {
			after = append(after, f.Path.String())
		}
	}
	m, err := newMove(v, to, nil, appears, before, append(after, made...))
	if err != nil {
		return nil, nil, err
	}
	return idx, m.Dividing(d.link), nil
}

// others returns the files with links that a move affects, except the given ones.
func others(idx *index.Index, m *edit.Move, without ...disk.Path) []disk.Path {
	return slices.DeleteFunc(concerned(idx, m, nil), func(p disk.Path) bool { return slices.Contains(without, p) })
}
