package change

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
)

// plannedFile is one file of a plan, as the gateway reads it.
type plannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"` // hashes as callers know them, "" where there is no file
	After  string `json:"after,omitempty"`
	// Size is how many bytes a file has that would be deleted, or of which no line is shown.
	Size int64 `json:"size,omitempty"`
	// Raw are the SHA-256 of the bytes before and after, for the gateway alone. A file of which no line is
	// shown has none: the digest of the plan stands for it.
	Raw []string `json:"raw,omitempty"`
	// Lost counts the lines that are removed or replaced, LostText those of them that are behind the properties, of the
	// Text lines that there are. A long line counts as several.
	Lost     int `json:"lost,omitempty"`
	LostText int `json:"lostText,omitempty"`
	Text     int `json:"text,omitempty"`
	difference.Change
}

// plannedRest counts the files of a plan that are not listed in it.
type plannedRest struct {
	Deleted int   `json:"deleted,omitempty"`
	Moved   int   `json:"moved,omitempty"`
	Changed int   `json:"changed,omitempty"`
	Made    int   `json:"made,omitempty"`
	Size    int64 `json:"size,omitempty"` // bytes of the files before the change
	// Added and Removed count lines.
	Added   int `json:"added,omitempty"`
	Removed int `json:"removed,omitempty"`
}

// plan is what a change would do, as the gateway reads it.
type plan struct {
	Path  string        `json:"path"`
	Says  string        `json:"says"`
	Files []plannedFile `json:"files"`
	Rest  *plannedRest  `json:"rest,omitempty"`
	Loses string        `json:"loses,omitempty"` // why the change is destructive
	Links string        `json:"links,omitempty"` // what it does to links, or which version it restores
	// Carries is the kind of what the addresses that it adds carry.
	Carries string `json:"carries,omitempty"`
	// Takes are other files whose text goes into those that are changed or made, such as a template.
	Takes  []string `json:"takes,omitempty"`
	Digest string   `json:"digest"`
	// Nothing says that no byte would be changed.
	Nothing bool `json:"nothing,omitempty"`
	// LostLinks is how many links it breaks or leads elsewhere. Marked says that one of the notes narrows the access to
	// itself, and Foreign that it takes back what the caller has not made.
	LostLinks int  `json:"lostLinks,omitempty"`
	Marked    bool `json:"marked,omitempty"`
	Foreign   bool `json:"foreign,omitempty"`
}

