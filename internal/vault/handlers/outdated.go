package handlers

import (
	"path"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// Other programs and agents write while a change of many notes is planned. The change is planned again only if their
// change affects it. Otherwise frequent writers could prevent it from ever being made.

// outdatedBySteps returns a function for [change.Proposal.Outdated]: a proposal is outdated by a journal entry if
// isOutdated is true for one of its steps.
func outdatedBySteps(isOutdated func(s journal.Step) bool) func(e journal.Entry) bool {
	return func(e journal.Entry) bool { return slices.ContainsFunc(e.Steps, isOutdated) }
}

// outdatedByFiles returns a function that is true for a step that changes one of the files of a proposal, or after
// which concerns is true for a note, a canvas or a base.
func outdatedByFiles(
	v *call.Vault,
	steps []change.Step,
	concerns func(path disk.Path, text []byte) bool,
) func(s journal.Step) bool {
	own := map[string]bool{}
	for _, s := range steps {
		for _, path := range []disk.Path{s.Path, s.From, s.CopyOf} {
			own[path.String()] = true
		}
	}
	return func(s journal.Step) bool {
		if own[strings.TrimSuffix(s.Path, "/")] || own[s.From] && s.From != "" {
			return true
		}
		path, err := change.ParseStepPath(s.Path)
		if err != nil || strings.HasSuffix(s.Path, "/") || !change.HasLinks(path) {
			return err != nil
		}
		text, err := v.Disk.Read(path)
		if err != nil {
			return !disk.IsMissing(err)
		}
		return concerns(path, text)
	}
}

// outdatedByLinks returns a function that is true for a step that changes one of the files of a proposal, adds or
// removes a file name to which links may refer instead, or leaves a file with a link that the move must update.
func outdatedByLinks(v *call.Vault, steps []change.Step, m *edit.Move) func(s journal.Step) bool {
	byFiles := outdatedByFiles(v, steps, func(path disk.Path, text []byte) bool {
		_, changed, left := m.Rewrite(text, path.String())
		return changed+len(left) > 0
	})
	isName := func(file string) bool {
		name := lookup.Fold(path.Base(file))
		return m.Means(name) || m.Means(strings.TrimSuffix(name, ".md"))
	}
	return func(s journal.Step) bool {
		changesNames := s.From != "" || s.Before.Exists != s.After.Exists
		isMeant := isName(s.Path) || isName(s.Source())
		return changesNames && isMeant || byFiles(s)
	}
}

// outdatedBelow returns a function that is true for a step that changes something in one of the folders.
func outdatedBelow(folders ...disk.Path) func(s journal.Step) bool {
	return func(s journal.Step) bool {
		return slices.ContainsFunc(folders, func(folder disk.Path) bool {
			prefix := folder.String() + "/"
			return strings.HasPrefix(s.Path, prefix) || strings.HasPrefix(s.From, prefix)
		})
	}
}

// outdatedWhere narrows planned.Outdated to steps in the folder of a request. It returns nil for a query, because any
// note may become a result of it.
func outdatedWhere(p call.Values, proposal change.Proposal) func(e journal.Entry) bool {
	if p.Has("query") || proposal.Outdated == nil {
		return nil
	}
	inFolder := func(e journal.Entry) bool { return true }
	if folder, err := disk.ParseFolder(p["folder"]); p.Has("folder") && err == nil && folder != (disk.Path{}) {
		inFolder = outdatedBySteps(outdatedBelow(folder))
	}
	return func(e journal.Entry) bool { return inFolder(e) && proposal.Outdated(e) }
}
