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

// plannedFile is one file of a plan, as the gateway decodes it.
type plannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"` // hashes that callers see; "" if the file does not exist
	After  string `json:"after,omitempty"`
	// Size is the number of bytes of a file that would be deleted, or none of whose lines are shown.
	Size int64 `json:"size,omitempty"`
	// Raw has the SHA-256 of the bytes before and after, for the gateway only. It is empty for a file none of
	// whose lines are shown: the digest of the plan covers that one.
	Raw []string `json:"raw,omitempty"`
	// Lost counts the lines that are removed or replaced, LostText those among them that follow the properties,
	// and Text all lines that follow the properties. A long line counts as several.
	Lost     int `json:"lost,omitempty"`
	LostText int `json:"lostText,omitempty"`
	Text     int `json:"text,omitempty"`
	difference.Change
}

// plannedRest counts the files that a plan affects but does not list.
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

// plan is the effect of a change, as the gateway decodes it.
type plan struct {
	Path  string        `json:"path"`
	Says  string        `json:"says"`
	Files []plannedFile `json:"files"`
	Rest  *plannedRest  `json:"rest,omitempty"`
	Loses string        `json:"loses,omitempty"` // reason why the change is destructive
	Links string        `json:"links,omitempty"` // effect on links, or the version that is restored
	// Carries is what the added addresses would reveal, see [Carried.Kind].
	Carries string `json:"carries,omitempty"`
	// Takes lists other files whose text is copied into the affected files, such as a template.
	Takes  []string `json:"takes,omitempty"`
	Digest string   `json:"digest"`
	// Nothing is set if no byte would change.
	Nothing bool `json:"nothing,omitempty"`
	// LostLinks counts the links that break or lead to another file. Marked is set if one of the notes
	// restricts access to itself, and Foreign if the change undoes one that another caller made.
	LostLinks int  `json:"lostLinks,omitempty"`
	Marked    bool `json:"marked,omitempty"`
	Foreign   bool `json:"foreign,omitempty"`
}

// showPlan returns the effect of the proposal as JSON.
func showPlan(v *call.Vault, p Proposal) (answer.Reply, error) {
	shown := plan{
		Path:      p.Note.String(),
		Says:      p.Message,
		Files:     []plannedFile{},
		Loses:     p.loses,
		Links:     p.describeLinks(),
		Carries:   p.carried.Kind,
		Digest:    digestOf(v, p),
		Nothing:   !slices.ContainsFunc(p.Steps, func(s Step) bool { return !s.IsNoop() }),
		LostLinks: p.linkLosses(),
		Marked:    p.isMarked(v),
		Foreign:   p.Undoes != "" && !p.OwnChange,
	}
	for _, source := range v.Taken {
		shown.Takes = append(shown.Takes, source.Path.String())
	}
	withLines := 0          // files whose lines are shown; these come first
	rowBytes := 0           // of the other files
	remaining := maxPlanned // bytes available for the lines of the remaining files
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.IsNoop() || s.Before.Folder || s.After.Folder {
			continue
		}
		hasLines := !s.isUnread() || s.isPureMove()
		mayShowLines := withLines == len(shown.Files) && withLines < MaxTexts
		if hasLines && mayShowLines {
			file := s.fileWithLines(v, len(shown.Files)+1, remaining)
			shown.Files = append(shown.Files, file)
			remaining = max(0, remaining-file.Cost())
			withLines++
			continue
		}
		row := s.row(v)
		text, err := json.Marshal(row)
		if err != nil {
			return answer.Reply{}, err
		}
		rowBytes += len(text) + len(",")
		if rowBytes > maxRows {
			shown.Rest = shown.Rest.with(row)
			continue
		}
		shown.Files = append(shown.Files, row)
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the JSON is not embedded in HTML, and escaping would lengthen it
	if err := encoder.Encode(shown); err != nil {
		return answer.Reply{}, err
	}
	return answer.From(v.Disk, strings.TrimSuffix(text.String(), "\n")), nil
}

// describeLinks returns what the proposal does to links, and which version it restores; "" for nothing.
func (p Proposal) describeLinks() string {
	parts := []string{p.Broken.breaks(), p.leadElsewhere()}
	if p.Followed.Count > 0 {
		parts = append(parts, "changes "+p.Followed.String())
	}
	if p.Mentions != "" {
		parts = append(parts, "leaves "+p.Mentions)
	}
	if p.Restores != "" {
		parts = append(parts, "restores "+p.Restores)
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", and ")
}

