package fake

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm"
)

// WriteVault fills a folder with a vault of so many notes, besides its attachments,
// canvases and settings. The folder is made; one that contains anything is refused.
// The same number of notes and the same seed give the same files, byte for byte, on every
// machine and with every release of Go.
//
// A vault has what real ones have and what programs stumble over: names in several
// scripts and in both normal forms of Unicode, names that are taken twice, every kind of
// link with a fair share that leads nowhere, and all that hides a link, a tag, a heading
// or a task. It uses no text of other people.
func WriteVault(folder string, notes int, seed uint64) error {
	if notes < 1 {
		return fmt.Errorf("a vault of %d notes", notes)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if held, err := os.ReadDir(folder); err != nil || len(held) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty", folder))
	}
	p := newPlan(notes, seed)
	for _, sub := range p.folders {
		if err := os.MkdirAll(filepath.Join(folder, filepath.FromSlash(sub)), 0o755); err != nil {
			return err
		}
	}
	for _, f := range p.others() {
		if err := write(folder, f.path, f.text, 0); err != nil {
			return err
		}
	}
	return p.writeNotes(folder)
}

// writeNotes makes every note from its own source of chance, so that the order
// in which they are written does not matter.
func (p *plan) writeNotes(folder string) error {
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= len(p.notes) {
					return
				}
				errs[i] = write(folder, p.notes[n], p.note(n), n)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// firstChange is when the first note was changed, the others at intervals after.
var firstChange = time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)

const (
	changeInterval = 5 * time.Minute
	// changeSpan is how many notes have a time of their own: half a year, so that none of a
	// large vault is in the future, where its stamp would not be trusted.
	changeSpan = 50_000
)

func write(folder, name, text string, n int) error {
	full := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	changed := firstChange.Add(time.Duration(n%changeSpan) * changeInterval)
	return errors.Join(os.WriteFile(full, []byte(text), 0o644), os.Chtimes(full, changed, changed))
}

// plan is what a vault will hold: the names are drawn before any text, because
// the texts link to them.
type plan struct {
	seed            uint64
	folders         []string // the vault's own is ""
	notes, pictures []string
	taken           map[string]bool
}

// A stream is a source of chance of its own.
const (
	nameStream = iota
	otherStream
	firstNoteStream
)

func newPlan(notes int, seed uint64) *plan {
	p := &plan{seed: seed, taken: map[string]bool{}}
	r := p.chance(nameStream)
	p.drawFolders(r, min(max(notes/25, 8), 2000))
	for i := range max(notes/50, 3) {
		p.pictures = append(p.pictures, p.free("Attachments", fmt.Sprintf("%s %d", pick(r, topics), i), pick(r, pictureEndings)))
	}
	for i := range notes {
		p.notes = append(p.notes, p.drawNote(r, i, notes))
	}
	return p
}

func (p *plan) chance(stream int) *rand.Rand { return rand.New(rand.NewPCG(p.seed, uint64(stream))) }

// fixedFolders are in every vault, for the settings name them.
var fixedFolders = []string{"", "Archive", "Drafts", "Daily", "Templates", "Attachments"}

const maxDepth = 4

func (p *plan) drawFolders(r *rand.Rand, n int) {
	p.folders = append(p.folders, fixedFolders...)
	for _, name := range p.folders {
		p.taken[fold(name)] = true
	}
	for len(p.folders) < n+len(fixedFolders) {
		parent := pick(r, p.folders)
		if strings.Count(parent, "/") >= maxDepth-1 || parent == "Templates" || parent == "Daily" {
			continue
		}
		p.folders = append(p.folders, p.free(parent, pick(r, folderNames), ""))
	}
}

// free returns a path that no other file has, the case and the normal form of
// the name aside: some file systems tell neither apart.
func (p *plan) free(folder, stem, ending string) string {
	name := path.Join(folder, stem+ending)
	for n := 2; p.taken[fold(name)]; n++ {
		name = path.Join(folder, fmt.Sprintf("%s %d%s", stem, n, ending))
	}
	p.taken[fold(name)] = true
	return name
}

func fold(name string) string { return norm.NFC.String(strings.ToLower(name)) }

// drawNote names one note. Some are daily notes, some bear a name that nearly
// every folder has, and the rest one or two topics with or without a number.
func (p *plan) drawNote(r *rand.Rand, i, notes int) string {
	const dailyShare, commonShare, templateShare = 0.08, 0.05, 0.01
	switch x := r.Float64(); {
	case x < dailyShare:
		return p.free("Daily", firstChange.AddDate(0, 0, i%5000-2500).Format(time.DateOnly), ".md")
	case x < dailyShare+commonShare:
		return p.free(pick(r, p.folders), pick(r, commonNames), ".md")
	case x < dailyShare+commonShare+templateShare:
		return p.free("Templates", pick(r, topics), ".md")
	}
	stem := pick(r, topics)
	if r.IntN(2) == 0 {
		stem += " " + pick(r, topics)
	}
	if r.IntN(3) > 0 {
		stem += fmt.Sprintf(" %d", r.IntN(notes/4+2))
	}
	return p.free(pick(r, p.folders), stem, ".md")
}

// target draws a note to link to: a few notes are linked from everywhere, most
// of them rarely.
func (p *plan) target(r *rand.Rand) string {
	x := r.Float64()
	return p.notes[int(x*x*x*float64(len(p.notes)))]
}

func pick[T any](r *rand.Rand, among []T) T { return among[r.IntN(len(among))] }
