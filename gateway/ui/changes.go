package ui

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"vaultwicket/gateway"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/difference"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/journal"
)

const (
	// changesOfPage is how many changes one page of the view has.
	changesOfPage = 50
	// maxShownSteps is the maximum number of files of a change in the view.
	maxShownSteps = 20
	// maxSideBytes and maxSideRows limit the difference of one file.
	maxSideBytes = 8 << 20
	maxSideRows  = 2000
)

// changesData is what the view of changes shows.
type changesData struct {
	Vaults                       []string
	Vault, Caller, Batch, Note   string
	Changes                      []shownChange
	Older                        template.URL // the query of the next part, "" for none
	Damage                       int          // places in the journal that cannot be read
	Filtered, Unknown, NoFolders bool
}

// shownChange is a change in the list.
type shownChange struct {
	journal.Entry
	Path string
	More int // further files
}

func shownChangeOf(e journal.Entry) shownChange {
	c := shownChange{Entry: e}
	if len(e.Steps) > 0 {
		c.Path, c.More = e.Steps[0].Path, len(e.Steps)-1
	}
	return c
}

// changes shows the journal of a vault. Changes of notes that are hidden are not in it.
func (p *page) changes(r request) view {
	values := r.URL.Query()
	data := changesData{Vaults: p.Gateway.VaultNames(), Vault: values.Get("vault"), Caller: values.Get("caller"), Batch: values.Get("batch"), Note: values.Get("note")}
	if data.Vault == "" && len(data.Vaults) > 0 {
		data.Vault = data.Vaults[0]
	}
	data.Filtered = data.Caller != "" || data.Batch != "" || data.Note != ""
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
	filter := journal.Filter{Limit: changesOfPage, OlderThan: before, Caller: data.Caller, Batch: data.Batch, Path: data.Note}
	for len(data.Changes) < changesOfPage {
		entries, damage, err := kept.Entries(filter)
		if err != nil {
			return show(failure.New(failure.CodeState, `the user can see more with "vaultwicket doctor"`, "the journal cannot be read: %v", err))
		}
		data.Damage = len(damage)
		for _, e := range entries {
			filter.OlderThan = e.ID
			if len(data.Changes) == changesOfPage {
				break
			}
			if e.SeenBy(sees) {
				data.Changes = append(data.Changes, shownChangeOf(e))
			}
		}
		if len(entries) < changesOfPage {
			return show(nil)
		}
	}
	next := url.Values{"vault": {data.Vault}, "before": {data.Changes[len(data.Changes)-1].ID}}
	for name, value := range map[string]string{"caller": data.Caller, "batch": data.Batch, "note": data.Note} {
		if value != "" {
			next.Set(name, value)
		}
	}
	data.Older = template.URL(next.Encode())
	return show(nil)
}

// changeData is one change with its differences.
type changeData struct {
	shownChange
	Vault   string
	Files   []shownFile
	Further int // files that are not shown
	// Question is what to confirm before the change is undone, nil for nothing. Digest
	// tells it from any other, and Undo is what the form asked for.
	Question *consent.Question
	Digest   string
	Undo     undoForm
}

// shownFile is a file of a change, side by side.
type shownFile struct {
	journal.Step
	Rows    []sideRow
	Cut     bool   // there are more rows
	Unknown string // why the texts are not shown
}

// sideRow is a line of each text, or of one of them. Numbers count from 1; 0 is no line.
type sideRow struct {
	Kind                  string // of its class: same, changed, removed, added or gap
	LeftLine, RightLine   int
	Left, Right           string
	LeftNoEnd, RightNoEnd bool   // the text ends without a newline here
	Gap                   string // the lines that are left out before the next row
}

// sidesOf returns the rows of a difference side by side: an added line is next to the line that was
// removed in its place.
func sidesOf(c difference.Change) (rows []sideRow) {
	added, removed := c.Left()
	old := 0
	for _, hunk := range c.Hunks() {
		if from := hunk[0].Old - 1; from > old {
			gap := fmt.Sprintf("%d lines the same", from-old)
			if added+removed > 0 {
				gap = "lines that are not shown"
			}
			rows = append(rows, sideRow{Kind: "gap", Gap: gap})
		}
		next := len(rows) // the row that the next added line is next to
		for _, l := range hunk {
			old = max(old, l.Old)
			switch {
			case l.Sign == difference.Added && next < len(rows):
				r := &rows[next]
				r.Kind, r.RightLine, r.Right, r.RightNoEnd = "changed", l.New, l.Inline(), l.NoEnd
				if r.Left == r.Right && r.LeftNoEnd != r.RightNoEnd && len(l.Cuts) == 0 {
					r.Kind = "same" // but for the newline, which the row names
				}
				next++
			case l.Sign == difference.Added:
				rows = append(rows, sideRow{Kind: "added", RightLine: l.New, Right: l.Inline(), RightNoEnd: l.NoEnd})
				next = len(rows)
			case l.Sign == difference.Removed:
				if n := len(rows); n == 0 || rows[n-1].Kind != "removed" {
					next = n
				}
				rows = append(rows, sideRow{Kind: "removed", LeftLine: l.Old, Left: l.Inline(), LeftNoEnd: l.NoEnd})
			default:
				rows = append(rows, sideRow{Kind: "same", LeftLine: l.Old, RightLine: l.New, Left: l.Inline(), Right: l.Inline()})
				next = len(rows)
			}
		}
	}
	return rows
}

