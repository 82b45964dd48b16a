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

// recordOrigins records in each step the other files from which its text was copied. An undo copies nothing
// from other files.
func (p *Proposal) recordOrigins(v *call.Vault) {
	if p.Undoes != "" {
		return
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if p.Restores != "" { // the version may be of an earlier note with the same name
			s.origins = append(s.origins, journal.Origin{Path: s.Path.String()})
		}
		if s.CopyOf != (disk.Path{}) {
			s.origins = append(s.origins, journal.Origin{Path: s.CopyOf.String()}) // a copy has the same tags
		}
		isMade := !s.Before.Exists || s.Path == p.Note
		if !isMade || !s.After.Exists || s.After.Folder || s.IsNoop() {
			continue
		}
		for _, source := range v.Taken {
			if source.Path != s.Path {
				s.origins = append(s.origins, journal.Origin{Path: source.Path.String(), Marks: marksOf(v, source)})
			}
		}
	}
}

// maxMarks limits the tags that the journal keeps of a note.
const maxMarks = 64

// marksOf returns the tags of a note, with "#", and also "private" if the note restricts access to itself.
func marksOf(v *call.Vault, source call.Taken) (marks []string) {
	if !disk.IsNote(source.Path) {
		return nil
	}
	if call.LevelIn(v.Rules.Private(), source.Text) < access.Delete {
		marks = append(marks, "private")
	}
	scanned := markdown.Scan(source.Text)
	for _, tag := range scanned.Tags {
		marks = append(marks, tag.Text)
	}
	properties, err := frontmatter.Parse(source.Text[scanned.Frontmatter.Start:scanned.Frontmatter.End])
	if err == nil {
		for _, tag := range frontmatter.Tags(properties) {
			marks = append(marks, "#"+tag)
		}
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	return marks[:min(len(marks), maxMarks)]
}