// showPlan prints what would be done, as JSON.
func showPlan(v *call.Vault, p Proposal) (answer.Reply, error) {
	shown := plan{
		Path:    p.Note.String(),
		Says:    p.Message,
		Files:   []plannedFile{},
		Loses:   p.loses,
		Carries: p.carried.Kind,
		Digest:  digestOf(v, p),
		Nothing: !slices.ContainsFunc(p.Steps, func(s Step) bool { return !s.IsNoop() }),

		LostLinks: p.linkLosses(),
		Marked:    p.isMarked(v),
		Foreign:   p.Undoes != "" && !p.OwnChange,
	}
	for _, taken := range v.Taken {
		shown.Takes = append(shown.Takes, taken.Path.String())
	}
	links := []string{p.Broken.breaks()}
	links = append(links, p.leadElsewhere())
	if p.Followed.Count > 0 {
		links = append(links, "changes "+p.Followed.String())
	}
	if p.Mentions != "" {
		links = append(links, "leaves "+p.Mentions)
	}
	if p.Restores != "" {
		links = append(links, "restores "+p.Restores)
	}
	shown.Links = strings.Join(slices.DeleteFunc(links, func(part string) bool { return part == "" }), ", and ")
	var changes []difference.Change // of the files of which lines are shown, which come first
	size := 0                       // bytes of the rows of the others
	left := maxPlanned              // bytes that the lines of the next files may take
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.IsNoop() || s.Before.Folder || s.After.Folder {
			continue
		}
		hasLines := !s.isUnread() || s.isPureMove()
		if len(changes) < len(shown.Files) || len(changes) == MaxTexts || !hasLines {
			row := s.row(v)
			text, err := json.Marshal(row)
			if err != nil {
				return answer.Reply{}, err
			}
			if size += len(text) + len(","); size > maxRows {
				shown.Rest = shown.Rest.with(row)
				continue
			}
			shown.Files = append(shown.Files, row)
			continue
		}
		file := plannedFile{
			Path: s.Path.String(), From: s.From.String(), Before: hashAt(v, s.source(), s.Before), After: hashAt(v, s.Path, s.After),
			Raw: []string{ImageOf(s.Before).Hash, ImageOf(s.After).Hash},
		}
		file.weigh(s)
		shown.Files = append(shown.Files, file)
		before := v.Judged(s.Before.Text)
		after := v.Judged(s.After.Text)
		if s.Path == disk.Bookmarks() && v.Hides() {
			before = guard.Judged{}
			after = v.Judged(guard.NewUnjudged(s.Told))
		}
		if !s.After.Exists { // as the caller reads it: the length of a secret is not told
			shown.Files[len(shown.Files)-1].Size = int64(len(before.Bytes()))
		}
		c := difference.Whole(before.Bytes(), after.Bytes(), left)
		if !c.IsComplete() { // the user cannot be shown it: something of it is told all the same
			part := difference.Extent{
				Rows:  maxPartLines,
				Bytes: max(1<<10, maxPart/len(shown.Files)),
				Line:  maxPartLine,
			}
			c = difference.Fit([]difference.Change{c}, part)[0]
		}
		left = max(0, left-c.Cost())
		changes = append(changes, c)
	}
	for i, c := range changes {
		shown.Files[i].Change = c
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // no browser reads it, and the texts are long
	if err := encoder.Encode(shown); err != nil {
		return answer.Reply{}, err
	}
	return answer.From(v.Disk, strings.TrimSuffix(text.String(), "\n")), nil
}

// row is the file of a step of which no line is shown.
func (s *Step) row(v *call.Vault) plannedFile {
	lines := s.lines()
	file := plannedFile{
		Path: s.Path.String(), From: s.From.String(), Before: hashAt(v, s.source(), s.Before), After: hashAt(v, s.Path, s.After), Size: ImageOf(s.Before).Size,
		Change: difference.Change{Added: lines.Added, Removed: lines.Removed},
	}
	file.weigh(s)
	return file
}

// weigh adds what a step removes or replaces.
func (f *plannedFile) weigh(s *Step) {
	lost := s.lost()
	f.Lost = lost.All
	f.LostText = lost.Body
	f.Text = lost.Of
}

// with returns the rest with one more file.
func (r *plannedRest) with(file plannedFile) *plannedRest {
	if r == nil {
		r = &plannedRest{}
	}
	switch {
	case file.From != "":
		r.Moved++
	case file.Before == "":
		r.Made++
	case file.After == "":
		r.Deleted++
	default:
		r.Changed++
	}
	r.Size += file.Size
	r.Added += file.Added
	r.Removed += file.Removed
	return r
}

// maxRows is how many bytes a plan has of the files of which no line is shown: the gateway keeps 16 MiB of an answer.
const maxRows = 8 << 20

