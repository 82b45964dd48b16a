package ui

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	judge "github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

const (
	changesOfPage = 50      // changes in one part of the view
	maxShownSteps = 20      // files of a change in the view
	maxSideBytes  = 8 << 20 // size of a text that is compared
	maxCounted    = 4096    // changes whose line counts are remembered
	maxLater      = 100     // later changes of the same note that are offered for one undo
)

// changesData is the data of the view of changes.
type changesData struct {
	Vaults                     []string
	Vault, Caller, Batch, Note string
	Who, Own, Day              string
	Chips                      []filterChip
	Rows                       []changeRow
	Older                      template.URL // the query of the next part, "" for none
	Damage                     int          // places in the journal that cannot be read
	Unread                     int          // notes that cannot be read, whose changes are left out
}

// changeRow is a change in a list.
type changeRow struct {
	journal.Entry
	Vault, Path string
	More        int    // further files
	Who         string // the agent or client, "" if unknown
	Own         bool   // the owner made it, on the page or at a terminal
	// Lines is set if Added and Removed are known: the journal may no longer have a text.
	Lines          bool
	Added, Removed int
	// Toggle is the id of the journal entry to undo in order to undo the change, or to redo it if
	// it was undone: the change itself, or the latest undo of it. It is "" for an undo, which is
	// listed with the change that it undid. InEffect is set if the change is not undone.
	Toggle   string
	InEffect bool
	// Together is the number of changes with the same toggle, including this one: changes that were undone together are
	// redone and undone together.
	Together int
}

// Others tells with how many other changes this one is toggled, or returns "" for none.
func (c changeRow) Others() string {
	if c.Together < 2 {
		return ""
	}
	return " with " + sanitize.Counted(c.Together-1, "other")
}

// rowOf returns the row of a change with its line counts.
func (p *Page) rowOf(ctx context.Context, log *journal.Journal, vault string, e journal.Entry) changeRow {
	row := p.stateOf(ctx, log, vault, e, map[string]toggle{})
	p.countLines(ctx, log, &row)
	return row
}

// toggle has the state of a change and the id of the journal entry whose undo reverses it, see [changeRow].
type toggle struct {
	id       string
	inEffect bool
	together int // number of changes that it toggles, at least one
}

// together counts the changes that undoing an entry undoes or redoes: the entry itself, or those that it undid.
func together(ctx context.Context, log *journal.Journal, e journal.Entry) (changes int) {
	if e.Undoes == "" {
		return 1
	}
	for _, id := range e.TakesBack() {
		entry, err := log.Entry(ctx, id)
		if err != nil { // no longer in the journal
			changes++
			continue
		}
		changes += together(ctx, log, entry)
	}
	return changes
}

// stateOf returns the row of a change without its line counts. known caches the toggles of undone changes by the id of
// the undo, so that each undo is looked up once.
func (p *Page) stateOf(
	ctx context.Context, log *journal.Journal, vault string, e journal.Entry, known map[string]toggle,
) changeRow {
	row := changeRow{
		Entry:    e,
		Vault:    vault,
		Who:      cmp.Or(ownerfiles.AgentOf(e.Caller), e.Client),
		Own:      e.Caller == Surface || e.Caller == atTerminal,
		InEffect: true,
	}
	if len(e.Steps) > 0 {
		row.Path = e.Steps[0].Path
		row.More = len(e.Steps) - 1
	}
	switch {
	case e.Undoes != "":
		return row
	case e.State != journal.Undone:
		row.Toggle = e.ID
		row.Together = 1
		return row
	}
	found, isKnown := known[e.UndoneBy]
	if !isKnown {
		found = lastToggle(ctx, log, e)
		known[e.UndoneBy] = found
	}
	row.Toggle = found.id
	row.Together = found.together
	row.InEffect = found.inEffect
	return row
}

// lastToggle follows the undo of an undone change, the undo of this undo, and so on, to the last one.
func lastToggle(ctx context.Context, log *journal.Journal, e journal.Entry) toggle {
	result := toggle{e.ID, true, 1}
	last := e
	for last.State == journal.Undone {
		result.inEffect = !result.inEffect
		next, err := log.Entry(ctx, last.UndoneBy)
		if err != nil {
			result.id = ""
			break
		}
		result.id = next.ID
		last = next
	}
	result.together = together(ctx, log, last)
	return result
}

