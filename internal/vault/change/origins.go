package change

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// noteOrigins notes in the steps which other files their texts are made of. What takes a change back makes nothing of
// other files.
func (p *Proposal) noteOrigins(v *call.Vault) {
	if p.Undoes != "" {
		return
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if p.Restores != "" { // a version can be that of an earlier note of the same name
			s.of = append(s.of, journal.Origin{Path: s.Path.String()})
		}
		if s.CopyOf != (disk.Path{}) {
			s.of = append(s.of, journal.Origin{Path: s.CopyOf.String()}) // it has the same tags
		}
		isMade := !s.Before.Exists || s.Path == p.Note
		if !isMade || !s.After.Exists || s.After.Folder || s.IsNoop() {
			continue
		}
		for _, taken := range v.Taken {
			if taken.Path != s.Path {
				s.of = append(s.of, journal.Origin{Path: taken.Path.String(), Marks: marksOf(v, taken)})
			}
		}
	}
}

// maxMarks bounds the marks that are kept of a note.
const maxMarks = 64

// marksOf returns the tags of a note, with "#", and "private" if it narrows the access to itself.
func marksOf(v *call.Vault, taken call.Taken) (marks []string) {
	if !disk.IsNote(taken.Path) {
		return nil
	}
	if call.LevelIn(v.Rules.Private(), taken.Text) < access.Delete {
		marks = append(marks, "private")
	}
	found := markdown.Scan(taken.Text)
	for _, tag := range found.Tags {
		marks = append(marks, tag.Text)
	}
	properties, err := frontmatter.Parse(taken.Text[found.Frontmatter.Start:found.Frontmatter.End])
	if err == nil {
		for _, tag := range frontmatter.Tags(properties) {
			marks = append(marks, "#"+tag)
		}
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	return marks[:min(len(marks), maxMarks)]
}