// suits refuses a proposal that would write a text into a file of another kind: text goes into
// notes, and into canvases and bases that the app can open. To take a change back, to copy a
// file and to write an attachment is to write bytes as they are.
func (p Proposal) suits() error {
	if p.Undoes != "" || p.Raw {
		return nil
	}
	for _, s := range p.Steps {
		kind := allowlist.FileKind(s.Path.Ext())
		written := s.After.Exists && !s.After.Folder && s.CopyOf == (disk.Path{}) && !s.Before.Equal(s.After)
		if !written || kind == "note" || s.Path == disk.Bookmarks() {
			continue
		}
		why := ""
		refused := answer.BadValue.Advise(allowlist.ServesKind(kind))
		switch kind {
		case "canvas":
			var board struct{ Nodes, Edges []struct{} }                                              // of objects
			if json.Unmarshal(s.After.Text.ForProgram(), &board) == nil || s.After.Text.Len() == 0 { // an empty one can be opened
				continue
			}
			why = "is not a canvas in JSON."
		case "base":
			read, err := bases.Read(s.After.Text.ForProgram())
			if err == nil {
				err = read.Fatal()
			}
			if err == nil {
				continue
			}
			why = "is not a base: " + err.Error()
		default:
			return refused.Failure(
				"File %q is not a note: no text is written into it.",
				answer.Verbatim(s.Path.String()),
			)
		}
		return refused.Failure("The content of %q %s", answer.Verbatim(s.Path.String()), why)
	}
	return nil
}

// judge refuses a proposal that does more than the rules allow. It looks at what
// would be done and not at what was asked for: links in other notes that a move
// rewrites, the note of today, a note that a template makes. A step that changes how a note
// narrows access to itself is refused; a new note may narrow it, but not so that the caller
// loses it.
func judge(v *call.Vault, p Proposal) error {
	if !v.Hides() && !v.Rules.Restrict() {
		return nil
	}
	overwritten := ""
	if p.Undoes == "" && p.loses != "" { // to take a change back is to write
		overwritten = "overwritten: the change " + p.loses
	}
	for _, s := range p.Steps {
		var err error
		switch bookmarks := s.Path == disk.Bookmarks(); { // they are no note
		case s.IsNoop():
			continue
		case bookmarks && v.Sight != nil:
			return answer.AccessDenied.Failure(
				"Access denied: the bookmarks may not be changed, because they name notes that are not to be seen.",
			)
		case bookmarks:
			continue
		case s.Before.Folder || s.After.Folder:
			err = needs(v, s.Path, FileState{}, access.Write, "changed")
		case s.IsMove():
			needed := access.Write
			if s.From.Folder() != s.Path.Folder() && !p.OwnChange {
				needed = access.Delete // the note goes from where it was
			}
			if err = needs(v, s.From, s.Before, needed, "moved away"); err == nil {
				err = needs(v, s.Path, FileState{}, access.Write, "made")
			}
		case !s.After.Exists && !p.OwnChange:
			err = needs(v, s.Path, s.Before, access.Delete, "deleted")
		case s.Before.Exists && p.Replaces && s.Path == p.Note:
			err = needs(v, s.Path, s.Before, access.Delete, "replaced")
		case s.Before.Exists && p.destroys && s.Path == p.Note:
			err = needs(v, s.Path, s.Before, access.Delete, "deleted in part")
		case s.Before.Exists:
			err = needs(v, s.Path, s.Before, access.Write, "changed")
		default:
			err = needs(v, s.Path, FileState{}, access.Write, "made")
		}
		if err == nil && overwritten != "" && s.Before.Exists && !s.Before.Folder {
			err = needs(v, s.source(), s.Before, access.Delete, overwritten)
		}
		if err != nil {
			return err
		}
		if s.After.Exists && !s.After.Folder {
			before := levelIn(v, s.source(), s.Before)
			after := levelIn(v, s.Path, s.After)
			if before != after && (s.Before.Exists || after == access.None) {
				return answer.AccessDenied.Advise(hintItself).
					Failure("Access denied: %q may not be changed like this: its properties or tags say which access agents have to it.", answer.Verbatim(s.Path.String()))
			}
		}
	}
	return nil
}

// needs refuses what a path with a state may not have done to it. A note that is not seen may be at a
// path where there seems to be none.
func needs(v *call.Vault, at disk.Path, now FileState, level access.Level, what string) error {
	denied := answer.AccessDenied
	switch ruled := v.Sight.Level(at.String(), v.Rules); {
	case ruled >= level && levelIn(v, at, now) < level:
		denied = answer.AccessDenied.Advise(hintItself)
	case ruled >= level && (now.Exists || !v.Disk.IsClosed(at)):
		return nil
	}
	return denied.Failure("Access denied: %q may not be %s.", answer.Verbatim(at.String()), what)
}

