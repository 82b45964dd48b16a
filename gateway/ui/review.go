package ui

import (
	"cmp"
	"context"
	"html/template"
	"net/url"
	"strconv"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// reviewedOfPage is the maximum number of notes in one part of the review.
const reviewedOfPage = 20

// reviewData is the data of the view of a review: the changes under grants, note by note.
type reviewData struct {
	Vaults     []string
	Vault, Who string
	Grant      string
	Chips      []filterChip
	Since      time.Time // zero for a whole grant
	Until      time.Time // time of the review
	Notes      []reviewedNote
	All        int // number of notes in all parts
	Changes    int
	IsCut      bool // there are older changes
	Unread     int  // notes that are left out because they cannot be read
	Part       int  // from 1
	Next, Prev template.URL
	// Seen is set on the last part of a review of all agents, where the owner can mark everything as reviewed.
	Seen bool
}

// reviewedNote is a note of the review with its difference, and the changes behind it.
type reviewedNote struct {
	fileBlock
	Unknown  string // why there is no difference
	ByOthers bool
	Made     []reviewedChange // latest first
}

// reviewedChange is a change of a note, which can be undone on its own.
type reviewedChange struct {
	journal.Entry
	Vault, Who, Note string
	Others           int // number of other notes that are undone with this one
}

// toReview counts the unreviewed changes in a vault, of all agents or of one.
type toReview struct {
	Vault, Who string
	Changes    int
	IsCut      bool // there are more
}

// unreviewed returns the vaults with changes under grants since the last review: of all agents, and of each named agent.
func (p *Page) unreviewed(ctx context.Context) (all []toReview, ofAgents map[string][]toReview, err error) {
	ofAgents = map[string][]toReview{}
	for _, vault := range p.Gateway.VaultNames() {
		since := p.Gateway.LastReview(vault, p.Now())
		found, failed := p.Gateway.Review(ctx, vault, journal.Filter{Since: since})
		if failed != nil && failure.Of(failed).Code == failure.CodeVaultNotFound {
			continue // without a folder there is no journal
		}
		err = cmp.Or(err, failed)
		if found.Changes == 0 {
			continue
		}
		all = append(all, toReview{vault, "", found.Changes, found.IsCut})
		ids := map[string]map[string]bool{}
		for _, note := range found.Notes {
			for _, e := range note.Entries {
				who := ownerfiles.AgentOf(e.Caller)
				if ids[who] == nil {
					ids[who] = map[string]bool{}
				}
				ids[who][e.ID] = true
			}
		}
		delete(ids, "")
		for who, entries := range ids {
			ofAgents[who] = append(ofAgents[who], toReview{vault, who, len(entries), found.IsCut})
		}
	}
	return all, ofAgents, err
}

// review shows the changes under grants since the last review, of all agents or one, or the changes under one grant.
func (p *Page) review(r request) view {
	values := r.URL.Query()
	data := reviewData{
		Vaults: p.Gateway.VaultNames(),
		Vault:  p.vaultOf(r),
		Who:    values.Get("who"),
		Grant:  values.Get("grant"),
		Until:  p.Now(),
	}
	query := url.Values{"vault": {data.Vault}, "who": values["who"], "grant": values["grant"]}
	if data.Who != "" {
		data.Chips = append(data.Chips, chipOf(query, "agent: "+data.Who, "who"))
	}
	filter := journal.Filter{Agent: data.Who, Grant: data.Grant}
	if data.Grant != "" {
		data.Chips = append(data.Chips, chipOf(query, "grant: "+data.Grant, "grant"))
	} else {
		data.Since = p.Gateway.LastReview(data.Vault, data.Until)
		filter.Since = data.Since
	}
	v := view{template: "review", title: "Review"}
	found, err := p.Gateway.Review(r.Context(), data.Vault, filter)
	data.All = len(found.Notes)
	data.Changes = found.Changes
	data.IsCut = found.IsCut
	data.Unread = found.Unread
	if !found.Running.IsZero() {
		data.Until = found.Running
	}
	parts := max(1, (data.All+reviewedOfPage-1)/reviewedOfPage)
	at, _ := strconv.Atoi(values.Get("part")) // without a number, the first part
	data.Part = min(max(at, 1), parts)
	linkTo := func(part int) template.URL {
		query.Set("part", strconv.Itoa(part))
		return template.URL(query.Encode())
	}
	if data.Part > 1 {
		data.Prev = linkTo(data.Part - 1)
	}
	if data.Part < parts {
		data.Next = linkTo(data.Part + 1)
	}
	isOfAll := data.Who == "" && data.Grant == ""
	isWhole := data.All > 0 && data.Unread == 0 // otherwise the next review would not have what was left out
	data.Seen = isOfAll && data.Part == parts && isWhole
	shown := found.Notes[(data.Part-1)*reviewedOfPage : min(data.Part*reviewedOfPage, data.All)]
	err = cmp.Or(err, p.Gateway.Compare(r.Context(), data.Vault, shown))
	notesOf := map[string]int{}
	for _, note := range found.Notes {
		for _, e := range note.Entries {
			notesOf[e.ID]++
		}
	}
	for _, note := range shown {
		data.Notes = append(data.Notes, reviewedNoteOf(data.Vault, note, notesOf))
	}
	v.data = data
	return v.failed(err)
}

// reviewedNoteOf returns a note for the view. notesOf has the number of notes of each change.
func reviewedNoteOf(vault string, n *gateway.ReviewedNote, notesOf map[string]int) reviewedNote {
	shown := reviewedNote{fileBlock: fileBlock{From: n.File.From, Path: n.File.Path}, ByOthers: n.ByOthers}
	switch {
	case !n.IsKnown:
		shown.Unknown = "One of the texts is kept no more, cannot be read, or was changed outside of vaultwicket since."
	case n.Change.Binary:
		shown.Unknown = "The file is not a text."
	default:
		_, _, files := blocksOf(n.Lines())
		shown.fileBlock = files[0]
	}
	for i := len(n.Entries) - 1; i >= 0; i-- {
		e := n.Entries[i]
		who := ownerfiles.AgentOf(e.Caller)
		if who == "" && e.Client != "" { // quoted, because a client may call itself anything
			who = "“" + excerpt.Clip(e.Client, nameBytes) + "”"
		}
		shown.Made = append(shown.Made, reviewedChange{e, vault, who, n.File.Path, notesOf[e.ID] - 1})
	}
	return shown
}

// TakeBack returns the form that undoes a change of a note, and leads back to the review.
func (f frame) TakeBack(c reviewedChange) undoButton {
	return f.Undo(c.Vault, "", "Take back", c.Command+" of "+c.Note, []string{c.ID})
}

// TakeAllBack returns the form that undoes all changes of a note.
func (f frame) TakeAllBack(n reviewedNote) undoButton {
	var ids []string
	for _, c := range n.Made {
		ids = append(ids, c.ID)
	}
	return f.Undo(n.Made[0].Vault, "", "Take back all "+strconv.Itoa(len(ids)), "changes of "+n.Path, ids)
}

// markReviewed records that the owner has reviewed the changes up to the time in the form.
func (p *Page) markReviewed(r request) view {
	vault := r.PostForm.Get("vault")
	v := view{goTo: "review?" + url.Values{"vault": {vault}}.Encode()}
	at, err := time.Parse(time.RFC3339Nano, r.PostForm.Get("until"))
	last := p.Gateway.LastReview(vault, p.Now())
	if err != nil || at.After(p.Now()) || at.Before(last) {
		return v.failed(failure.New(failure.CodeBadRequest, "load the view again", "the view is of another time"))
	}
	if err := p.Gateway.NoteReview(vault, at); err != nil {
		return v.failed(failure.New(failure.CodeState, "it must be a folder that only you can access", "not noted: %v", err))
	}
	v.note = "Reviewed. The next review begins here."
	return v
}
