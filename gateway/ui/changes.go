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
	maxSideBytes  = 8 << 20 // of a text that is compared
	maxCounted    = 4096    // changes whose lines were counted
	maxLater      = 100     // changes of the same notes that are undone with one
)

// changesData is what the view of changes shows.
type changesData struct {
	Vaults                     []string
	Vault, Caller, Batch, Note string
	Who, Own, Day              string
	Chips                      []filterChip
	Rows                       []changeRow
	Older                      template.URL // the query of the next part, "" for none
	Damage                     int          // places in the journal that cannot be read
}

// changeRow is a change in a list.
type changeRow struct {
	journal.Entry
	Vault, Path string
	More        int    // further files
	Who         string // the agent or client, "" if unknown
	Own         bool   // the owner made it, on the page or at a terminal
	// Lines says whether Added and Removed are known: a text may be kept no more.
	Lines          bool
	Added, Removed int
	// Toggle is what to undo so that the change is taken back, or done again after it was: the
	// change itself, or the latest undo of it. It is "" for an undo, which is listed with what it
	// undid. InEffect says that the change is not taken back.
	Toggle   string
	InEffect bool
	// Together is how many changes have the same toggle, this one with them: what was undone together is done again
	// together, and undone again.
	Together int
}

// Others says with how many other changes the toggle moves this one, "" for none.
func (c changeRow) Others() string {
	if c.Together < 2 {
		return ""
	}
	return " with " + sanitize.Counted(c.Together-1, "other")
}

// rowOf returns a change as it is listed, with its lines.
func (p *Page) rowOf(ctx context.Context, kept *journal.Journal, vault string, e journal.Entry) changeRow {
	row := p.stateOf(ctx, kept, vault, e, map[string]toggle{})
	p.countLines(ctx, kept, &row)
	return row
}

// toggle is what to undo for another state of a change, see [changeRow].
type toggle struct {
	id       string
	inEffect bool
	together int // changes that it moves to that state, at least one
}

// together counts the changes that are undone or done again with an entry: those that it took back, or itself.
func together(ctx context.Context, kept *journal.Journal, e journal.Entry) (changes int) {
	if e.Undoes == "" {
		return 1
	}
	for _, id := range e.TakesBack() {
		taken, err := kept.Entry(ctx, id)
		if err != nil { // it is kept no more
			changes++
			continue
		}
		changes += together(ctx, kept, taken)
	}
	return changes
}

// stateOf returns a change as it is listed, without its lines. known are the states that undos have led to, by
// their ids: those of one undo are looked up once.
func (p *Page) stateOf(
	ctx context.Context, kept *journal.Journal, vault string, e journal.Entry, known map[string]toggle,
) changeRow {
	row := changeRow{
		Entry: e, Vault: vault, Who: cmp.Or(ownerfiles.AgentOf(e.Caller), e.Client),
		Own: e.Caller == Surface || e.Caller == atTerminal, InEffect: true,
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
		found = lastToggle(ctx, kept, e)
		known[e.UndoneBy] = found
	}
	row.Toggle = found.id
	row.Together = found.together
	row.InEffect = found.inEffect
	return row
}

// lastToggle follows the undos of a change that was undone, and the undos of these, to the last one.
func lastToggle(ctx context.Context, kept *journal.Journal, e journal.Entry) toggle {
	at := toggle{e.ID, true, 1}
	last := e
	for last.State == journal.Undone {
		at.inEffect = !at.inEffect
		next, err := kept.Entry(ctx, last.UndoneBy)
		if err != nil {
			at.id = ""
			break
		}
		at.id = next.ID
		last = next
	}
	at.together = together(ctx, kept, last)
	return at
}

// countLines adds the lines of a change, as far as its texts are known.
func (p *Page) countLines(ctx context.Context, kept *journal.Journal, row *changeRow) {
	p.mu.Lock()
	counted, known := p.counted[row.ID]
	p.mu.Unlock()
	if !known {
		counted.ok = true
		for _, s := range row.Steps {
			before, after, ok := p.textsOf(ctx, kept, row.Vault, s)
			c := difference.Of(before.ForProgram(), after.ForProgram()) // only counted
			counted.added = counted.added + c.Added
			counted.removed = counted.removed + c.Removed
			counted.ok = counted.ok && ok && !c.Binary
			if !counted.ok {
				break
			}
		}
		if counted.ok { // a text that is not kept may be that of a note which is changed back
			p.mu.Lock()
			if len(p.counted) > maxCounted {
				clear(p.counted)
			}
			p.counted[row.ID] = counted
			p.mu.Unlock()
		}
	}
	row.Added = counted.added
	row.Removed = counted.removed
	row.Lines = counted.ok
}