// levelIn is [call.LevelIn] for the file at a path: only a note narrows access.
func levelIn(v *call.Vault, at disk.Path, state FileState) access.Level {
	if !state.Exists || state.Folder || !disk.IsNote(at) || v.IsExcepted("private", at) {
		return access.Delete
	}
	if state.unread != nil {
		return state.unread.level
	}
	return call.LevelIn(v.Rules.Private(), state.Text.ForProgram())
}

const hintItself = "the user can change the properties and tags of the note in the app"

// UnifiedDiff shows the difference of two texts, nothing if there is none. Of long ones it
// shows the beginning and the end of what differs.
func UnifiedDiff(from, to string, before, after guard.Judged) string {
	a := before.Bytes()
	b := after.Bytes()
	switch {
	case bytes.Equal(a, b):
		return ""
	case len(a)+len(b) <= maxExact && bytes.IndexByte(a, 0) < 0 && bytes.IndexByte(b, 0) < 0:
		return udiff.Unified(from, to, string(a), string(b))
	}
	return difference.Of(a, b).Unified(from, to)
}

const maxExact = 1 << 20 // bytes of two texts whose difference is shown in full

// What of a plan is told. A move may change the links of every note.
const (
	// maxPlanned is how many bytes the lines of a plan take, see [difference.Change.Cost], as long as every line that is
	// removed or added is told whole. The gateway keeps 16 MiB of an answer, in which they are up to twice as long.
	maxPlanned = 3 << 20

	// What is told of a file of which there is no room for every line.
	maxPart      = 256 << 10 // bytes, of the first one
	maxPartLines = 4000
	maxPartLine  = 8 << 10 // bytes of one line

	// MaxTexts is how many files are shown with lines: a person reads no more.
	MaxTexts = 4000
)

// What a change destroys is decided from what it does to the notes, whatever command makes
// it: to replace the text of a note by nothing is to delete it. The words of "install
// --edit" and of docs/permissions.md say the same.
const (
	maxRemoved = 10 // lines of a note that are removed or replaced, above which a change is destructive
	leastBody  = 5  // lines of a body, from which on more than a half counts
	maxFiles   = 20 // notes that a call changes or moves, above which it is destructive
	lineBytes  = 80 // a longer line counts as several
)

// assessLoss works out what the proposal would lose, once for all that ask. The error is that of the budget.
func (p *Proposal) assessLoss(v *call.Vault) error {
	if err := budget.From(v.Ctx).Step(int64(len(p.Steps))); err != nil {
		return err
	}
	p.loses = p.loss()
	return nil
}