// oneChange shows a change with the texts before and after it.
func (p *page) oneChange(r request) view {
	vault, id := r.URL.Query().Get("vault"), r.rest
	data, err := p.changeOf(vault, id)
	if err != nil {
		return view{template: "missing", title: "Not found", status: http.StatusNotFound, problem: problemOf(err)}
	}
	return view{template: "change", title: "Change", data: data}
}

func (p *page) changeOf(vault, id string) (changeData, error) {
	kept, err := p.Gateway.Journal(vault)
	if err != nil {
		return changeData{}, err
	}
	e, err := kept.Entry(id)
	if err == nil && !e.SeenBy(p.Gateway.Visible(vault)) {
		err = &journal.Unknown{What: id}
	}
	if err != nil {
		return changeData{}, failure.New(failure.CodeNotFound, "the list of changes has those that are kept", "%v", err)
	}
	data := changeData{shownChange: shownChangeOf(e), Vault: vault, Further: max(0, len(e.Steps)-maxShownSteps)}
	for _, step := range e.Steps[:min(len(e.Steps), maxShownSteps)] {
		data.Files = append(data.Files, p.shownFileOf(kept, vault, step))
	}
	return data, nil
}

// shownFileOf returns the rows of one file. The journal has the text after a change only if another
// change followed; otherwise it is the note itself, if that still has its hash.
func (p *page) shownFileOf(kept *journal.Journal, vault string, s journal.Step) shownFile {
	f := shownFile{Step: s}
	if s.Before.Size > maxSideBytes || s.After.Size > maxSideBytes {
		f.Unknown = "The texts are too long to be shown side by side."
		return f
	}
	before, okBefore := p.textOf(kept, vault, s.Source(), s.Before)
	after, okAfter := p.textOf(kept, vault, s.Path, s.After)
	switch {
	case !okBefore:
		f.Unknown = "The text before this change is no longer kept."
	case !okAfter:
		f.Unknown = "The note was changed outside of vaultwicket since, so the text after this change is not known."
	default:
		c := difference.Fit([]difference.Change{difference.Of([]byte(before), []byte(after))}, difference.Extent{Rows: maxSideRows, Bytes: maxSideBytes / 8, Line: 16 << 10})[0]
		added, removed := c.Left()
		f.Rows, f.Cut = sidesOf(c), added+removed > 0
		if c.Binary {
			f.Unknown = "The file is not a text."
		}
	}
	return f
}

func (p *page) textOf(kept *journal.Journal, vault, path string, image journal.Image) (text string, ok bool) {
	if !image.Exists {
		return "", true
	}
	if content, err := kept.Object(image.Hash); err == nil {
		return string(content), true
	}
	return p.Gateway.NoteWithHash(vault, path, image.Hash)
}

// undoForm is a form that undoes one change, its batch, or its session.
type undoForm struct{ Vault, ID, What, Confirm string }

// undo undoes changes with the command undo, as the terminal does. If that requires approval, the
// question is shown first, and the form confirms that question by its digest.
func (p *page) undo(r request) view {
	form := undoForm{r.PostForm.Get("vault"), r.PostForm.Get("id"), r.PostForm.Get("what"), r.PostForm.Get("confirm")}
	which := "id"
	if form.What == "batch" || form.What == "session" {
		which = form.What
	}
	var asked *consent.Question
	ctx := context.WithoutCancel(r.Context()) // a window that is closed does not cut a change off
	result := p.Gateway.Do(ctx, gateway.Request{
		Command: "undo", Words: []string{which + "=" + form.ID}, Vault: form.Vault, Caller: Surface, Client: Surface, Surface: Surface, Owner: true,
		Ask: func(_ context.Context, q consent.Question) consent.Reply {
			if digest, err := hex.DecodeString(strings.TrimSpace(form.Confirm)); err == nil && subtle.ConstantTimeCompare(digest, q.Digest[:]) == 1 {
				return consent.Yes // the form confirms exactly this question
			}
			asked = &q
			return consent.Void // not a denial: the user is shown it now
		},
	})
	list := "changes?" + url.Values{"vault": {form.Vault}}.Encode()
	if result.OK {
		return view{goTo: list, note: "Undone."}
	}
	data, err := p.changeOf(form.Vault, form.ID)
	if err != nil {
		return view{goTo: list}.failed(err)
	}
	one := "changes/one/" + url.PathEscape(data.ID) + "?" + url.Values{"vault": {form.Vault}}.Encode()
	if asked == nil {
		return view{goTo: one, problem: result.Error, status: http.StatusUnprocessableEntity}
	}
	data.Question, data.Digest, data.Undo = asked, hex.EncodeToString(asked.Digest[:]), form
	return view{template: "change", title: "Change", data: data, goTo: one}
}
