package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

func init() {
	register(
		Command{Name: "move", Plan: move},
		Command{Name: "rename", Plan: rename},
		// Links in the copy keep the targets of the original.
		Command{Name: "copy", Plan: func(v *call.Vault, p call.Values) (change.Proposal, error) {
			r := &relocation{
				v:      v,
				follow: p["links"] == holdLinks,
				holds:  p["links"] == holdLinks,
				copies: true,
				to:     map[string]string{},
				taken:  map[string]bool{},
			}
			return r.moving(p, "Copied", func(from disk.Path) string { return destinationOf(p["to"], from) })
		}},
		Command{Name: "folder:create", Plan: func(v *call.Vault, p call.Values) (change.Proposal, error) {
			folder, err := newFolderPath(v, p["path"])
			if err != nil {
				return change.Proposal{}, err
			}
			steps, err := missingFolders(v, folder)
			if err != nil {
				return change.Proposal{}, err
			}
			return change.Proposal{Steps: steps, Message: "Created: " + folder.String(), Note: folder}, nil
		}},
		Command{Name: "folder:move", Plan: moveFolders},
		Command{Name: "folder:rename", Plan: func(v *call.Vault, p call.Values) (change.Proposal, error) {
			if err := checkName(p["name"]); err != nil {
				return change.Proposal{}, err
			}
			beside := func(from disk.Path) string { return path.Join(from.Folder(), p["name"]) }
			return relocateFolders(v, p, folderRelocation{list: p["path"], verb: "Renamed", destination: beside})
		}},
		Command{Name: "folder:copy", Plan: func(v *call.Vault, p call.Values) (change.Proposal, error) {
			return relocateFolders(
				v, p, folderRelocation{list: p["path"], verb: "Copied", copies: true, destination: into(p["to"])},
			)
		}},
		Command{Name: "folder:delete", Plan: removeFolder},
	)
}

