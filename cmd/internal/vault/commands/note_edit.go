package commands

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

func init() {
	register(
		// These work on no note that is not named: the focused note is the user's choice
		// not the caller's.
		command.Command{Name: "note:replace", Plan: replaceInNote},
		command.Command{Name: "note:insert", Plan: insertText},
		command.Command{Name: "note:set-section", Plan: setSection},
		command.Command{Name: "create", Plan: create, Verify: meansCreated},
		command.Command{Name: "append", Plan: addTo("Appended to: ", edit.Append), Verify: meansAdded(appended)},
		command.Command{Name: "prepend", Plan: addTo("Prepended to: ", edit.Prepend), Verify: meansAdded(prepended)},
		command.Command{Name: "note:section", Run: readSection},
		command.Command{Name: "outline", Run: outline},
		command.Command{Name: "wordcount", Run: wordCount},
	)
}

func replaceInNote(v *command.Vault, p command.Values) (command.Proposal, error) {
	return EditNamed(v, p, "Replaced in: ", func(text []byte) ([]byte, error) { return edit.Replace(text, p["old"], p["new"]) })
}

// insertText puts content on lines of its own. After a heading means after its
// whole section; append heading= puts text right below the heading's own.
func insertText(v *command.Vault, p command.Values) (command.Proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return command.Proposal{}, err
	}
	where := edit.Before
	if p["position"] == "after" {
		where = edit.After
	}
	return EditNamed(v, p, "Inserted into: ", func(text []byte) ([]byte, error) { return edit.Insert(text, where, part, p["content"]) })
}

// setSection replaces a part. Content of nothing but a line break empties a
// section: an empty value is more often a slip.
func setSection(v *command.Vault, p command.Values) (command.Proposal, error) {
	part, err := partOf(p)
	if err != nil {
		return command.Proposal{}, err
	}
	return EditNamed(v, p, "Section set in: ", func(text []byte) ([]byte, error) { return edit.SetSection(text, part, p["content"]) })
}

// partOf reads which part of a note a request means.
func partOf(p command.Values) (edit.Target, error) {
	if err := onePart(p); err != nil {
		return edit.Target{}, err
	}
	switch {
	case p.Has("heading"):
		return edit.Heading(p["heading"]), nil
	case p.Has("block"):
		return edit.Block(p["block"]), nil
	}
	first, last, err := parseLines(p["lines"])
	return edit.Lines(first, last), err
}

// EditNamed returns the proposal to change the note that a request names.
func EditNamed(v *command.Vault, p command.Values, said string, edit func(text []byte) ([]byte, error)) (command.Proposal, error) {
	change := func(text []byte) ([]byte, error) {
		return Edit(text, func() ([]byte, error) { return edit(text) })
	}
	named := p.Has("file") || p.Has("path")
	switch {
	case p.Has("daily") && named:
		return command.Proposal{}, command.Misuse("Use file=<name>, path=<path> or daily, not several.")
	case p.Has("daily"):
		today, err := Today(v)
		if err != nil {
			return command.Proposal{}, err
		}
		return dailyNote(v, today, said+today.Path.String(), change)
	case !named:
		return command.Proposal{}, command.Misuse("Missing required parameter: path=<path>, file=<name> or daily")
	}
	return command.ProposeEdit(v, p, said, change)
}

// Edit makes an edit and explains the error, which names the places in the
// text that may have been meant: a caller that edits a note by a name has an old or an
// inexact picture of it.
func Edit(text []byte, change func() ([]byte, error)) ([]byte, error) {
	edited, err := change()
	if err != nil {
		return nil, explainEditError(markdown.Scan(text), err)
	}
	return edited, nil
}

// explainEditError explains why a part of a note was not found or not changed.
func explainEditError(found markdown.Note, err error) error {
	var missing *edit.NotFound
	var several *edit.Ambiguous
	var refusal *edit.Refusal
	switch {
	case errors.As(err, &missing):
		return cmp.Or(kindOfMissing[missing.What], command.NotFound).DidYouMean(likeMissing(found, missing),
			"%s %q not found.%s", capital(missing.What), command.Verbatim(Excerpt(missing.Wanted)), instead(found, missing))
	case errors.As(err, &several) && several.What == "text":
		return command.AmbiguousText.Failure("Text %q matches %d times: %s. Include more surrounding text.",
			command.Verbatim(Excerpt(several.Wanted)), several.Count, onLines(several.Candidates, several.Count))
	case errors.As(err, &several):
		return command.Ambiguous.Failure("%s %q is ambiguous: %s.", capital(several.What), command.Verbatim(several.Wanted), onLines(several.Candidates, several.Count))
	case errors.As(err, &refusal):
		text := fmt.Sprintf("Line %d: %s.", refusal.Line, refusal.Reason)
		if len(refusal.Instead) > 0 {
			text += " Possible: " + onLines(refusal.Instead, len(refusal.Instead)) + "."
		}
		return command.Failure("%s", text)
	}
	return err
}