// fileWithLines returns the entry of a plan for a step whose lines are shown. The entry is the n-th of the
// plan. If its lines cost more than maxBytes, only a part of them is shown.
func (s *Step) fileWithLines(v *call.Vault, n, maxBytes int) plannedFile {
	file := plannedFile{
		Path:   s.Path.String(),
		From:   s.From.String(),
		Before: hashAt(v, s.source(), s.Before),
		After:  hashAt(v, s.Path, s.After),
		Raw:    []string{ImageOf(s.Before).Hash, ImageOf(s.After).Hash},
	}
	file.setLosses(s)
	before := v.Judged(s.Before.Text)
	after := v.Judged(s.After.Text)
	if s.Path == disk.Bookmarks() && v.Hides() {
		before = guard.Judged{}
		after = v.Judged(guard.NewUnjudged(s.Told))
	}
	if !s.After.Exists { // as the caller sees it: the length of a secret is not revealed
		file.Size = int64(len(before.Bytes()))
	}
	file.Change = difference.Whole(before.Bytes(), after.Bytes(), maxBytes)
	if !file.IsComplete() {
		part := difference.Extent{
			Rows:  maxPartLines,
			Bytes: max(1<<10, maxPart/n),
			Line:  maxPartLine,
		}
		file.Change = difference.Fit([]difference.Change{file.Change}, part)[0]
	}
	return file
}

// row returns the entry of a plan for a step none of whose lines are shown.
func (s *Step) row(v *call.Vault) plannedFile {
	lines := s.lines()
	file := plannedFile{
		Path:   s.Path.String(),
		From:   s.From.String(),
		Before: hashAt(v, s.source(), s.Before),
		After:  hashAt(v, s.Path, s.After),
		Size:   ImageOf(s.Before).Size,
		Change: difference.Change{Added: lines.Added, Removed: lines.Removed},
	}
	file.setLosses(s)
	return file
}

// setLosses fills in the counts of lines that the step removes or replaces.
func (f *plannedFile) setLosses(s *Step) {
	losses := s.lost()
	f.Lost = losses.All
	f.LostText = losses.Body
	f.Text = losses.BodyBefore
}

// with returns r with one more file counted. r may be nil.
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

// maxRows limits the bytes of a plan's rows for files whose lines are not shown: the gateway accepts 16 MiB.
const maxRows = 8 << 20