func move(v *call.Vault, p call.Values) (change.Proposal, error) {
	several := p.Has("files") || p.Has("query")
	namesBoth := p.Has("files") && p.Has("query")
	if several && (namesBoth || call.NamesOneFile(p)) {
		return change.Proposal{}, answer.Misuse(
			"Use file=<name>, path=<path>, files=<paths> or query=<text>, not several.",
		)
	}
	if several && !strings.HasSuffix(p["to"], "/") {
		return change.Proposal{}, answer.Misuse(
			"Invalid value for to: %s. Several files go to a folder, with a slash at its end.",
			answer.Verbatim(p["to"]),
		)
	}
	r, err := newRelocation(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	if !several {
		return r.moving(p, "Moved", func(from disk.Path) string { return destinationOf(p["to"], from) })
	}
	var targets []call.Target
	if p.Has("files") {
		targets, err = pathLines(p["files"], v.FindPath)
	} else {
		var notes []disk.Path
		notes, err = notesFor(v, p)
		targets = answer.Map(notes, func(note disk.Path) call.Target { return call.Target{Path: note, Typed: note.String()} })
	}
	if err != nil {
		return change.Proposal{}, err
	}
	for _, t := range targets {
		to, err := r.move(t, destinationOf(p["to"], t.Path))
		if err != nil {
			return change.Proposal{}, err
		}
		if r.planned.Note == (disk.Path{}) {
			r.planned.Note = to
		}
	}
	r.planned.Message = fmt.Sprintf("Moved: %s -> %s", answer.Count(len(r.planned.Steps), "file"), p["to"])
	r.planned.Already = noneMeant
	if len(targets) > 0 {
		r.planned.Already = fmt.Sprintf("all files that are meant (%d) are there already", len(targets))
	}
	err = r.relink()
	return r.planned, err
}

// destinationOf returns the new path of a file for to=.
func destinationOf(to string, from disk.Path) string {
	if strings.HasSuffix(to, "/") {
		return strings.TrimPrefix(to, "/") + path.Base(from.String())
	}
	return withExtension(to, from)
}

func rename(v *call.Vault, p call.Values) (change.Proposal, error) {
	if err := checkName(p["name"]); err != nil {
		return change.Proposal{}, err
	}
	r, err := newRelocation(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	return r.moving(p, "Renamed", func(from disk.Path) string {
		return path.Join(path.Dir(from.String()), withExtension(p["name"], from))
	})
}

func checkName(name string) error {
	if strings.ContainsAny(name, `/\`) {
		return answer.Misuse(
			"Invalid value for name: %s. Use move to=<path> for another folder.",
			answer.Verbatim(name),
		)
	}
	return nil
}

// withExtension adds the extension of a file to its new name, unless the name already has that extension or one that
// the app knows. Anything else after a dot belongs to the name, as in "v1.2 notes".
func withExtension(name string, file disk.Path) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	isExtension := ext != "" && (ext == strings.ToLower(file.Ext()) || slices.Contains(supported, ext))
	if isExtension || file.Ext() == "" {
		return name
	}
	return name + "." + file.Ext()
}

// supported are the extensions of the files that the app opens.
var supported = strings.Fields(
	"md base canvas avif bmp gif jpeg jpg png svg webp flac m4a mp3 ogg oga opus wav webm 3gp mkv mov mp4 ogv pdf",
)

// moving returns the proposal to move or copy the file of a request. Its step comes first: it is the file that the
// change is about.
func (r *relocation) moving(
	p call.Values,
	verb string,
	destination func(from disk.Path) string,
) (change.Proposal, error) {
	t, err := r.v.Target(p)
	if err != nil {
		return change.Proposal{}, err
	}
	to, err := r.move(t, destination(t.Path))
	if err != nil {
		return change.Proposal{}, err
	}
	r.planned.Message = verb + ": " + t.Path.String() + " -> " + to.String()
	r.planned.Note = to
	r.planned.Already = fmt.Sprintf("the file is at %q already", answer.Verbatim(to.String()))
	err = r.relink()
	return r.planned, err
}

// pathLines parses a list of paths, one per line, without duplicates.
func pathLines(list string, find func(typed string) (disk.Path, error)) (targets []call.Target, err error) {
	seen := map[disk.Path]bool{}
	for typed := range strings.Lines(list) {
		if typed = strings.TrimSpace(typed); typed == "" {
			continue
		}
		at, err := find(typed)
		if err != nil {
			return nil, missingFile(typed, err, find)
		}
		if !seen[at] {
			targets = append(targets, call.Target{Path: at, Typed: typed})
		}
		seen[at] = true
	}
	return targets, nil
}

// missingFile returns the error for a missing file. If the text looks like a pattern or like several paths in one line,
// the error has a hint how to write that.
func missingFile(typed string, missing error, find func(typed string) (disk.Path, error)) error {
	if strings.ContainsAny(typed, "*?") {
		return answer.NotFound.Advise("\"query\" takes a search in place of a pattern, such as path:\"Folder\"").
			Failure("File %q not found.", answer.Verbatim(typed))
	}
	paths := strings.FieldsFunc(typed, func(r rune) bool { return strings.ContainsRune(",;|", r) })
	for i, path := range paths {
		paths[i] = strings.TrimSpace(path)
		if _, err := find(paths[i]); err != nil || len(paths) < 2 {
			return missing
		}
	}
	list, err := excerpt.JSON(paths)
	if err != nil {
		return missing
	}
	return answer.NotFound.Advise("several files are a list: files="+list).Failure("File %q not found.", answer.Verbatim(typed))
}

// relocation moves or copies files, and updates the links that would otherwise break.
type relocation struct {
	v       *call.Vault
	planned change.Proposal
	to      map[string]string // new paths of files, by old paths
	folders map[string]string // new paths of folders, by old paths
	taken   map[string]bool   // new paths in the form of [markdown.FoldCase]
	follow  bool              // links are updated, not only counted
	holds   bool              // links to other files are rewritten if a new name would capture them
	copies  bool
	texts   int // bytes of the file texts in memory
}

// newRelocation returns an empty relocation. Through the gateway links are updated by default; otherwise the setting
// of the vault decides, whose default is not to update them, as in the app. The parameter links= overrides both.
func newRelocation(v *call.Vault, p call.Values) (*relocation, error) {
	var app struct {
		Update bool `json:"alwaysUpdateLinks"`
	}
	err := v.ReadConfig("app.json", &app)
	follow := v.ForGateway || app.Update
	if p.Has("links") {
		follow = p["links"] != "keep"
	}
	return &relocation{
		v:      v,
		follow: follow,
		holds:  p["links"] == holdLinks,
		to:     map[string]string{},
		taken:  map[string]bool{},
	}, err
}

// isTaken reports whether another file exists at the destination of a move.
func (r *relocation) isTaken(to, from disk.Path) (bool, error) {
	existing, err := r.v.Disk.Stat(to)
	if disk.IsUnread(err) {
		return false, answer.ReadError(to.String(), err)
	}
	if refusal, ok := errors.AsType[*disk.Refusal](err); ok {
		return refusal.Path == path.Base(to.String()), nil // if a parent is not a folder, the move itself reports that
	}
	if err != nil {
		return false, nil
	}
	// On a case-insensitive file system the destination may be the file itself.
	source, err := r.v.Disk.Stat(from)
	isItself := err == nil && strings.EqualFold(to.String(), from.String()) && os.SameFile(existing, source)
	return !isItself, nil
}

// move adds the step for a file, and returns its new path. A file that is already there gets no step.
func (r *relocation) move(t call.Target, typed string) (disk.Path, error) {
	before, err := stateOf(r.v, t)
	if err != nil {
		return disk.Path{}, err
	}
	requested, err := disk.ParsePath(typed)
	if err != nil {
		return disk.Path{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(typed), err)
	}
	// On a case-insensitive file system a move can change the case of the file's name, but not of its folders.
	to, err := r.v.Disk.Renamed(t.Path, requested)
	switch {
	case err != nil:
		return disk.Path{}, answer.WriteError(typed, err)
	case to == t.Path && requested != t.Path:
		return disk.Path{}, answer.AlreadyExists.Failure(
			"File %q already exists. This system takes it for %q, and a move does not rename folders.",
			answer.Verbatim(typed),
			answer.Verbatim(t.Path.String()),
		)
	case to == t.Path && !r.copies:
		return to, nil
	}
	taken, err := r.isTaken(to, t.Path)
	if err != nil {
		return disk.Path{}, err
	}
	name := markdown.FoldCase(to.String())
	if taken || r.taken[name] {
		return disk.Path{}, answer.AlreadyExists.Failure("Destination file already exists!")
	}
	r.taken[name] = true
	if r.texts += before.Text.Len(); len(r.planned.Steps) > 0 && r.texts > maxTexts {
		r.texts -= before.Text.Len()
		budget.From(r.v.Ctx).Release(int64(before.Text.Len()))
		before = before.WithoutText(r.v, t.Path)
	}
	s := change.Step{Path: to, From: t.Path, Before: before, After: before}
	if r.copies {
		s = change.Step{Path: to, After: before, CopyOf: t.Path}
	}
	r.to[t.Path.String()] = to.String()
	r.planned.Steps = append(r.planned.Steps, s)
	return to, nil
}

// stateOf returns the state of a file to be moved, copied or removed. Its text is charged to the budget.
func stateOf(v *call.Vault, t call.Target) (change.FileState, error) {
	before, err := change.CurrentState(v, t.Path)
	switch {
	case err != nil:
		return before, answer.ReadError(t.Typed, err)
	case !before.Exists:
		return before, answer.FileNotFound(t.Typed)
	}
	return before, budget.From(v.Ctx).Hold(int64(before.Text.Len()))
}

// textOf returns the state of the file at a path with its text, which it reads again if it is not in memory. A file
// of a kind that has no links stays without text.
func textOf(v *call.Vault, state change.FileState, at disk.Path) (change.FileState, error) {
	if !state.Image.Exists || !change.HasLinks(at) {
		return state, nil
	}
	now, err := stateOf(v, call.Target{Path: at, Typed: at.String()})
	if err == nil && !now.Equal(state) {
		err = answer.Conflict.Failure("Conflict: %q was changed while the change was worked out.", answer.Verbatim(at.String()))
	}
	return now, err
}

// relink adds the changes of links to the proposal.
func (r *relocation) relink() error {
	if len(r.to) == 0 && len(r.folders) == 0 {
		return nil
	}
	idx, err := r.v.Index()
	if err != nil {
		return err
	}
	var before, after, created []string
	for _, f := range idx.Files {
		p := f.Path.String()
		before = append(before, p)
		switch to, moves := r.to[p]; {
		case moves && r.copies:
			after = append(after, p, to)
			created = append(created, to)
		case moves:
			after = append(after, to)
		default:
			after = append(after, p)
		}
	}
	m, err := newMove(r.v, r.to, r.folders, nil, before, after)
	if err != nil {
		return err
	}
	if r.copies {
		for i, s := range r.planned.Steps {
			if s.After.Folder {
				continue
			}
			after, err := textOf(r.v, s.After, s.CopyOf)
			if err != nil {
				return err
			}
			text, changed, lost := m.Rewrite(after.Text.ForProgram(), s.CopyOf.String())
			if changed > 0 {
				r.planned.Steps[i].After = change.Existing(text)
			} else if s.After.Image.Exists {
				budget.From(r.v.Ctx).Release(int64(after.Text.Len()))
			}
			r.planned.Message += remarks(s.Path, lost)
		}
		if !r.follow {
			r.planned.Outdated = r.outdated(m)
			return nil
		}
		if m, err = newMove(r.v, nil, nil, created, before, after); err != nil {
			return err
		}
	}
	if r.holds {
		m = m.Holding()
	}
	links := countLinks
	if r.follow {
		links = followLinks
	}
	if err := changeLinks(r.v, &r.planned, m, concerned(idx, m, r.to), links); err != nil {
		return err
	}
	r.planned.Outdated = r.outdated(m)
	if r.v.ForGateway && !r.copies {
		if r.planned.Mentions, err = r.left(idx); err != nil {
			return err
		}
	}
	if r.planned.Mentions != "" {
		r.planned.Message += "\nLeft: " + r.planned.Mentions
	}
	return nil
}

// left describes the references to moved files that are not updated, "" if there are none: their names in texts, their
// paths in properties, and links to headings whose text changes because a link in it does.
func (r *relocation) left(idx *index.Index) (string, error) {
	list, err := mentions(r.v, r.to)
	if err != nil {
		return "", err
	}
	for _, more := range []string{pathsInProperties(idx, r.to), linksToHeadings(idx, r.planned.Steps)} {
		list = strings.TrimPrefix(list+"; "+more, "; ")
		list = strings.TrimSuffix(list, "; ")
	}
	return list, nil
}

// pathsInProperties describes the properties that contain the path of a moved file as plain text, not as a link.
func pathsInProperties(idx *index.Index, to map[string]string) string {
	texts := index.Collect(idx.Files, func(f index.Facts) (found []string) {
		for _, property := range f.Properties() {
			for _, value := range property.Value.Elements() {
				text := strings.TrimSpace(value.Text())
				if path.Ext(text) != "" && !strings.ContainsAny(text, "[]\n") {
					found = append(found, text)
				}
			}
		}
		return found
	})
	paths := 0
	notes := 0
	example := "" // the first path
	for _, values := range texts {
		inNote := 0
		for _, text := range values {
			if _, moves := to[text]; moves {
				inNote++
				example = cmp.Or(example, text)
			}
		}
		paths += inNote
		if inNote > 0 {
			notes++
		}
	}
	switch paths {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("the path %q in a property of 1 note", answer.Verbatim(example))
	}
	return fmt.Sprintf("%d paths such as %q in properties of %s", paths, answer.Verbatim(example), answer.Count(notes, "note"))
}

// linksToHeadings describes the links whose heading changes its text because a link in the heading is updated.
func linksToHeadings(idx *index.Index, steps []change.Step) string {
	links := 0
	notes := map[int32]bool{}
	for _, s := range steps {
		from := s.Path
		if s.IsMove() {
			from = s.From
		}
		place, isIndexed := idx.Place(from.String())
		isChanged := s.After.Text.ForProgram() != nil && !bytes.Equal(s.Before.Text.ForProgram(), s.After.Text.ForProgram())
		if !isIndexed || !isChanged || from.Ext() != "md" {
			continue
		}
		before := edit.NewOutline(markdown.Scan(s.Before.Text.ForProgram()))
		after := edit.NewOutline(markdown.Scan(s.After.Text.ForProgram()))
		sources := append([]index.Edge{{Place: int32(place)}}, idx.Graph().In(place)...)
		seen := map[int32]bool{}
		for _, source := range sources {
			if seen[source.Place] {
				continue
			}
			seen[source.Place] = true
			file := idx.Files[source.Place]
			file.Facts().EachLink(func(l *markdown.Link) {
				if l.Subpath == "" {
					return
				}
				target := int(source.Place)
				if l.Path != "" {
					found, ok := idx.ResolveFrom(l.Path, file.Path.String())
					if !ok {
						return
					}
					target = found
				}
				if target == place && before.Linked(l.Subpath) != nil && after.Linked(l.Subpath) == nil {
					links++
					notes[source.Place] = true
				}
			})
		}
	}
	if links == 0 {
		return ""
	}
	return fmt.Sprintf("%s in %s to headings whose text changes", answer.Count(links, "link"), answer.Count(len(notes), "note"))
}

// outdated returns the function for [change.Proposal.Outdated]. The change also depends on the contents of the folders.
func (r *relocation) outdated(m *edit.Move) func(e journal.Entry) bool {
	var folders []disk.Path
	for from := range r.folders {
		folder, _ := disk.ParseFolder(from) // cannot fail: it is the path of a folder
		folders = append(folders, folder)
	}
	byLinks := outdatedByLinks(r.v, r.planned.Steps, m)
	inFolder := outdatedBelow(folders...)
	return outdatedBySteps(func(s journal.Step) bool { return inFolder(s) || byLinks(s) })
}

// holdLinks is the value of links= that rewrites links as paths if a new file name would capture them.
const holdLinks = "hold"

// holdingLinks adds to a proposal, if the call has links=hold, the changes of links in other notes that the new files
// would capture, so that these links keep their targets.
func holdingLinks(v *call.Vault, p call.Values, proposal change.Proposal) (change.Proposal, error) {
	if p["links"] != holdLinks {
		return proposal, nil
	}
	idx, err := v.Index()
	if err != nil {
		return proposal, err
	}
	var before, created []string
	for _, f := range idx.Files {
		before = append(before, f.Path.String())
	}
	for _, s := range proposal.Steps {
		if !s.Before.Exists {
			created = append(created, s.Path.String())
		}
	}
	m, err := newMove(v, nil, nil, created, before, slices.Concat(before, created))
	if err != nil {
		return proposal, err
	}
	m = m.Holding()
	err = changeLinks(v, &proposal, m, concerned(idx, m, nil), followLinks)
	return proposal, err
}

// newMove returns a move that writes links in the format of the vault's settings.
func newMove(v *call.Vault, to, folders map[string]string, appears, before, after []string) (*edit.Move, error) {
	var app struct {
		Format string `json:"newLinkFormat"`
	}
	err := v.ReadConfig("app.json", &app)
	return edit.NewMove(to, folders, appears, lookup.New(before), lookup.New(after), edit.LinkFormat(app.Format)), err
}

// readAhead is how many notes are read concurrently before their links are changed.
const readAhead = 64

// linkRule is what happens to links that a move breaks.
type linkRule int

const (
	countLinks  linkRule = iota // count them, and leave them unchanged
	followLinks                 // update them
)

// changeLinks adds to a proposal the changes of links in the files sources, or only counts them. For a file that the
// proposal moves, the step of the move is changed.
func changeLinks(
	v *call.Vault, proposal *change.Proposal, m *edit.Move, sources []disk.Path, rule linkRule,
) error {
	moved := map[disk.Path]int{}
	for i, s := range proposal.Steps {
		if s.IsMove() {
			moved[s.From] = i
		}
	}
	var left strings.Builder
	var read []readResult
	for n, source := range sources {
		if n%readAhead == 0 {
			var err error
			if read, err = readNext(v, sources[n:min(n+readAhead, len(sources))], moved); err != nil {
				return err
			}
		}
		at, moves := moved[source]
		s := change.Step{Path: source}
		if moves {
			s = proposal.Steps[at]
			before, err := textOf(v, s.Before, source)
			if err != nil {
				return err
			}
			s.Before = before
		} else {
			before := read[n%readAhead].text
			err := read[n%readAhead].err
			if disk.IsMissing(err) {
				continue // it was removed meanwhile
			}
			if err == nil {
				err = budget.From(v.Ctx).Hold(int64(len(before)))
			}
			if err != nil {
				return answer.ReadError(source.String(), err)
			}
			s.Before = change.Existing(before)
		}
		after, changed, lost := m.Rewrite(s.Before.Text.ForProgram(), source.String())
		stays := rule == countLinks || changed == 0
		if stays && moves && proposal.Steps[at].Before.Image.Exists {
			budget.From(v.Ctx).Release(int64(s.Before.Text.Len()))
		}
		if rule == countLinks {
			// Broken links of other notes are counted when the change is judged.
			if moves || source.Ext() == "base" {
				proposal.Broken.Add(source, changed+len(lost))
			}
			continue
		}
		left.WriteString(remarks(s.Path, lost))
		if changed == 0 {
			continue
		}
		proposal.Followed.Add(s.Path, changed)
		s.After = change.Existing(after)
		if moves {
			proposal.Steps[at] = s
		} else {
			proposal.Steps = append(proposal.Steps, s)
		}
	}
	if v.ForGateway && proposal.Followed.Count > 0 {
		proposal.Message += "\nLinks: " + proposal.Followed.String()
	}
	proposal.Message += left.String()
	proposal.Outdated = outdatedBySteps(outdatedByLinks(v, proposal.Steps, m))
	return nil
}

// readResult is the text of a note, or the error of reading it.
type readResult struct {
	text []byte
	err  error
}

// readNext reads notes concurrently, except those in moved, which are read from their steps.
func readNext(v *call.Vault, notes []disk.Path, moved map[disk.Path]int) ([]readResult, error) {
	results := make([]readResult, len(notes))
	_, _ = budget.WaitForEach(len(notes), func(i int) error {
		if _, moves := moved[notes[i]]; !moves {
			results[i].text, results[i].err = v.Disk.Read(notes[i])
		}
		return v.Ctx.Err()
	})
	return results, v.Ctx.Err()
}

// mentions describes how often the old names of renamed notes appear in the texts of notes outside of links, "" for
// never.
func mentions(v *call.Vault, to map[string]string) (string, error) {
	var names []string
	for from, to := range to {
		if old := stemOf(from); strings.HasSuffix(from, ".md") && old != stemOf(to) && !slices.Contains(names, old) {
			names = append(names, old)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	excluded, _, err := v.Excluded()
	if err != nil {
		return "", err
	}
	var count, notes atomic.Int64
	err = v.Host.Knowledge.EachNote(v.View(), search.Scope{Excluded: excluded, Texts: true}, func(n *search.Note) {
		if found := mentionsIn([]byte(n.Text()), names); found > 0 && v.Ctx.Err() == nil {
			count.Add(int64(found))
			notes.Add(1)
		}
	})
	if err != nil || count.Load() == 0 {
		return "", err
	}
	label := "the old names"
	if len(names) == 1 {
		label = fmt.Sprintf("%q", answer.Verbatim(names[0]))
	}
	return fmt.Sprintf(
		"%s of %s in the text of %s",
		answer.Count(int(count.Load()), "mention"),
		label,
		answer.Count(int(notes.Load()), "note"),
	), v.Ctx.Err()
}

// mentionsIn counts the names in a text that are whole words and not parts of links.
func mentionsIn(text []byte, names []string) (count int) {
	var links *linkPlaces
	for _, name := range names {
		if links != nil {
			links.rewind()
		}
		for at := 0; ; at += len(name) {
			n := bytes.Index(text[at:], []byte(name))
			if n < 0 {
				break
			}
			at += n
			before, _ := utf8.DecodeLastRune(text[:at])
			after, _ := utf8.DecodeRune(text[at+len(name):])
			if isLetter(before) || isLetter(after) {
				continue
			}
			if links == nil {
				links = placesOfLinks(text)
			}
			if !links.hold(at) {
				count++
			}
		}
	}
	return count
}

// linkPlaces reports for increasing offsets of a text whether they are in a link. All offsets together need one pass
// over the links and the properties.
type linkPlaces struct {
	text  []byte
	links []markdown.Span // sorted by start
	body  int             // offset of the body; the links before it are in values of properties

	next int // index of the first link that starts after the last offset
	end  int // greatest end of the links before next
	// The scanned part of the properties, and the brackets on its last line.
	read         int
	opens, ends  int  // pairs of opening and closing brackets
	bracket      byte // the last character
	bracketsLong int  // length of the run of that character
}

func placesOfLinks(text []byte) *linkPlaces {
	note := markdown.Scan(text)
	spans := answer.Map(note.Links, func(l markdown.Link) markdown.Span { return l.Span })
	slices.SortFunc(spans, func(a, b markdown.Span) int { return a.Start - b.Start })
	return &linkPlaces{text: text, links: spans, body: note.Body}
}

// rewind starts again at the beginning of the text.
func (p *linkPlaces) rewind() { *p = linkPlaces{text: p.text, links: p.links, body: p.body} }

// hold reports whether an offset is in a link. Offsets must not decrease from call to call.
func (p *linkPlaces) hold(at int) bool {
	for ; p.next < len(p.links) && p.links[p.next].Start <= at; p.next++ {
		p.end = max(p.end, p.links[p.next].End)
	}
	if at < p.end {
		return true
	}
	return at < p.body && p.isOpen(at)
}

// isOpen reports whether more links begin than end between the start of the line in the properties and an offset.
func (p *linkPlaces) isOpen(at int) bool {
	for ; p.read < at; p.read++ {
		c := p.text[p.read]
		if c == '\n' {
			p.opens = 0
			p.ends = 0
		}
		if c != p.bracket {
			p.bracket = c
			p.bracketsLong = 0
		}
		if p.bracketsLong++; p.bracketsLong%2 != 0 {
			continue
		}
		switch c {
		case '[':
			p.opens++
		case ']':
			p.ends++
		}
	}
	return p.opens > p.ends
}

func isLetter(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// stemOf returns the name of a file without its extension.
func stemOf(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// remarks returns a line, after a line break, for each link that could not be updated.
func remarks(source disk.Path, left []edit.StaleLink) string {
	var lines strings.Builder
	for _, l := range left {
		fmt.Fprintf(
			&lines,
			"\nLink %q in %s, line %d, is left as it is: %s",
			answer.Verbatim(l.Target),
			source,
			l.Line,
			l.Reason,
		)
	}
	return lines.String()
}

// concerned returns the files whose links a move may change, in the order of listings: the moved files, the sources of
// links to files with an old or a new name, and files with bases.
func concerned(idx *index.Index, m *edit.Move, to map[string]string) (sources []disk.Path) {
	isNear := map[int]bool{}
	graph := idx.Graph()
	for place, f := range idx.Files {
		if _, moves := to[f.Path.String()]; moves {
			isNear[place] = true
		}
		if name := lookup.Fold(path.Base(f.Path.String())); m.Means(name) || m.Means(strings.TrimSuffix(name, ".md")) {
			for _, edge := range graph.In(place) {
				isNear[int(edge.Place)] = true
			}
		}
	}
	for place, f := range idx.Files {
		if f.Path.Ext() == "base" || f.Facts().HasBases() { // the index does not contain the links of bases
			sources = append(sources, f.Path)
			continue
		}
		if !isNear[place] {
			continue
		}
		// A canvas refers to files by their exact paths, which only Rewrite compares.
		links := f.Facts().Links()
		isConcerned := f.Path.Ext() == "canvas" && len(links) > 0
		for i := range links {
			isConcerned = isConcerned || m.Concerns(links[i], f.Path.String())
		}
		if isConcerned {
			sources = append(sources, f.Path)
		}
	}
	return sources
}