// loss says what a proposal would lose, or how far it would reach, if that is so much
// that the user should be asked, else "". What a caller made last and takes back itself is
// no loss.
func (p Proposal) loss() string {
	if p.Latest {
		return ""
	}
	changed := 0
	for _, s := range p.Steps {
		if !s.IsNoop() && !s.Before.Folder && !s.After.Folder {
			changed++
		}
	}
	if changed > maxFiles {
		return "affects " + answer.Count(changed, "note")
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case p.Keeps && s.After.Exists, !s.Before.Exists || s.Before.Folder || s.Before.Equal(s.After):
			continue
		case !s.After.Exists:
			return fmt.Sprintf("removes the file %q", named(s.Path.String()))
		case p.Undoes != "":
			return fmt.Sprintf("replaces what %q contains", named(s.Path.String()))
		}
		lost := s.lost()
		switch {
		case lost.Body > maxRemoved, lost.Of >= leastBody && 2*lost.Body > lost.Of:
			if lost.Of == edit.NumberOfLines(edit.Body(s.Before.Text.ForProgram())) {
				return fmt.Sprintf(
					"removes %d of the %s of the text of %q",
					lost.Body,
					answer.Count(lost.Of, "line"),
					named(s.Path.String()),
				)
			}
			percent := 100 * min(lost.Body, lost.Of) / lost.Of
			return fmt.Sprintf("removes %d%% of the text of %q", percent, named(s.Path.String()))
		case lost.All > maxRemoved:
			return fmt.Sprintf("removes %s of %q", answer.Count(lost.All, "line"), named(s.Path.String()))
		}
		switch key, how := lostProperty(s.Before.Text.ForProgram(), s.After.Text.ForProgram()); how {
		case propertyRemoved:
			return fmt.Sprintf("removes the property %q of %q", named(key), named(s.Path.String()))
		case propertyRetyped:
			return fmt.Sprintf(
				"replaces the value of the property %q of %q by one of another type",
				named(key),
				named(s.Path.String()),
			)
		}
	}
	if p.carried.asks {
		return p.carried.Why
	}
	return p.Loss
}

// linesOf returns how many lines a text counts as.
func linesOf(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		n += weight(len(line) - 1)
	}
	return n
}

func weight(bytes int) int { return max(1, (bytes+lineBytes-1)/lineBytes) }

// propertyLoss is how the value of a property is lost.
type propertyLoss uint8

const (
	propertyKept propertyLoss = iota
	propertyRemoved
	propertyRetyped // its whole value was replaced by one of another type
)

// lostProperty returns a property whose value is lost, and how, "" if there is none. One that gets
// another name keeps its value, and so does one whose value becomes an item of a list.
func lostProperty(before, after []byte) (key string, how propertyLoss) {
	front := func(text []byte) []byte { return text[:len(text)-len(edit.Body(text))] }
	if bytes.Equal(front(before), front(after)) {
		return "", propertyKept
	}
	properties := func(text []byte) frontmatter.Properties {
		_, block, _ := bytes.Cut(front(text), []byte("\n"))
		block = block[:bytes.LastIndexByte(bytes.TrimSuffix(block, []byte("\n")), '\n')+1]
		p, _ := frontmatter.Parse(block) // what is no properties loses none
		return p
	}
	old := properties(before)
	now := properties(after)
	byName := old.Named()
	named := now.Named()
	added := frontmatter.Values{} // those of properties that have another name, or are new
	for _, p := range now {
		if _, there := byName.Lookup(p.Key); !there {
			added.Add(p.Value)
		}
	}
	for _, p := range old {
		q, there := named.Lookup(p.Key)
		switch {
		case there && isRetyped(p.Value, q.Value):
			return p.Key, propertyRetyped
		case !there && !added.Has(p.Value):
			return p.Key, propertyRemoved
		}
	}
	return "", propertyKept
}

// isRetyped reports whether a value has another type than the one that it replaces. An empty value is
// replaced by anything, and an empty value of one line replaces it. Dates are texts.
func isRetyped(old, now frontmatter.Value) bool {
	kind := now.Kind()
	switch old.Kind() {
	case kind, frontmatter.Null:
		return false
	case frontmatter.List, frontmatter.Map:
		return len(old.List())+len(old.Fields()) > 0
	}
	keepsItem := kind == frontmatter.List && slices.ContainsFunc(now.List(), old.Equal)
	return kind != frontmatter.Null && old.String() != "" && !keepsItem
}

// maxNamed bounds the path in a reason, which is a part of one line.
const maxNamed = excerpt.Limit - len("…")

// named is a path in a reason, which a person reads in a question: nothing in it can
// end the quotation.
func named(path string) answer.Verbatim {
	if len(path) > maxNamed {
		path = "…" + strings.ToValidUTF8(path[len(path)-maxNamed:], "")
	}
	return answer.Verbatim(strings.ReplaceAll(path, `"`, `\"`))
}
