package handlers

import (
	"path"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/relink"
)

// A change of many notes is worked out while others write. It is worked out anew only for a change of theirs that makes
// it another one: else who writes often would keep it from ever being made.

// outdatedBySteps returns [change.Proposal.Outdated] that asks about each step of a change of others.
func outdatedBySteps(isOutdated func(s journal.Step) bool) func(e journal.Entry) bool {
	return func(e journal.Entry) bool { return slices.ContainsFunc(e.Steps, isOutdated) }
}

// outdatedByFiles is true of a step that concerns one of the files of a proposal, or leaves a note, a canvas or a base of which
// concerns is true.
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

// outdatedByLinks is true of a step that concerns one of the files of a proposal, gives or takes a name by which links may mean
// one of them, or leaves a file with a link that has to change.
func outdatedByLinks(v *call.Vault, steps []change.Step, m *relink.Move) func(s journal.Step) bool {
	ofFiles := outdatedByFiles(v, steps, func(path disk.Path, text []byte) bool {
		_, changed, left := m.Rewrite(text, path.String())
		return changed+len(left) > 0
	})
	means := func(file string) bool {
		name := lookup.Fold(path.Base(file))
		return m.Means(name) || m.Means(strings.TrimSuffix(name, ".md"))
	}
	return func(s journal.Step) bool {
		changesNames := s.From != "" || s.Before.Exists != s.After.Exists
		isMeant := means(s.Path) || means(s.Source())
		return changesNames && isMeant || ofFiles(s)
	}
}

// outdatedBelow is true of a step that concerns something in one of some folders.
func outdatedBelow(folders ...disk.Path) func(s journal.Step) bool {
	return func(s journal.Step) bool {
		return slices.ContainsFunc(folders, func(folder disk.Path) bool {
			prefix := folder.String() + "/"
			return strings.HasPrefix(s.Path, prefix) || strings.HasPrefix(s.From, prefix)
		})
	}
}

// outdatedWhere returns [change.Proposal.Outdated] of a change of notes that are meant by a folder or a query, for what it does
// to a note: nil for a query, of which any note may become a result.
func outdatedWhere(p call.Values, planned change.Proposal) func(e journal.Entry) bool {
	if p.Has("query") || planned.Outdated == nil {
		return nil
	}
	inFolder := func(e journal.Entry) bool { return true }
	if folder, err := disk.ParseFolder(p["folder"]); p.Has("folder") && err == nil && folder != (disk.Path{}) {
		inFolder = outdatedBySteps(outdatedBelow(folder))
	}
	return func(e journal.Entry) bool { return inFolder(e) && planned.Outdated(e) }
}