// kindOfMissing are the kinds of failure where a part of a note was not found: the message lists
// headings and blocks.
var kindOfMissing = map[string]command.Kind{
	"heading": command.NotFoundHeading, "block": command.NotFoundNearest, "line": command.NotFoundLine, "text": command.NotFoundText,
}

// likeMissing returns the names in a note that may have been meant.
func likeMissing(found markdown.Note, missing *edit.NotFound) []string {
	switch missing.What {
	case "heading":
		names := command.Map(found.Headings, func(h markdown.Heading) string { return h.Text })
		wanted := missing.Wanted[strings.LastIndexByte(missing.Wanted, '#')+1:]
		return lookup.NearestNames(wanted, names)
	case "block":
		return lookup.NearestNames(strings.TrimPrefix(missing.Wanted, "^"), blockIDs(found))
	}
	return nil
}

func blockIDs(found markdown.Note) []string {
	return command.Map(found.Blocks, func(b markdown.Block) string { return b.ID })
}

// instead says what is there in place of what was looked for.
func instead(found markdown.Note, missing *edit.NotFound) string {
	switch {
	case missing.What == "text" && len(missing.Near) > 0:
		return " Its first line is on " + onLines(missing.Near, len(missing.Near)) + "."
	case missing.What == "block":
		ids := blockIDs(found)
		if len(ids) == 0 {
			return " The note has no blocks with an id."
		}
		return " The note has " + command.AndMore(command.List(ids, maxListedHeadings), len(ids)-maxListedHeadings) + "."
	case missing.What != "heading":
		return ""
	case len(found.Headings) == 0:
		return " The note has no headings."
	}
	names := command.Map(found.Headings[:min(len(found.Headings), maxListedHeadings)], func(h markdown.Heading) string {
		return fmt.Sprintf("%q (line %d)", command.Verbatim(Excerpt(h.Text)), h.Line)
	})
	return " The note has " + command.AndMore(strings.Join(names, ", "), len(found.Headings)-maxListedHeadings) + "."
}

// maxListedHeadings bounds how many headings an error lists; the command outline lists
// all.
const maxListedHeadings = 30

// onLines writes lines out: "line 4", "lines 4, 9", "lines 4, 9 and 3 more".
func onLines(all []edit.Candidate, count int) string {
	lines := command.Map(all, func(c edit.Candidate) string { return strconv.Itoa(c.Line) })
	text := "lines " + strings.Join(lines, ", ")
	if len(lines) == 1 {
		text = "line " + lines[0]
	}
	return command.AndMore(text, count-len(lines))
}

// maxExcerpt is how much of a text is quoted in a sentence about it.
const maxExcerpt = 60