// countLines sets the line counts of a row, if the texts of the change are known.
func (p *Page) countLines(ctx context.Context, log *journal.Journal, row *changeRow) {
	p.mu.Lock()
	counted, known := p.counted[row.ID]
	p.mu.Unlock()
	if !known {
		counted = p.linesOfSteps(ctx, log, row)
	}
	if !known && counted.ok { // otherwise a missing text may reappear when the note is changed back
		p.mu.Lock()
		if len(p.counted) > maxCounted {
			clear(p.counted)
		}
		p.counted[row.ID] = counted
		p.mu.Unlock()
	}
	row.Added = counted.added
	row.Removed = counted.removed
	row.Lines = counted.ok
}

// linesOfSteps counts the lines of all steps of a change.
func (p *Page) linesOfSteps(ctx context.Context, log *journal.Journal, row *changeRow) countedLines {
	counted := countedLines{ok: true}
	for _, s := range row.Steps {
		before, after, ok := p.textsOf(ctx, log, row.Vault, s)
		c := difference.Of(before.ForProgram(), after.ForProgram()) // only the counts are used
		counted.added += c.Added
		counted.removed += c.Removed
		if !ok || c.Binary {
			counted.ok = false
			break
		}
	}
	return counted
}

// countedLines are the line counts of a change. ok is false if they are unknown.
type countedLines struct {
	added, removed int
	ok             bool
}

// wants reports whether a change was made by those whose changes the view shows.
func (d changesData) wants(row changeRow) bool {
	isOfAgent := d.Who == "" || row.Who == d.Who && !row.Own
	isOfOwner := d.Own == "" || row.Own
	return isOfAgent && isOfOwner
}

// changes shows the journal of a vault, without changes of hidden notes.
func (p *Page) changes(r request) view {
	values := r.URL.Query()
	data := changesData{
		Vaults: p.Gateway.VaultNames(),
		Vault:  p.vaultOf(r),
		Caller: values.Get("caller"),
		Batch:  values.Get("batch"),
		Note:   values.Get("note"),
		Who:    values.Get("who"),
		Own:    values.Get("own"),
		Day:    values.Get("day"),
	}
	query := url.Values{"vault": {data.Vault}}
	filters := []struct{ name, label string }{
		{"note", "note: "}, {"who", "agent: "}, {"own", "yours: "},
		{"day", "day: "}, {"caller", "caller: "}, {"batch", "batch: "},
	}
	for _, f := range filters {
		query[f.name] = values[f.name]
	}
	for _, f := range filters {
		if value := query.Get(f.name); value != "" {
			data.Chips = append(data.Chips, chipOf(query, f.label+value, f.name))
		}
	}
	show := func(err error) view { return view{template: "changes", title: "Changes", data: data}.failed(err) }
	log, err := p.Gateway.Journal(data.Vault)
	if err != nil {
		return show(err)
	}
	before := values.Get("before")
	if _, err := journal.ParseID(before); err != nil {
		before = ""
	}
	sight := p.Gateway.Sight(data.Vault)
	filter := journal.Filter{OlderThan: before, Caller: data.Caller, Batch: data.Batch, Path: data.Note}
	if day, err := time.ParseInLocation(time.DateOnly, data.Day, time.Local); err == nil {
		filter.Since = day
		filter.Until = midnight(day.AddDate(0, 0, 1))
	}
	isMore := false
	known := map[string]toggle{}
	damage, err := log.Each(r.Context(), filter, func(e journal.Entry) bool {
		if !e.SeenBy(sight.Sees) {
			return true
		}
		row := p.stateOf(r.Context(), log, data.Vault, e, known)
		if !data.wants(row) {
			return true
		}
		isMore = len(data.Rows) == changesOfPage
		if isMore {
			return false
		}
		p.countLines(r.Context(), log, &row)
		data.Rows = append(data.Rows, row)
		return true
	})
	if err != nil {
		return show(
			failure.New(
				failure.CodeState,
				`the user can see more with "vaultwicket doctor"`,
				"the journal cannot be read: %v",
				err,
			),
		)
	}
	data.Damage = len(damage)
	data.Unread = sight.Unread()
	if !isMore {
		return show(nil)
	}
	query.Set("before", data.Rows[len(data.Rows)-1].ID)
	data.Older = template.URL(query.Encode())
	return show(nil)
}