// checkFileKinds refuses a proposal that would write text into a file of an unsuitable kind: only notes accept
// any text; canvases and bases accept content that the app can open. An undo, a copy and an attachment write
// bytes unchanged and are not checked. What is wrong with a content is said of what the caller sees of it.
func (p Proposal) checkFileKinds(v *call.Vault) error {
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
			if isCanvas(s.After.Text.ForProgram()) {
				continue
			}
			why = "is not a canvas in JSON."
		case "base":
			if mistakeInBase(s.After.Text.ForProgram()) == nil {
				continue
			}
			why = "is not a base."
			if err := mistakeInBase(v.Judged(s.After.Text).Bytes()); err != nil {
				why = "is not a base: " + err.Error()
			}
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

// mistakeInBase returns the error for a text that the app cannot open as a base.
func mistakeInBase(text []byte) error {
	base, err := bases.Read(text)
	if err != nil {
		return err
	}
	return base.Fatal()
}

// isCanvas reports whether the app can open a text as a canvas. It can open an empty one. The contents of nodes
// and edges are not checked.
func isCanvas(text []byte) bool {
	var board struct{ Nodes, Edges []struct{} }
	return len(text) == 0 || json.Unmarshal(text, &board) == nil
}

// checkAccess refuses a proposal that does more than the rules allow. It checks the effects rather than the
// request, so it covers links in other notes that a move rewrites, today's daily note, and a note created from
// a template. A step that changes how a note restricts access to itself is refused. A new note may restrict
// access to itself, unless the caller would lose all access to it.
func checkAccess(v *call.Vault, p Proposal) error {
	if !v.Hides() && !v.Rules.Restrict() {
		return nil
	}
	overwritten := ""
	if p.Undoes == "" && p.loses != "" { // an undo counts as an ordinary write
		overwritten = "overwritten: the change " + p.loses
	}
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		if s.Path == disk.Bookmarks() { // not a note
			if v.Sight != nil {
				return answer.AccessDenied.Failure(
					"Access denied: the bookmarks may not be changed, because they name notes that are not to be seen.",
				)
			}
			continue
		}
		err := p.checkStepAccess(v, s)
		if err == nil && overwritten != "" && s.Before.Exists && !s.Before.Folder {
			err = requireAccess(v, s.source(), s.Before, access.Delete, overwritten)
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

// checkStepAccess refuses a step that needs more access to its notes than the rules allow.
func (p Proposal) checkStepAccess(v *call.Vault, s Step) error {
	switch {
	case s.Before.Folder || s.After.Folder:
		return requireAccess(v, s.Path, FileState{}, access.Write, "changed")
	case s.IsMove():
		needed := access.Write
		if s.From.Folder() != s.Path.Folder() && !p.OwnChange {
			needed = access.Delete // the note leaves its folder
		}
		if err := requireAccess(v, s.From, s.Before, needed, "moved away"); err != nil {
			return err
		}
		return requireAccess(v, s.Path, FileState{}, access.Write, "made")
	case !s.After.Exists && !p.OwnChange:
		return requireAccess(v, s.Path, s.Before, access.Delete, "deleted")
	case s.Before.Exists && p.Replaces && s.Path == p.Note:
		return requireAccess(v, s.Path, s.Before, access.Delete, "replaced")
	case s.Before.Exists && p.destroys && s.Path == p.Note:
		return requireAccess(v, s.Path, s.Before, access.Delete, "deleted in part")
	case s.Before.Exists:
		return requireAccess(v, s.Path, s.Before, access.Write, "changed")
	}
	return requireAccess(v, s.Path, FileState{}, access.Write, "made")
}

// requireAccess returns an error unless the caller has the access level for the file at the path. The file may
// be hidden from the caller although now is the state of a missing file. what completes the sentence "may not
// be".
func requireAccess(v *call.Vault, at disk.Path, now FileState, level access.Level, what string) error {
	denied := answer.AccessDenied
	if v.Sight.Level(at.String(), v.Rules) >= level {
		isNarrowed := levelIn(v, at, now) < level
		if isNarrowed {
			denied = answer.AccessDenied.Advise(hintItself)
		}
		isHidden := !now.Exists && v.Disk.IsClosed(at)
		if !isNarrowed && !isHidden {
			return nil
		}
	}
	return denied.Failure("Access denied: %q may not be %s.", answer.Verbatim(at.String()), what)
}

// levelIn is [call.LevelIn] for the file at a path. Only notes can restrict access to themselves.
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

// UnifiedDiff returns the difference of two texts in unified format, or "" if they are equal. For long texts,
// it shows only the beginning and the end of what differs.
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

const maxExact = 1 << 20 // total bytes of two texts whose difference is computed exactly

// Limits of the lines in a plan. A move may change the links in every note.
const (
	// maxPlanned limits the total [difference.Change.Cost] of files whose removed and added lines are all
	// shown. The gateway accepts answers of 16 MiB, and JSON may double the length of lines.
	maxPlanned = 3 << 20

	// Limits for a file whose lines do not all fit.
	maxPart      = 256 << 10 // bytes, for the first such file
	maxPartLines = 4000
	maxPartLine  = 8 << 10 // bytes per line

	// MaxTexts is the maximum number of files that are shown with lines; nobody reads more.
	MaxTexts = 4000
)

// Whether a change is destructive depends on its effect on the notes, not on the command: replacing the text of
// a note with nothing is as destructive as deleting the note. The texts of "install --edit" and
// docs/permissions.md must state the same limits.
const (
	maxRemoved   = 10 // lines of a note; removing or replacing more is destructive
	minBodyLines = 5  // lines of a body; in a longer one, losing more than half is destructive
	maxFiles     = 20 // notes; changing or moving more is destructive
	lineBytes    = 80 // a longer line counts as several
)

// assessLoss sets p.loses. The only error is that of the exceeded budget.
func (p *Proposal) assessLoss(v *call.Vault) error {
	if err := budget.From(v.Ctx).Step(int64(len(p.Steps))); err != nil {
		return err
	}
	p.loses = p.loss()
	return nil
}

// loss returns what the proposal would lose, or how many notes it would affect, if the user must approve that;
// otherwise "". Undoing the caller's latest change loses nothing.
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
		isKept := p.Keeps && s.After.Exists
		isUnchanged := !s.Before.Exists || s.Before.Folder || s.Before.Equal(s.After)
		switch {
		case isKept, isUnchanged:
			continue
		case !s.After.Exists:
			return fmt.Sprintf("removes the file %q", quotable(s.Path.String()))
		case p.Undoes != "":
			return fmt.Sprintf("replaces what %q contains", quotable(s.Path.String()))
		}
		if loss := s.loss(); loss != "" {
			return loss
		}
	}
	if p.carried.asks {
		return p.carried.Why
	}
	return p.Loss
}

// loss returns what a step that changes a file would lose of it, if the user must approve that; otherwise "".
func (s *Step) loss() string {
	losses := s.lost()
	isMostOfBody := losses.BodyBefore >= minBodyLines && 2*losses.Body > losses.BodyBefore
	switch {
	case losses.Body > maxRemoved, isMostOfBody:
		if losses.BodyBefore == edit.NumberOfLines(edit.Body(s.Before.Text.ForProgram())) {
			return fmt.Sprintf(
				"removes %d of the %s of the text of %q",
				losses.Body,
				answer.Count(losses.BodyBefore, "line"),
				quotable(s.Path.String()),
			)
		}
		percent := 100 * min(losses.Body, losses.BodyBefore) / losses.BodyBefore
		return fmt.Sprintf("removes %d%% of the text of %q", percent, quotable(s.Path.String()))
	case losses.All > maxRemoved:
		return fmt.Sprintf("removes %s of %q", answer.Count(losses.All, "line"), quotable(s.Path.String()))
	}
	switch key, how := lostProperty(s.Before.Text.ForProgram(), s.After.Text.ForProgram()); how {
	case propertyRemoved:
		return fmt.Sprintf("removes the property %q of %q", quotable(key), quotable(s.Path.String()))
	case propertyRetyped:
		return fmt.Sprintf(
			"replaces the value of the property %q of %q by one of another type",
			quotable(key),
			quotable(s.Path.String()),
		)
	}
	return ""
}

// linesOf returns the number of lines that a text counts as, see [lineBytes].
func linesOf(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		n += weight(len(line) - 1)
	}
	return n
}