// countedLines are the lines of a change.
type countedLines struct {
	added, removed int
	ok             bool
}

// wants reports whether a change is by those whose changes the view shows.
func (d changesData) wants(row changeRow) bool {
	isOfAgent := d.Who == "" || row.Who == d.Who && !row.Own
	isOfOwner := d.Own == "" || row.Own
	return isOfAgent && isOfOwner
}

// changes shows the journal of a vault. Changes of notes that are hidden are not in it.
func (p *Page) changes(r request) view {
	values := r.URL.Query()
	data := changesData{
		Vaults: p.Gateway.VaultNames(), Vault: p.vaultOf(r),
		Caller: values.Get("caller"), Batch: values.Get("batch"), Note: values.Get("note"),
		Who: values.Get("who"), Own: values.Get("own"), Day: values.Get("day"),
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
	kept, err := p.Gateway.Journal(data.Vault)
	if err != nil {
		return show(err)
	}
	before := values.Get("before")
	if _, err := journal.ParseID(before); err != nil {
		before = ""
	}
	sees := p.Gateway.Visible(data.Vault)
	filter := journal.Filter{OlderThan: before, Caller: data.Caller, Batch: data.Batch, Path: data.Note}
	if day, err := time.ParseInLocation(time.DateOnly, data.Day, time.Local); err == nil {
		filter.Since, filter.Until = day, midnight(day.AddDate(0, 0, 1))
	}
	isMore := false
	known := map[string]toggle{}
	damage, err := kept.Each(r.Context(), filter, func(e journal.Entry) bool {
		if !e.SeenBy(sees) {
			return true
		}
		row := p.stateOf(r.Context(), kept, data.Vault, e, known)
		if !data.wants(row) {
			return true
		}
		if isMore = len(data.Rows) == changesOfPage; !isMore {
			p.countLines(r.Context(), kept, &row)
			data.Rows = append(data.Rows, row)
		}
		return !isMore
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
	if !isMore {
		return show(nil)
	}
	query.Set("before", data.Rows[len(data.Rows)-1].ID)
	data.Older = template.URL(query.Encode())
	return show(nil)
}

// changeData is one change with its differences.
type changeData struct {
	changeRow
	Files   []shownFile
	Further int // files that are not shown
	// Later are the changes of the same notes that came after it and are in effect, the newest first.
	Later    []changeRow
	Rendered bool // the notes are shown as they read, and not their lines
	// Question is what to confirm before the change is undone, nil for nothing. Undo is the
	// form that confirms it.
	Question *card
	Undo     undoForm
}

// shownFile is a file of a change.
type shownFile struct {
	fileBlock
	Step    journal.Step
	Unknown string       // why the texts are not shown
	Opens   template.URL // the note in Obsidian, "" for none
	// Before and After are the texts as they read, "" for none.
	Before, After template.HTML
}

// oneChange shows a change with the texts before and after it.
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

func (p *Page) changeOf(ctx context.Context, vault, id string, rendered bool) (changeData, error) {
	kept, err := p.Gateway.Journal(vault)
	if err != nil {
		return changeData{}, err
	}
	e, err := kept.Entry(ctx, id)
	sees := p.Gateway.Visible(vault)
	if err == nil && !e.SeenBy(sees) {
		err = &journal.Unknown{What: id}
	}
	if err != nil {
		return changeData{}, failure.New(failure.CodeNotFound, "the list of changes has those that are kept", "%v", err)
	}
	data := changeData{
		changeRow: p.rowOf(ctx, kept, vault, e),
		Further:   max(0, len(e.Steps)-maxShownSteps),
		Rendered:  rendered,
	}
	for _, s := range e.Steps[:min(len(e.Steps), maxShownSteps)] {
		f := shownFile{Step: s, fileBlock: fileBlock{Path: s.Path, From: s.From}}
		if name, isNote := strings.CutSuffix(s.Path, ".md"); isNote && s.After.Exists {
			f.Opens = obsidianURL(vault, name)
		}
		before, after, ok := p.textsOf(ctx, kept, vault, s)
		shownBefore := p.Gateway.Judged(vault, before)
		shownAfter := p.Gateway.Judged(vault, after)
		c := difference.Of(shownBefore.Bytes(), shownAfter.Bytes())
		switch {
		case !ok:
			f.Unknown = "One of the texts is too long to be shown, is kept no more, or was changed outside of vaultwicket since."
		case c.Binary:
			f.Unknown = "The file is not a text."
		default:
			planned := consent.PlannedFile{Path: s.Path, From: s.From, Before: "before", After: "after"}
			if _, _, files := blocksOf(consent.Changes([]consent.PlannedFile{planned}, []difference.Change{c}, consent.Rest{})); len(
				files,
			) == 1 {
				f.Rows = files[0].Rows
				f.Added = c.Added
				f.Removed = c.Removed
			}
			if rendered {
				f.Before, f.After = rendering(shownBefore), rendering(shownAfter)
			}
		}
		data.Files = append(data.Files, f)
		if data.Toggle == "" || !data.InEffect || len(data.Later) > 0 {
			continue
		}
		later, _, _ := kept.Entries(
			ctx,
			journal.Filter{Path: s.Path, Limit: maxLater, Since: e.Time},
		) // without them the undo says what conflicts
		for _, other := range later {
			row := p.rowOf(ctx, kept, vault, other)
			isLater := other.ID > e.ID && other.SeenBy(sees)
			canBeUndone := row.InEffect && row.Toggle != ""
			if isLater && canBeUndone {
				data.Later = append(data.Later, row)
			}
		}
	}
	return data, nil
}

// All returns the ids of a change and of the later ones of its notes, for one undo.
func (d changeData) All() []string {
	ids := []string{d.Toggle}
	for _, row := range d.Later {
		ids = append(ids, row.Toggle)
	}
	return ids
}

// textsOf returns the texts of a file before and after a step. The journal has the second one only
// if another change followed; otherwise it is the note itself, if that still has its hash.
func (p *Page) textsOf(
	ctx context.Context,
	kept *journal.Journal,
	vault string,
	s journal.Step,
) (before, after judge.Unjudged, ok bool) {
	if s.Before.Size > maxSideBytes || s.After.Size > maxSideBytes {
		return judge.Unjudged{}, judge.Unjudged{}, false
	}
	return kept.Texts(ctx, s, func(hash string) (judge.Unjudged, bool) {
		if text, ok := p.Gateway.NoteWithHash(vault, s.Path, hash); ok {
			return text, true
		}
		return p.Gateway.NoteWithHash(vault, s.Source(), hash)
	})
}

// obsidianURL is an address that opens a note in the app. Only what is percent-encoded is in it.
func obsidianURL(vault, note string) template.URL {
	encoded := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	return template.URL("obsidian://open?vault=" + encoded(vault) + "&file=" + encoded(note))
}

// undoForm is a form that undoes changes: those with some ids, a batch, a session, or those that Who made on the
// day of the change with the id, up to that one. From is the view that it leads back to, "" for that of the change.
// Confirm is the digest of the question that it confirms, "" for none.
type undoForm struct{ Vault, ID, What, Who, Own, Confirm, From string }

// undo undoes changes with the command undo, as the terminal does. To undo an undo does the change
// again. If that requires approval, the question is shown first, and the form confirms that question
// by its digest.
func (p *Page) undo(r request) view {
	sent := r.PostForm.Get
	form := undoForm{
		Vault: sent("vault"), ID: sent("id"), What: sent("what"), Who: sent("who"), Own: sent("own"),
		Confirm: sent("confirm"), From: sent("from"),
	}
	ctx := context.WithoutCancel(r.Context()) // a window that is closed does not cut a change off
	which, ids, err := p.named(ctx, form)
	list := view{goTo: "changes?" + url.Values{"vault": {form.Vault}}.Encode()}
	if err != nil {
		return list.failed(err)
	}
	var asked *consent.Question
	result := p.Gateway.Do(ctx, gateway.Request{
		Command: "undo", Words: []string{which + "=" + strings.Join(ids, ",")}, Vault: form.Vault,
		Caller: Surface, Client: Surface, Surface: Surface, Owner: true,
		Ask: func(_ context.Context, q consent.Question) consent.Reply {
			if digest, err := hex.DecodeString(strings.TrimSpace(form.Confirm)); err == nil &&
				subtle.ConstantTimeCompare(digest, q.Digest[:]) == 1 {
				return consent.Yes // the form confirms exactly this question
			}
			asked = &q
			return consent.Void // not a denial: the user is shown it now
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
		done := p.counting(ctx, form.Vault, undoneOf(result.Stdout))
		does := "undone"
		if form.What == "redo" || form.What == redoDay {
			does = "done again"
		}
		note := done.note(does)
		if form.isOfDay() {
			note += p.leftNote(ctx, form, len(done.skipped)+len(done.unkept))
		}
		return view{goTo: one, note: note}
	case asked == nil:
		return view{goTo: one, problem: forOwner(result.Error, form.What), status: http.StatusUnprocessableEntity}
	}
	question := p.cardWith(consent.StoredQuestion{Vault: form.Vault, Command: "undo"}, asked.Lines)
	question.Intro = slices.DeleteFunc(
		question.Intro,
		func(row diffRow) bool { return strings.HasPrefix(row.Before, which+": ") },
	) // the view is about it
	form.Confirm = hex.EncodeToString(asked.Digest[:])
	data.Question = &question
	data.Undo = form
	return view{template: "change", title: undoTitle(form.What, len(ids)), data: data, goTo: one}
}

// forOwner is an error of an undo with a hint for the one who reads the page, and not for an agent.
func forOwner(cause *failure.Error, what string) *failure.Error {
	if cause == nil || cause.Code != failure.CodeConflict {
		return cause
	}
	told := *cause
	told.Hint = "undo the later changes too, which are listed here, or change the note yourself in Obsidian"
	if what == "redo" || what == redoDay {
		told.Message = strings.ReplaceAll(told.Message, "Nothing was undone", "Nothing was done again")
		told.Hint = "what was undone together is done again together: put the note back in Obsidian as the undo left it"
	}
	return &told
}

// counting returns what an undo did with the changes counted: one that takes back an undo does all again that it undid.
func (p *Page) counting(ctx context.Context, vault string, done undone) undone {
	kept, err := p.Gateway.Journal(vault)
	if err != nil {
		return done
	}
	done.changes = 0
	for _, id := range done.ids {
		e, err := kept.Entry(ctx, id)
		if err != nil { // it is told as one
			done.changes++
			continue
		}
		done.changes += together(ctx, kept, e)
	}
	return done
}

// named returns the parameter of the command undo for a form, and its values.
func (p *Page) named(ctx context.Context, form undoForm) (parameter string, ids []string, err error) {
	switch {
	case form.What == "batch" || form.What == "session":
		return form.What, []string{form.ID}, nil
	case !form.isOfDay():
		return "id", strings.Split(form.ID, ","), nil
	}
	c, err := p.ofDay(ctx, form)
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

// undoTitle asks about an undo of some changes.
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

// undone is what the command undo did: how many changes it took back, and the notes of those that it left, because they
// were changed since or because their texts are no longer kept.
type undone struct {
	ids     []string // of the entries of the journal
	changes int
	skipped []string
	unkept  []string
}

// undoneOf reads the answer of the command undo: a line for each change.
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

// maxSkipped is how many notes the note about an undo names.
const maxSkipped = 10

// note says what became of changes, "undone" or "done again", and which were left as they are.
func (u undone) note(does string) string {
	note := upperFirst(does) + "."
	if u.changes > 1 {
		note = fmt.Sprintf("%d changes %s.", u.changes, does)
	}
	note += leftOut(u.skipped, does, "changed since")
	return note + leftOut(u.unkept, does, "their texts are no longer kept")
}

// leftOut says of which notes changes were left as they are, "" for none.
func leftOut(of []string, does, why string) string {
	if len(of) == 0 {
		return ""
	}
	count := ""
	if len(of) > 1 {
		count = fmt.Sprintf("%d changes ", len(of))
	}
	notes := slices.Compact(slices.Sorted(slices.Values(of)))
	further := ""
	if n := len(notes) - maxSkipped; n > 0 {
		notes = notes[:maxSkipped]
		further = fmt.Sprintf(" and %d more", n)
	}
	return " " + upperFirst(count+"not "+does) + ", because " + why + ": " + strings.Join(notes, ", ") + further + "."
}

// upperFirst is a text with a capital at its beginning.
func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