// changeData is the data of the view of one change with its differences.
type changeData struct {
	changeRow
	Files   []shownFile
	Further int // files that are not shown
	// Later are the later changes of the same notes that are in effect, newest first.
	Later    []changeRow
	Rendered bool // the notes are shown rendered instead of as lines
	// Question is the question to confirm before the change is undone, nil for none. Undo is the
	// form that confirms it.
	Question *card
	Undo     undoForm
}

// shownFile is a file of a change.
type shownFile struct {
	fileBlock
	Step    journal.Step
	Unknown string       // why the texts are not shown
	Opens   template.URL // address that opens the note in Obsidian, "" for none
	// Before and After are the rendered texts, "" for none.
	Before, After template.HTML
}

// oneChange shows a change with the difference of its texts.
func (p *Page) oneChange(r request) view {
	vault := r.URL.Query().Get("vault")
	id := r.rest
	data, err := p.changeOf(r.Context(), vault, id, r.URL.Query().Get("as") == "rendered")
	if err != nil {
		return view{template: "missing", title: "Not found", status: http.StatusNotFound, problem: problemOf(err)}
	}
	title := "Change"
	if data.Path != "" {
		title = strings.TrimSuffix(path.Base(data.Path), ".md")
	}
	return view{template: "change", title: title, data: data}
}

// changeOf returns the data of the change with an id. A change of a hidden note is reported as unknown, see
// [gateway.Sight.Check].
func (p *Page) changeOf(ctx context.Context, vault, id string, rendered bool) (changeData, error) {
	log, err := p.Gateway.Journal(vault)
	if err != nil {
		return changeData{}, err
	}
	e, err := log.Entry(ctx, id)
	sight := p.Gateway.Sight(vault)
	if err == nil {
		err = sight.Check(e)
	}
	if err != nil && sight.Unread() > 0 {
		return changeData{}, err
	}
	if err != nil {
		return changeData{}, failure.New(failure.CodeNotFound, "the list of changes has those that are kept", "%v", err)
	}
	data := changeData{
		changeRow: p.rowOf(ctx, log, vault, e),
		Further:   max(0, len(e.Steps)-maxShownSteps),
		Rendered:  rendered,
	}
	for _, s := range e.Steps[:min(len(e.Steps), maxShownSteps)] {
		file := shownFile{Step: s, fileBlock: fileBlock{Path: s.Path, From: s.From}}
		if name, isNote := strings.CutSuffix(s.Path, ".md"); isNote && s.After.Exists {
			file.Opens = obsidianURL(vault, name)
		}
		before, after, ok := p.textsOf(ctx, log, vault, s)
		shownBefore := p.Gateway.Judged(vault, before)
		shownAfter := p.Gateway.Judged(vault, after)
		c := difference.Of(shownBefore.Bytes(), shownAfter.Bytes())
		switch {
		case !ok:
			file.Unknown = "One of the texts is too long to be shown, is kept no more, cannot be read, or was changed outside of vaultwicket since."
		case c.Binary:
			file.Unknown = "The file is not a text."
		default:
			planned := consent.PlannedFile{Path: s.Path, From: s.From, Before: "before", After: "after"}
			lines := consent.Changes([]consent.PlannedFile{planned}, []difference.Change{c}, consent.Rest{})
			if _, _, files := blocksOf(lines); len(files) == 1 {
				file.Rows = files[0].Rows
				file.Added = c.Added
				file.Removed = c.Removed
			}
			if rendered {
				file.Before = rendering(shownBefore)
				file.After = rendering(shownAfter)
			}
		}
		data.Files = append(data.Files, file)
		if data.Toggle == "" || !data.InEffect || len(data.Later) > 0 {
			continue
		}
		ofFile := journal.Filter{Path: s.Path, Limit: maxLater, Since: e.Time}
		later, _, _ := log.Entries(ctx, ofFile) // after an error, the undo itself reports conflicts
		for _, other := range later {
			row := p.rowOf(ctx, log, vault, other)
			isLater := other.ID > e.ID && other.SeenBy(sight.Sees)
			canBeUndone := row.InEffect && row.Toggle != ""
			if isLater && canBeUndone {
				data.Later = append(data.Later, row)
			}
		}
	}
	return data, nil
}

// All returns the toggles of a change and of the later ones of its notes, for one undo.
func (d changeData) All() []string {
	ids := []string{d.Toggle}
	for _, row := range d.Later {
		ids = append(ids, row.Toggle)
	}
	return ids
}