func weight(bytes int) int { return max(1, (bytes+lineBytes-1)/lineBytes) }

// propertyLoss is the way in which a change loses the value of a property.
type propertyLoss uint8

const (
	propertyKept propertyLoss = iota
	propertyRemoved
	propertyRetyped // its value was replaced with one of another type
)

// lostProperty returns the key of the first property whose value is lost, and how; "" if there is none. The
// value of a renamed property is kept, and so is one that becomes an item of a list.
func lostProperty(before, after []byte) (key string, how propertyLoss) {
	if bytes.Equal(frontOf(before), frontOf(after)) {
		return "", propertyKept
	}
	old := propertiesOf(before)
	now := propertiesOf(after)
	byName := old.Named()
	named := now.Named()
	added := frontmatter.Values{} // values of renamed and of new properties
	for _, p := range now {
		if _, exists := byName.Lookup(p.Key); !exists {
			added.Add(p.Value)
		}
	}
	for _, p := range old {
		q, exists := named.Lookup(p.Key)
		switch {
		case exists && isRetyped(p.Value, q.Value):
			return p.Key, propertyRetyped
		case !exists && !added.Has(p.Value):
			return p.Key, propertyRemoved
		}
	}
	return "", propertyKept
}

// frontOf returns the text of a note before its body.
func frontOf(text []byte) []byte { return text[:len(text)-len(edit.Body(text))] }

// propertiesOf returns the properties of a note; none if they are not valid YAML, because then none can be lost.
func propertiesOf(text []byte) frontmatter.Properties {
	_, block, _ := bytes.Cut(frontOf(text), []byte("\n"))
	block = block[:bytes.LastIndexByte(bytes.TrimSuffix(block, []byte("\n")), '\n')+1]
	p, _ := frontmatter.Parse(block)
	return p
}

// isRetyped reports whether a value is replaced with one of another type. It is false if the old value is
// empty, or if a scalar is replaced with an empty value. Dates count as strings.
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

// maxNamed limits the bytes of a path in a reason, which is part of a single line.
const maxNamed = excerpt.Limit - len("…")

// quotable returns a path for use within quotes in a reason that the user reads: the path cannot close the
// quotation, and a long one is shortened from its start.
func quotable(path string) answer.Verbatim {
	if len(path) > maxNamed {
		path = "…" + strings.ToValidUTF8(path[len(path)-maxNamed:], "")
	}
	return answer.Verbatim(strings.ReplaceAll(path, `"`, `\"`))
}
