package command

import (
	"bytes"
	"encoding/json"

	"github.com/aymanbagabas/go-udiff"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/gateway/difference"
	"vaultwicket/policy/access"
)

// plannedFile is one file of a plan, as the gateway reads it.
type plannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before string `json:"before,omitempty"` // hashes, "" where there is no file
	After  string `json:"after,omitempty"`
	difference.Change
}

// showPlan prints what would be done, as JSON.
func showPlan(v *Vault, p Proposal) (Reply, error) {
	plan := struct {
		Path  string        `json:"path"`
		Says  string        `json:"says"`
		Files []plannedFile `json:"files"`
		Loses string        `json:"loses,omitempty"` // why the change is destructive
		Links string        `json:"links,omitempty"` // what it does to links
		// Carries is the kind of what the addresses that it adds carry.
		Carries string `json:"carries,omitempty"`
		Digest  string `json:"digest"`
	}{Path: p.Note.String(), Says: p.Message, Files: []plannedFile{}, Loses: p.loss(), Links: p.onLinks(), Carries: p.carried.Kind, Digest: digestOf(v, p)}
	var changes []difference.Change
	for _, s := range p.Steps {
		if s.IsNoop() || s.Before.Folder || s.After.Folder {
			continue
		}
		file := plannedFile{Path: s.Path.String(), From: s.From.String(), Before: s.Before.hash(), After: s.After.hash()}
		plan.Files = append(plan.Files, file)
		// The first files may take all that is told; what is kept of many stays small.
		extent := difference.Extent{Rows: maxPlannedLines, Bytes: max(1<<10, 4*maxPlanned/len(plan.Files)), Line: maxPlannedLine}
		before, after := s.Before.Text, s.After.Text
		if s.Path == disk.Bookmarks() && v.Hides() {
			before, after = nil, s.Told
		}
		changes = append(changes, difference.Fit([]difference.Change{difference.Of(v.Redact(before), v.Redact(after))}, extent)...)
	}
	changes = difference.Fit(changes, difference.Extent{Rows: maxPlannedLines, Bytes: maxPlanned, Line: maxPlannedLine})
	for i, c := range changes {
		plan.Files[i].Change = c
	}
	text, err := json.Marshal(plan)
	return Text(string(text)), err
}

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
		why, refused := "", Kind{BadValue.Code, allowlist.ServesKind(kind)}
		switch kind {
		case "canvas":
			var board struct{ Nodes, Edges []map[string]any }
			if json.Unmarshal(s.After.Text, &board) == nil || len(s.After.Text) == 0 { // an empty one can be opened
				continue
			}
			why = "is not a canvas in JSON."
		case "base":
			read, err := bases.Read(s.After.Text)
			if err == nil {
				err = read.Fatal()
			}
			if err == nil {
				continue
			}
			why = "is not a base: " + err.Error()
		default:
			return refused.Failure("File %q is not a note: no text is written into it.", Verbatim(s.Path.String()))
		}
		return refused.Failure("The content of %q %s", Verbatim(s.Path.String()), why)
	}
	return nil
}

// judge refuses a proposal that does more than the rules allow. It looks at what
// would be done and not at what was asked for: links in other notes that a move
// rewrites, the note of today, a note that a template makes.
func judge(v *Vault, p Proposal) error {
	if !v.Hides() && !v.Rules.Restrict() {
		return nil
	}
	loses := p.Undoes == "" && p.loss() != "" // to take a change back is to write
	for _, s := range p.Steps {
		if s.IsNoop() {
			continue
		}
		if err := judgeStep(v, s, p); err != nil {
			return err
		}
		if loses && s.Before.Exists && !s.Before.Folder && s.Path != disk.Bookmarks() {
			if err := needs(v, s.source(), s.Before, access.Delete, "overwritten: the change "+p.loss()); err != nil {
				return err
			}
		}
		if err := keepsLevel(v, s); err != nil {
			return err
		}
	}
	return nil
}

func judgeStep(v *Vault, s Step, p Proposal) error {
	switch {
	case s.Path == disk.Bookmarks() && v.Sight != nil:
		return AccessDenied.Failure("Access denied: the bookmarks may not be changed, because they name notes that are not to be seen.")
	case s.Path == disk.Bookmarks():
		return nil // it is no note
	case s.Before.Folder || s.After.Folder:
		return needs(v, s.Path, FileState{}, access.Write, "changed")
	case s.IsMove():
		needed := access.Write
		if s.From.Folder() != s.Path.Folder() && !p.OwnChange {
			needed = access.Delete // the note goes from where it was
		}
		if err := needs(v, s.From, s.Before, needed, "moved away"); err != nil {
			return err
		}
		return needs(v, s.Path, FileState{}, access.Write, "made")
	case !s.After.Exists && !p.OwnChange:
		return needs(v, s.Path, s.Before, access.Delete, "deleted")
	case s.Before.Exists && p.Replaces && s.Path == p.Note:
		return needs(v, s.Path, s.Before, access.Delete, "replaced")
	case s.Before.Exists:
		return needs(v, s.Path, s.Before, access.Write, "changed")
	}
	return needs(v, s.Path, FileState{}, access.Write, "made")
}

// needs refuses what a path with a state may not have done to it. A note that is not seen may be at a
// path where there seems to be none.
func needs(v *Vault, at disk.Path, now FileState, level access.Level, what string) error {
	denied := AccessDenied
	switch ruled := v.Sight.Level(at.String(), v.Rules); {
	case ruled >= level && v.levelIn(at, now) < level:
		denied = AccessDenied.Advise(hintItself)
	case ruled >= level && (now.Exists || !v.Disk.IsClosed(at)):
		return nil
	}
	return denied.Failure("Access denied: %q may not be %s.", Verbatim(at.String()), what)
}

// UnifiedDiff shows the difference of two texts, nothing if there is none. Of long ones it
// shows the beginning and the end of what differs.
func UnifiedDiff(from, to string, a, b []byte) string {
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
	maxPlanned      = 256 << 10 // bytes of all lines together
	maxPlannedLines = 4000
	maxPlannedLine  = 8 << 10 // bytes of one line
)