// textsOf returns the texts of a file before and after a step. The journal has the second text only
// if another change followed; otherwise it is read from the note, if that still has the same hash.
func (p *Page) textsOf(
	ctx context.Context,
	log *journal.Journal,
	vault string,
	s journal.Step,
) (before, after judge.Unjudged, ok bool) {
	if s.Before.Size > maxSideBytes || s.After.Size > maxSideBytes {
		return judge.Unjudged{}, judge.Unjudged{}, false
	}
	return log.Texts(ctx, s, func(hash string) (judge.Unjudged, bool) {
		if text, ok := p.Gateway.NoteWithHash(vault, s.Path, hash); ok {
			return text, true
		}
		return p.Gateway.NoteWithHash(vault, s.Source(), hash)
	})
}

// obsidianURL returns an address that opens a note in the app. Its parameters are percent-encoded.
func obsidianURL(vault, note string) template.URL {
	encoded := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	return template.URL("obsidian://open?vault=" + encoded(vault) + "&file=" + encoded(note))
}

// undoForm is a form that undoes changes: those with certain ids, a batch, a session, or those that Who made on the
// day of the change with the ID, up to that change. From is the view to return to, "" for that of the change. Confirm is
// the digest of the question that it confirms, "" for none.
type undoForm struct{ Vault, ID, What, Who, Own, Confirm, From string }

// undo undoes changes with the command undo, as the terminal does. Undoing an undo redoes the change.
// If approval is required, the question is shown first, and a second form confirms it by its digest.
func (p *Page) undo(r request) view {
	field := r.PostForm.Get
	form := undoForm{
		Vault:   field("vault"),
		ID:      field("id"),
		What:    field("what"),
		Who:     field("who"),
		Own:     field("own"),
		Confirm: field("confirm"),
		From:    field("from"),
	}
	ctx := context.WithoutCancel(r.Context()) // closing the window must not interrupt a change
	parameter, ids, err := p.undoArguments(ctx, form)
	list := view{goTo: "changes?" + url.Values{"vault": {form.Vault}}.Encode()}
	if err != nil {
		return list.failed(err)
	}
	var asked *consent.Question
	result := p.Gateway.Do(ctx, gateway.Request{
		Command: "undo",
		Words:   []string{parameter + "=" + strings.Join(ids, ",")},
		Vault:   form.Vault,
		Caller:  Surface,
		Client:  Surface,
		Surface: Surface,
		Owner:   true,
		Ask: func(_ context.Context, q consent.Question) consent.Reply {
			digest, err := hex.DecodeString(strings.TrimSpace(form.Confirm))
			if err == nil && subtle.ConstantTimeCompare(digest, q.Digest[:]) == 1 {
				return consent.Yes // the form confirms exactly this question
			}
			asked = &q
			return consent.Void // not a denial: the question is shown to the user next
		},
	})
	data, err := p.changeOf(ctx, form.Vault, ids[0], false)
	if err != nil {
		return list.failed(err)
	}
	one := "changes/one/" + url.PathEscape(data.ID) + "?" + url.Values{"vault": {form.Vault}}.Encode()
	switch {
	case result.OK:
		if form.From != "" {
			one = p.backTo(r)
		}
		done := p.withCount(ctx, form.Vault, undoneOf(result.Stdout))
		outcome := "undone"
		if form.What == "redo" || form.What == redoDay {
			outcome = "done again"
		}
		note := done.note(outcome)
		if form.isOfDay() {
			note += p.leftNote(ctx, form, len(done.skipped)+len(done.unkept))
		}
		return view{goTo: one, note: note}
	case asked == nil:
		return view{goTo: one, problem: forOwner(result.Error, form.What), status: http.StatusUnprocessableEntity}
	}
	question := p.cardWith(consent.StoredQuestion{Vault: form.Vault, Command: "undo"}, asked.Lines)
	// The view itself names the change.
	question.Intro = slices.DeleteFunc(question.Intro, func(row diffRow) bool {
		return strings.HasPrefix(row.Before, parameter+": ")
	})
	form.Confirm = hex.EncodeToString(asked.Digest[:])
	data.Question = &question
	data.Undo = form
	return view{template: "change", title: undoTitle(form.What, len(ids)), data: data, goTo: one}
}

