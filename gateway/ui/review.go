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

// reviewedOfPage is how many notes one part of the review has.
const reviewedOfPage = 20

// reviewData is what the view of a review shows: what was changed under grants, note by note.
type reviewData struct {
	Vaults     []string
	Vault, Who string
	Grant      string
	Chips      []filterChip
	Since      time.Time // zero for all of a grant
	Until      time.Time // when the review was made
	Notes      []reviewedNote
	All        int // notes, with those of the other parts
	Changes    int
	IsCut      bool // there are older changes
	Part       int  // from 1
	Next, Prev template.URL
	// Seen says whether the view has all that was changed since the last review, so that the owner can say that they
	// have looked.
	Seen bool
}

// reviewedNote is a note of the review with its difference, and the changes that it is made of.
type reviewedNote struct {
	fileBlock
	Unknown  string // why there is no difference
	ByOthers bool
	Made     []reviewedChange // the latest first
}

// reviewedChange is a change of a note, which is taken back by itself.
type reviewedChange struct {
	journal.Entry
	Vault, Who, Note string
	Others           int // notes that are taken back with this one
}

// toReview is what is to be reviewed in a vault, of all agents or of one.
type toReview struct {
	Vault, Who string
	Changes    int
	IsCut      bool // there are more
}

// unreviewed returns the vaults in which something was changed under grants since the last review: by all, and by each
// agent that has a name.
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
		for who, of := range ids {
			ofAgents[who] = append(ofAgents[who], toReview{vault, who, len(of), found.IsCut})
		}
	}
	return all, ofAgents, err
}

// review shows what was changed under grants since the last review, of one agent, or under one grant.
func (p *Page) review(r request) view {
	values := r.URL.Query()
	data := reviewData{
		Vaults: p.Gateway.VaultNames(), Vault: p.vaultOf(r), Who: values.Get("who"), Grant: values.Get("grant"), Until: p.Now(),
	}
	query := url.Values{"vault": {data.Vault}, "who": values["who"], "grant": values["grant"]}
	if data.Who != "" {
		data.Chips = append(data.Chips, chipOf(query, "agent: "+data.Who, "who"))
	}
	wanted := journal.Filter{Agent: data.Who, Grant: data.Grant}
	if data.Grant != "" {
		data.Chips = append(data.Chips, chipOf(query, "grant: "+data.Grant, "grant"))
	} else {
		data.Since = p.Gateway.LastReview(data.Vault, data.Until)
		wanted.Since = data.Since
	}
	v := view{template: "review", title: "Review"}
	found, err := p.Gateway.Review(r.Context(), data.Vault, wanted)
	data.All = len(found.Notes)
	data.Changes = found.Changes
	data.IsCut = found.IsCut
	if !found.Running.IsZero() {
		data.Until = found.Running
	}
	parts := max(1, (data.All+reviewedOfPage-1)/reviewedOfPage)
	at, _ := strconv.Atoi(values.Get("part")) // anything else is the first
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
	data.Seen = isOfAll && data.Part == parts && data.All > 0
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

// reviewedNoteOf returns a note as the view shows it. notesOf counts the notes of each change.
func reviewedNoteOf(vault string, n *gateway.ReviewedNote, notesOf map[string]int) reviewedNote {
	shown := reviewedNote{fileBlock: fileBlock{From: n.File.From, Path: n.File.Path}, ByOthers: n.ByOthers}
	switch {
	case !n.IsKnown:
		shown.Unknown = "One of the texts is kept no more, or was changed outside of vaultwicket since."
	case n.Change.Binary:
		shown.Unknown = "The file is not a text."
	default:
		_, _, files := blocksOf(n.Lines())
		shown.fileBlock = files[0]
	}
	for i := len(n.Entries) - 1; i >= 0; i-- {
		e := n.Entries[i]
		who := ownerfiles.AgentOf(e.Caller)
		if who == "" && e.Client != "" { // its own word, which could be any other on the page
			who = "“" + excerpt.Clip(e.Client, nameBytes) + "”"
		}
		shown.Made = append(shown.Made, reviewedChange{e, vault, who, n.File.Path, notesOf[e.ID] - 1})
	}
	return shown
}

// TakeBack returns the form that takes back a change of a note, and leads back to the review.
func (f frame) TakeBack(c reviewedChange) undoButton {
	return f.Undo(c.Vault, "", "Take back", c.Command+" of "+c.Note, []string{c.ID})
}

// TakeAllBack returns the form that takes back all changes of a note.
func (f frame) TakeAllBack(n reviewedNote) undoButton {
	var ids []string
	for _, c := range n.Made {
		ids = append(ids, c.ID)
	}
	return f.Undo(n.Made[0].Vault, "", "Take back all "+strconv.Itoa(len(ids)), "changes of "+n.Path, ids)
}

// lookedAt notes that the owner has looked at what the view showed, until the time of the form.
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