// Excerpt returns the beginning of a text, of its first line with something on
// it.
func Excerpt(text string) string {
	line, rest, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	line = strings.TrimSuffix(line, "\r")
	cut := len(line)
	if cut > maxExcerpt {
		for cut = maxExcerpt; cut > 0 && !utf8.RuneStart(line[cut]); cut-- {
		}
	}
	if cut < len(line) || rest != "" {
		return line[:cut] + "…"
	}
	return line
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// create refuses a taken path, where the app makes a numbered copy: a caller that
// named a path means that note. Text that is given follows that of a template.
func create(v *command.Vault, p command.Values) (command.Proposal, error) {
	made, err := newPath(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	before, err := command.ShownState(v, made)
	if err != nil {
		return command.Proposal{}, command.WriteError(made.String(), err)
	}
	if before.Exists && !p.Has("overwrite") {
		return command.Proposal{}, command.AlreadyExists.Failure("File %q already exists.", command.Verbatim(made.String()))
	}
	text := []byte(p["content"])
	if p.Has("template") {
		if text, err = fromTemplate(v, p["template"], made.Stem()); err != nil {
			return command.Proposal{}, err
		}
		if p.Has("content") {
			text = edit.Append(text, p["content"], false)
		}
	}
	said := "Created: "
	if before.Exists {
		said = "Overwrote: "
	}
	return command.Proposal{Steps: []command.Step{{Path: made, Before: before, After: command.Existing(text)}}, Message: said + made.String(), Note: made, Replaces: before.Exists}, nil
}

// kept are the extensions that a name for a new file may bring. To every other
// name the one of notes is added, also after a dot: "v1.2 notes".
var kept = []string{".md", ".canvas", ".base"}

// newPath returns where a new file goes: path= as it is, name= into the folder
// for new notes.
func newPath(v *command.Vault, p command.Values) (disk.Path, error) {
	text, typed := p["path"], p["path"]
	switch {
	case p.Has("path") && p.Has("name"):
		return disk.Path{}, command.Misuse("Use name=<name> or path=<path>, not both.")
	case p.Has("name"):
		folder, err := newFolder(v)
		if err != nil {
			return disk.Path{}, err
		}
		typed = p["name"]
		text = path.Join(folder, p["name"])
	case !p.Has("path"):
		return disk.Path{}, command.Misuse("Missing required parameter: path=<path> or name=<name>")
	}
	switch kind := allowlist.FileKind(strings.TrimPrefix(path.Ext(text), ".")); kind {
	case "image", "audio", "video", "pdf": // the name means a file, and not a note such as "v1.2 notes"
		return disk.Path{}, command.BadValue.Advise(allowlist.ServesKind(kind)).Failure("File %q is not a note: no text is written into it.", command.Verbatim(typed))
	}
	if !slices.Contains(kept, path.Ext(text)) {
		if at, err := v.PathOf(text); err == nil && slices.Contains(kept, path.Ext(at.String())) {
			return at, nil // a note that is there, with its extension in another case
		}
		text += ".md"
	}
	made, err := v.PathOf(text)
	if err != nil {
		return disk.Path{}, command.Failure("File %q cannot be created: %v.", command.Verbatim(typed), err)
	}
	return made, nil
}

// newFolder returns the folder for new notes, "" for that of the vault. The one
// of the focused note, which can be set too, takes a note that is focused.
func newFolder(v *command.Vault) (string, error) {
	var app struct {
		Location string `json:"newFileLocation"`
		Folder   string `json:"newFileFolderPath"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return "", err
	}
	switch app.Location {
	case "folder":
		return command.NormalPath(app.Folder), nil
	case "current":
		if active, err := v.ActiveNote(); err == nil && strings.Contains(active, "/") {
			return path.Dir(active), nil
		}
	}
	return "", nil
}

// addTo returns the command that adds text to a note in one way.
func addTo(said string, add adding) func(*command.Vault, command.Values) (command.Proposal, error) {
	return func(v *command.Vault, p command.Values) (command.Proposal, error) {
		return command.ProposeEdit(v, p, said, add.of(p))
	}
}

// adding is a way to add text to a note.
type adding func(text []byte, content string, inline bool) []byte

// of returns the edit that adds what a request gives: below a heading, if it
// names one. There inline means nothing, because lines of their own are added.
func (add adding) of(p command.Values) func(text []byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		switch {
		case p.Has("heading") && p.Has("inline"):
			return nil, command.Misuse("Use heading=<text> or inline, not both.")
		case p.Has("create-heading") && !p.Has("heading"):
			return nil, command.Misuse("create-heading makes the heading that heading=<text> names: give it too.")
		case p.Has("create-heading"):
			return Edit(text, func() ([]byte, error) { return edit.AppendUnderMade(text, p["heading"], p["content"]) })
		case p.Has("heading"):
			return Edit(text, func() ([]byte, error) { return edit.AppendUnder(text, p["heading"], p["content"]) })
		}
		return add(text, p["content"], p.Has("inline")), nil
	}
}

// templateStyle is what is said of a note that the app filled from a template.
const templateStyle = "the text is what the app made of the template"

// meansCreated judges a new note, or one that was replaced. What a template gives
// is for the app to say: it may hold the time, or code of a plugin.
func meansCreated(_ *command.Vault, p command.Values, c command.AppChange) (command.Verdict, error) {
	if p.Has("template") {
		return command.Verdict{Done: !c.Now.Equal(c.Before), Style: templateStyle}, nil
	}
	return command.IsComposedOf(c.Now.Text, false, []byte(p["content"])), nil
}

// meansAdded judges text that was added to a note that is there.
func meansAdded(add func(before, now []byte, p command.Values) command.Verdict) command.Verifier {
	return func(_ *command.Vault, p command.Values, c command.AppChange) (command.Verdict, error) {
		return add(c.Before.Text, c.Now.Text, p), nil
	}
}

func appended(before, now []byte, p command.Values) command.Verdict {
	return command.IsComposedOf(now, p.Has("inline"), before, []byte(p["content"]))
}

func prepended(before, now []byte, p command.Values) command.Verdict {
	body := markdown.BodyStart(before)
	return command.IsComposedOf(now, p.Has("inline"), slices.Concat(before[:body], []byte(p["content"])), before[body:])
}

// onePart refuses a request that names no part of a note, or several.
func onePart(p command.Values) error {
	given := 0
	for _, way := range []string{"heading", "block", "lines"} {
		if p.Has(way) {
			given++
		}
	}
	switch given {
	case 0:
		return command.Misuse("Missing required parameter: heading=<text>, block=<id> or lines=<n-m>")
	case 1:
		return nil
	}
	return command.Misuse("Use heading=<text>, block=<id> or lines=<n-m>, not several.")
}

// readSection prints the bytes of one part of a note as they are. Its facts are
// those of the whole note, so that a change of the part can be tied to them.
func readSection(v *command.Vault, p command.Values) (command.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	if err := onePart(p); err != nil {
		return command.Reply{}, err
	}
	found := markdown.Scan(text)
	var part markdown.Span
	switch {
	case p.Has("heading"):
		var i int // several of one name are told apart by those above them, or by their lines
		if i, err = edit.FindHeading(found, p["heading"]); err == nil {
			part = found.Section(i)
		}
	case p.Has("block"):
		block, ok := found.Block(strings.TrimPrefix(p["block"], "^"))
		if part = block.Span; !ok {
			err = &edit.NotFound{What: "block", Wanted: p["block"]}
		}
	default:
		part, err = lineSpan(text, p["lines"])
	}
	if err != nil {
		return command.Reply{}, explainEditError(found, err)
	}
	return command.FromNote(t.Path, text, string(text[part.Start:part.End])), nil
}

// lineSpan finds the bytes of lines. The last one may be after the end of the
// note.
func lineSpan(text []byte, wanted string) (markdown.Span, error) {
	first, last, err := parseLines(wanted)
	if err != nil {
		return markdown.Span{}, err
	}
	start, ok := lineStart(text, 0, first-1)
	if !ok {
		return markdown.Span{}, command.NotFoundLine.Failure("Line %q not found. The note has %d lines.", command.Verbatim(strconv.Itoa(first)), edit.NumberOfLines(text))
	}
	end, _ := lineStart(text, start, last-first+1)
	return markdown.Span{Start: start, End: end}, nil
}

// parseLines reads lines that are given as "12" or "12-20", counted from 1.
func parseLines(wanted string) (first, last int, err error) {
	from, to, several := strings.Cut(wanted, "-")
	if !several {
		to = from
	}
	first, err = strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || first < 1 || last < first {
		return 0, 0, command.Misuse("Invalid lines: %s. Use <n> or <n-m>, counted from 1.", wanted)
	}
	return first, last, nil
}

// lineStart returns where the line begins that is n lines after the one at
// from; the end of the text if there is none.
func lineStart(text []byte, from, n int) (at int, ok bool) {
	for ; n > 0; n-- {
		newline := bytes.IndexByte(text[from:], '\n')
		if newline < 0 {
			return len(text), false
		}
		from += newline + 1
	}
	return from, from < len(text)
}

// maxSeveral bounds the text of an answer with several notes: what is more
// fits no reader, and each note can be read by itself.
const maxSeveral = 4 << 20

// several prints notes one after the other, each under a heading with its
// path. One that is not there, cannot be read, or would make the answer too
// long keeps its heading, which says so. Of each note only the section of a heading is
// printed, if one is given.
func several(v *command.Vault, notes []disk.Path, section string) string {
	var out strings.Builder
	for _, note := range notes {
		text, remark := fitting(v, note, maxSeveral-out.Len())
		if section != "" && remark == "" {
			text, remark = sectionIn(text, section)
		}
		fmt.Fprintf(&out, "==> %s%s <==\n%s", note, remark, text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// fitting returns the text of a note if it has at most limit bytes, else what
// is in its heading.
func fitting(v *command.Vault, note disk.Path, limit int) (text []byte, remark string) {
	info, err := v.Disk.Stat(note)
	switch {
	case err == nil && info.Size() > int64(limit):
		return nil, fmt.Sprintf(" (%d bytes, not shown)", info.Size())
	case err == nil:
		text, err = v.Disk.Read(note)
	}
	switch {
	case err == nil:
		return text, ""
	case disk.IsMissing(err):
		return nil, " (missing)"
	case errors.Is(err, fs.ErrPermission):
		return nil, " (cannot be read: permission denied)"
	}
	return nil, " (cannot be read)"
}

// sectionIn returns the section of a heading, or the text in the heading
// of the note that has none, or several.
func sectionIn(text []byte, heading string) (section []byte, remark string) {
	found := markdown.Scan(text)
	i, err := edit.FindHeading(found, heading)
	var many *edit.Ambiguous
	switch {
	case errors.As(err, &many):
		return nil, fmt.Sprintf(" (has %d headings of that name)", many.Count)
	case err != nil:
		return nil, " (has no such heading)"
	}
	at := found.Section(i)
	return text[at.Start:at.End], ""
}

// outline has the same sentence for nothing in every form, the total too.
func outline(v *command.Vault, p command.Values) (command.Reply, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	return command.FromNote(t.Path, text, outlineOf(markdown.Scan(text).Headings, p)), nil
}

func outlineOf(headings []markdown.Heading, p command.Values) string {
	switch {
	case len(headings) == 0:
		return "No headings found."
	case p.Has("total"):
		return strconv.Itoa(len(headings))
	case p["format"] == command.FormatJSON:
		type row struct { // numbers for level and line, unlike most commands
			Level   int    `json:"level"`
			Heading string `json:"heading"`
			Line    int    `json:"line"`
		}
		table := command.Map(headings, func(h markdown.Heading) row { return row{h.Level, h.Text, h.Line} })
		return indented(table)
	case p["format"] != "md":
		// A heading is below the last one before it with a lower level; levels that are left out take no
		// room.
		goesOn := siblings(headings)
		var out strings.Builder
		var open []int // the headings above, outermost first
		for i, h := range headings {
			for len(open) > 0 && headings[open[len(open)-1]].Level >= h.Level {
				open = open[:len(open)-1]
			}
			for _, j := range open {
				out.WriteString(pick(goesOn[j], "│   ", "    "))
			}
			out.WriteString(pick(goesOn[i], "├── ", "└── ") + h.Text + "\n")
			open = append(open, i)
		}
		return out.String()
	}
	var out strings.Builder
	for _, h := range headings {
		out.WriteString(strings.Repeat("#", h.Level) + " " + h.Text + "\n")
	}
	return out.String()
}

// siblings says of each heading whether another branch follows at its place:
// whether the next heading that is not below it still is below its parent.
func siblings(headings []markdown.Heading) []bool {
	parents, next := make([]int, len(headings)), make([]int, len(headings))
	var open []int
	for i, h := range headings {
		for len(open) > 0 && headings[open[len(open)-1]].Level >= h.Level {
			next[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			parents[i] = headings[open[len(open)-1]].Level
		}
		open = append(open, i)
	}
	goesOn := make([]bool, len(headings))
	for i, j := range next {
		goesOn[i] = j > 0 && headings[j].Level > parents[i]
	}
	return goesOn
}

func wordCount(v *command.Vault, p command.Values) (command.Reply, error) {
	text, found, err := v.ScannedNote(p)
	if err != nil {
		return command.Reply{}, err
	}
	words, characters := markdown.WordCount(text[found.Body:])
	switch {
	case p.Has("words") == p.Has("characters"):
		return command.Text("words: " + strconv.Itoa(words) + "\ncharacters: " + strconv.Itoa(characters)), nil
	case p.Has("words"):
		return command.Text(strconv.Itoa(words)), nil
	}
	return command.Text(strconv.Itoa(characters)), nil
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