// forOwner returns an error of an undo with a hint for the reader of the page instead of an agent.
func forOwner(cause *failure.Error, what string) *failure.Error {
	if cause == nil || cause.Code != failure.CodeConflict {
		return cause
	}
	adapted := *cause
	adapted.Hint = "undo the later changes too, which are listed here, or change the note yourself in Obsidian"
	if what == "redo" || what == redoDay {
		adapted.Message = strings.ReplaceAll(adapted.Message, "Nothing was undone", "Nothing was done again")
		adapted.Hint = "what was undone together is done again together: put the note back in Obsidian as the undo left it"
	}
	return &adapted
}

// withCount returns the result of an undo with the number of changes: undoing an undo redoes all changes that it undid.
func (p *Page) withCount(ctx context.Context, vault string, done undone) undone {
	log, err := p.Gateway.Journal(vault)
	if err != nil {
		return done
	}
	done.changes = 0
	for _, id := range done.ids {
		e, err := log.Entry(ctx, id)
		if err != nil { // counts as one
			done.changes++
			continue
		}
		done.changes += together(ctx, log, e)
	}
	return done
}

// undoArguments returns the parameter of the command undo for a form, and its values.
func (p *Page) undoArguments(ctx context.Context, form undoForm) (parameter string, ids []string, err error) {
	switch {
	case form.What == "batch" || form.What == "session":
		return form.What, []string{form.ID}, nil
	case !form.isOfDay():
		return "id", strings.Split(form.ID, ","), nil
	}
	c, err := p.changesOfDay(ctx, form)
	rows := c.undone()
	if form.What == undoDay {
		rows = c.inEffect()
	}
	ids = togglesOf(rows)
	if err == nil && len(ids) == 0 {
		err = failure.New(failure.CodeNotFound, "the view shows the changes as they are now", "nothing to undo")
	}
	return "id", ids[:min(len(ids), maxUndone)], err
}

// undoTitle returns the title of the question about an undo.
func undoTitle(what string, changes int) string {
	switch {
	case what == "batch":
		return "Undo the whole batch?"
	case what == "session":
		return "Undo all of this session?"
	case what == redoDay:
		return "Redo all?"
	case what == "redo":
		return "Do this again?"
	case changes > 1:
		return fmt.Sprintf("Undo these %d changes?", changes)
	}
	return "Undo this?"
}

// undone is the result of the command undo.
type undone struct {
	ids     []string // of the undone entries of the journal
	changes int      // number of undone changes
	skipped []string // notes that were changed since
	unkept  []string // notes whose texts are no longer in the journal
}

// undoneOf parses the output of the command undo, which has a line for each change.
func undoneOf(answer string) (done undone) {
	for line := range strings.Lines(answer) {
		before, change, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch fields := strings.SplitN(change, " ", 3); {
		case before == "Undone":
			done.ids = append(done.ids, fields[0])
			done.changes++
		case strings.HasPrefix(before, "Not undone") && len(fields) == 3 && strings.Contains(before, "no longer kept"):
			done.unkept = append(done.unkept, fields[2])
		case strings.HasPrefix(before, "Not undone") && len(fields) == 3:
			done.skipped = append(done.skipped, fields[2])
		}
	}
	return done
}

// maxSkipped is the maximum number of notes that the message about an undo names.
const maxSkipped = 10

// note returns the message about an undo. outcome is "undone" or "done again".
func (u undone) note(outcome string) string {
	note := upperFirst(outcome) + "."
	if u.changes > 1 {
		note = fmt.Sprintf("%d changes %s.", u.changes, outcome)
	}
	note += leftOut(u.skipped, outcome, "changed since")
	return note + leftOut(u.unkept, outcome, "their texts are no longer kept")
}

// leftOut returns a sentence about the notes whose changes were skipped, or "" for none.
func leftOut(skipped []string, outcome, why string) string {
	if len(skipped) == 0 {
		return ""
	}
	count := ""
	if len(skipped) > 1 {
		count = fmt.Sprintf("%d changes ", len(skipped))
	}
	notes := slices.Compact(slices.Sorted(slices.Values(skipped)))
	further := ""
	if n := len(notes) - maxSkipped; n > 0 {
		notes = notes[:maxSkipped]
		further = fmt.Sprintf(" and %d more", n)
	}
	return " " + upperFirst(count+"not "+outcome) + ", because " + why + ": " + strings.Join(notes, ", ") + further + "."
}

// upperFirst returns a text with its first letter capitalized. The letter must be ASCII.
func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
