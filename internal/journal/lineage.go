package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Origin is a note that the text of another one was made of.
type Origin struct {
	Path string `json:"path"`
	// Marks are the tags that the note had then, with "#", and "private" if it narrowed the access to itself. They are
	// kept where the text that was taken does not have them itself.
	Marks []string `json:"marks,omitempty"`
}

// Bounds of what is kept of the lineage of one note. Of more notes the folders are kept, up to the whole vault.
const (
	maxOrigins = 64
	maxMarks   = 64
)

// wholeVault is the path of an origin that may be any note.
const wholeVault = "/"

// Lineage says which notes of a vault were made of which others, as far as this program has made them: by copies,
// moves, merges and their like. It does not change. The zero Lineage knows nothing.
type Lineage struct {
	notes map[string]descent // by the folded path of the note
	// former are the origins that notes of a path had and have no more: their versions are still kept.
	former map[string]descent
}

// WithVersions returns the lineage of the notes together with that of their versions, and of those of earlier notes of the
// same names.
func (l Lineage) WithVersions() Lineage {
	all := maps.Clone(l.notes)
	for key, was := range l.former {
		all[key] = descent{was.Path, unitedOrigins(all[key].Origins, was.Origins)}
	}
	return Lineage{notes: all}
}

// descent is a note that was made of others.
type descent struct {
	Path    string   `json:"path"`
	Origins []Origin `json:"of"`
}

// Of returns the notes that the note at a path was made of, directly or over others, in no order. A path that ends with
// a slash is that of a folder: any note below it.
func (l Lineage) Of(path string) []Origin { return slices.Clone(l.notes[access.Fold(path)].Origins) }

// MadeOf returns the paths of the notes of which an origin is one that is wanted, in order.
func (l Lineage) MadeOf(wanted func(Origin) bool) (paths []string) {
	for _, note := range l.notes {
		if slices.ContainsFunc(note.Origins, wanted) {
			paths = append(paths, note.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// descents is a lineage that is being worked out from the entries of a journal, in their order.
type descents struct {
	notes map[string]descent
	// was is what entries have changed, so that an undo restores it: the latest of them, the oldest first.
	was []formerDescents
	// cleared is the time of the last of the owner's clearings that is taken into account.
	cleared time.Time
	// former is what notes of a path were made of, where it is not what the note there is made of: see [Lineage.former].
	former map[string]formerDescent
}

// formerDescent is what a note was made of, up to an entry.
type formerDescent struct {
	descent
	Until string `json:"until"`
}

// leave notes that the note at a path is no more, or may be no more, made of some origins.
func (d *descents) leave(path string, origins []Origin, entry string) {
	if len(origins) == 0 {
		return
	}
	key := access.Fold(path)
	known := d.former[key].Origins
	d.former[key] = formerDescent{descent{path, unitedOrigins(known, origins)}, entry}
}

// ofVersions returns the origins of the text that a step of an entry brings back, of what notes of its path once were made
// of. A version of a note can be any of them; an undo is about what was changed before.
func (d *descents) ofVersions(e Entry, s Step) []Origin {
	former := d.former[access.Fold(s.Path)]
	isOlder := slices.ContainsFunc(e.TakesBack(), func(id string) bool { return id <= former.Until })
	isRestored := slices.ContainsFunc(s.Of, func(o Origin) bool { return access.Fold(o.Path) == access.Fold(s.Path) })
	if !isOlder && !isRestored {
		return nil
	}
	return former.Origins
}

// formerDescents is what an entry has changed, as it was before.
type formerDescents struct {
	Entry string    `json:"entry"`
	Notes []descent `json:"notes"` // without origins where a note had none
}

// maxFormer is of how many entries it is kept what they changed.
const maxFormer = 1000

// isOfLineage reports whether an entry can change what notes are made of.
func (e Entry) isOfLineage() bool {
	return e.Undoes != "" || slices.ContainsFunc(e.Steps, func(s Step) bool {
		isMade := !s.Before.Exists && s.After.Exists
		return s.From != "" || len(s.Of) > 0 || isMade
	})
}

// apply adds an entry. What a change that has failed, or whose outcome is not known, would have made counts as made, and
// takes nothing away.
func (d *descents) apply(e Entry) {
	former := formerDescents{Entry: e.ID}
	change := func(path string, origins []Origin) {
		key := access.Fold(path)
		was, known := d.notes[key]
		if !known && len(origins) == 0 {
			return
		}
		former.Notes = append(former.Notes, descent{path, was.Origins})
		d.leave(path, was.Origins, e.ID)
		if len(origins) == 0 {
			delete(d.notes, key)
			return
		}
		d.notes[key] = descent{path, origins}
	}
	restored := map[string]bool{}
	for _, id := range e.TakesBack() {
		at := slices.IndexFunc(d.was, func(f formerDescents) bool { return f.Entry == id })
		if at < 0 || e.State == Begun || e.State == Failed {
			continue
		}
		for _, note := range slices.Backward(d.was[at].Notes) {
			change(note.Path, note.Origins)
			restored[access.Fold(note.Path)] = true
		}
	}
	isMade := e.State == Done || e.State == Undone
	type result struct {
		path    string
		origins []Origin
	}
	var results []result
	for _, s := range e.Steps { // all of them take what was there before the entry
		origins := d.originsOf(s)
		if versions := d.ofVersions(e, s); s.After.Exists && len(versions) > 0 && !restored[access.Fold(s.Path)] {
			now := unitedOrigins(origins, d.notes[access.Fold(s.Path)].Origins)
			results = append(results, result{s.Path, unitedOrigins(now, versions)})
			continue
		}
		if s.From != "" { // its versions go with it
			d.leave(s.Path, d.former[access.Fold(s.From)].Origins, e.ID)
		}
		switch {
		case strings.HasSuffix(s.Path, "/") || restored[access.Fold(s.Path)]:
		case s.From != "":
			if isMade {
				results = append(results, result{s.From, nil})
			}
			results = append(results, result{s.Path, origins})
		case len(s.Of) > 0:
			if s.Before.Exists || !isMade {
				origins = unitedOrigins(origins, d.notes[access.Fold(s.Path)].Origins)
			}
			results = append(results, result{s.Path, origins})
		case isMade && e.Undoes == "" && s.creates(): // another note of the same name
			results = append(results, result{s.Path, nil})
		}
	}
	for _, r := range results {
		if len(r.origins) == 0 {
			change(r.path, nil)
		}
	}
	for _, r := range results {
		if len(r.origins) > 0 {
			change(r.path, r.origins)
		}
	}
	if len(former.Notes) > 0 {
		d.was = append(d.was, former)
		d.was = d.was[max(0, len(d.was)-maxFormer):]
	}
}

// originsOf returns the origins of what a step writes, without those that its file had before.
func (d *descents) originsOf(s Step) (origins []Origin) {
	of := s.Of
	if s.From != "" {
		of = append(slices.Clone(of), Origin{Path: s.From})
	}
	for _, from := range of {
		origins = unitedOrigins(origins, []Origin{from})
		origins = unitedOrigins(origins, d.notes[access.Fold(from.Path)].Origins)
	}
	self := access.Fold(s.Path)
	return slices.DeleteFunc(origins, func(o Origin) bool { return access.Fold(o.Path) == self && len(o.Marks) == 0 })
}

// unitedOrigins returns the origins of both, bounded.
func unitedOrigins(a, b []Origin) []Origin {
	all := slices.Clone(a)
	for _, o := range b {
		i := slices.IndexFunc(all, func(known Origin) bool { return known.Path == o.Path })
		if i < 0 {
			all = append(all, o)
			continue
		}
		for _, mark := range o.Marks {
			if !slices.Contains(all[i].Marks, mark) {
				all[i].Marks = append(slices.Clone(all[i].Marks), mark)
			}
		}
	}
	for len(all) > maxOrigins {
		all = foldersOf(all)
	}
	return all
}

// foldersOf puts the folder in place of the origins that are deepest.
func foldersOf(origins []Origin) (shorter []Origin) {
	depth := func(o Origin) int { return strings.Count(strings.TrimSuffix(o.Path, "/"), "/") }
	deepest := 0
	for _, o := range origins {
		deepest = max(deepest, depth(o))
	}
	for _, o := range origins {
		if depth(o) == deepest && o.Path != wholeVault {
			o.Path = strings.TrimPrefix(path.Dir(strings.TrimSuffix(o.Path, "/")), ".") + "/"
		}
		i := slices.IndexFunc(shorter, func(known Origin) bool { return known.Path == o.Path })
		if i < 0 {
			shorter = append(shorter, o)
			continue
		}
		for _, mark := range o.Marks {
			if !slices.Contains(shorter[i].Marks, mark) && len(shorter[i].Marks) < maxMarks {
				shorter[i].Marks = append(slices.Clone(shorter[i].Marks), mark)
			}
		}
	}
	return shorter
}

// clear takes the clearings of the owner into account that are not newer than a time.
func (d *descents) clear(all []clearing, until time.Time) {
	for _, c := range all {
		if !c.Time.After(d.cleared) || c.Time.After(until) {
			continue
		}
		d.cleared = c.Time
		key := access.Fold(strings.TrimSuffix(c.Path, "/"))
		isCleared := func(note string) bool { return key == "" || note == key || strings.HasPrefix(note, key+"/") }
		maps.DeleteFunc(d.notes, func(note string, _ descent) bool { return isCleared(note) })
		maps.DeleteFunc(d.former, func(note string, _ formerDescent) bool { return isCleared(note) })
	}
}

// clearing says that the owner has cleared the lineage of a note, or of those in a folder.
type clearing struct {
	Path string    `json:"path"`
	Time time.Time `json:"time"`
}

// The files of the lineage in the folder of a vault. Both are small.
const (
	// lineageFile has the lineage by the entries of segments that were removed as too old.
	lineageFile = "lineage"
	clearedFile = "cleared"
)

// keptLineage is the content of the file lineageFile.
type keptLineage struct {
	Through uint64           `json:"through"` // the last segment that is taken into account
	Cleared time.Time        `json:"cleared,omitzero"`
	Notes   []descent        `json:"notes"`
	Was     []formerDescents `json:"was,omitempty"`
	Former  []formerDescent  `json:"former,omitempty"`
}

// readLineage returns the lineage that is kept of segments that were removed, and the last one of them.
func (p folder) readLineage() (d *descents, through uint64, err error) {
	d = &descents{notes: map[string]descent{}, former: map[string]formerDescent{}}
	var kept keptLineage
	if err := p.readSummed(lineageFile, &kept); err != nil {
		return nil, 0, err
	}
	for _, note := range kept.Notes {
		d.notes[access.Fold(note.Path)] = note
	}
	for _, note := range kept.Former {
		d.former[access.Fold(note.Path)] = note
	}
	d.was = kept.Was
	d.cleared = kept.Cleared
	return d, kept.Through, nil
}

// clearings returns those of the owner, in their order.
func (p folder) clearings() (all []clearing, err error) {
	err = p.readSummed(clearedFile, &all)
	return all, err
}

// readSummed reads the JSON of a file with a checksum into a value, which stays as it is if there is no such file.
func (p folder) readSummed(name string, into any) error {
	file, err := ownerfiles.Open(p.file(name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unusable(p.file(name), err)
	}
	defer file.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(file); err != nil {
		return unusable(p.file(name), err)
	}
	record, ok := unwrap(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	if !ok || json.Unmarshal(record, into) != nil {
		return &Damaged{name, "the checksum is wrong"}
	}
	return nil
}

// writeSummed replaces a file by the JSON of a value with a checksum.
func (j *Journal) writeSummed(name string, value any) error {
	record, err := json.Marshal(value)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "%08x ", crc32.ChecksumIEEE(record))
	text = append(append(text, record...), '\n')
	_, err = ownerfiles.Replace(
		j.sys,
		j.folder.file(name+temporarySuffix),
		j.folder.file(name),
		text,
		time.Time{},
	)
	return unusable(j.folder.file(name), err)
}

// outlive keeps what the entries of segments say of the lineage of notes, before the segments are removed. The caller
// has the lock.
func (j *Journal) outlive(removed []segment) error {
	d, through, err := j.folder.readLineage()
	if err != nil {
		return err
	}
	cleared, err := j.folder.clearings()
	if err != nil {
		return err
	}
	first := through
	for _, seg := range removed {
		if seg.number <= through {
			continue
		}
		r := newSegmentReader(seg.number)
		r.isWhole = true
		err := r.readTo(context.Background(), j.folder, seg.size)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range r.read {
			for _, o := range r.readEnds {
				if o.ID == e.ID {
					e.apply(o)
				}
			}
			d.clear(cleared, e.Time)
			d.apply(e)
		}
		through = seg.number
	}
	if through == first {
		return nil
	}
	kept := keptLineage{Through: through, Cleared: d.cleared, Notes: []descent{}, Was: d.was}
	for _, key := range slices.Sorted(maps.Keys(d.notes)) {
		kept.Notes = append(kept.Notes, d.notes[key])
	}
	for _, key := range slices.Sorted(maps.Keys(d.former)) {
		kept.Former = append(kept.Former, d.former[key])
	}
	return j.writeSummed(lineageFile, kept)
}

// followed is the lineage of a journal as far as it was worked out.
type followed struct {
	mu sync.Mutex
	*descents
	through uint64 // the last segment that was taken into account as a whole
	rows    int    // those of the next one that were
	cleared int    // how many clearings of the owner were
	result  Lineage
	extent  Extent
}

// Lineage returns what is known of which notes were made of which others. Only what is new since the last question is
// read. The error is that of ctx, *[Unusable] or *[Damaged].
func (j *Journal) Lineage(ctx context.Context) (Lineage, error) {
	f := &j.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if there, err := j.folder.exists(); err != nil || !there {
		return Lineage{}, err
	}
	cleared, err := j.folder.clearings()
	if err != nil {
		return Lineage{}, err
	}
	extent := j.Extent()
	isSame := f.descents != nil && extent == f.extent && len(cleared) == f.cleared
	if isSame {
		return f.result, nil
	}
	v, err := j.view()
	if err != nil {
		return Lineage{}, err
	}
	defer v.close()
	if err := f.begin(v, len(cleared)); err != nil {
		return Lineage{}, err
	}
	now := *f.descents // as it is with what is still being made
	err = f.follow(ctx, v, cleared, &now)
	if err != nil {
		f.descents = nil
		return Lineage{}, err
	}
	now.clear(cleared, j.now().Add(time.Hour)) // also those of a clock that was set back
	f.cleared = len(cleared)
	f.extent = extent
	former := map[string]descent{}
	for key, was := range now.former {
		former[key] = was.descent
	}
	f.result = Lineage{maps.Clone(now.notes), former}
	return f.result, nil
}

// begin makes sure that what was worked out is a beginning of what there is.
func (f *followed) begin(v *view, cleared int) error {
	oldest := uint64(0)
	if len(v.segments) > 0 {
		oldest = v.segments[0].number
	}
	// A clearing may belong before an entry that was already taken into account.
	isBeginning := f.descents != nil && cleared == f.cleared && oldest <= f.through+1
	if isBeginning {
		return nil
	}
	f.rows = 0
	var err error
	f.descents, f.through, err = v.journal.folder.readLineage()
	return err
}

// follow takes the entries into account that were not yet. The first one without an outcome, and those after it, count
// for now alone.
func (f *followed) follow(ctx context.Context, v *view, cleared []clearing, now *descents) error {
	wanted := keyOf(byLineage, "")
	isOpen := false
	for i, seg := range v.segments {
		if seg.number <= f.through {
			continue
		}
		s, err := v.find(ctx, i, wanted)
		if err != nil {
			return err
		}
		isNewest := i == len(v.segments)-1
		if s != nil {
			for _, row := range s.rows(wanted) {
				if row < f.rows {
					continue
				}
				e, found, err := v.read(ctx, place{i, s, row})
				if err != nil {
					return err
				}
				isBegun := found && e.State == Begun
				if isBegun && !isOpen && v.journal.isBeingMade(e) {
					isOpen = true
					*now = descents{maps.Clone(f.notes), slices.Clone(f.was), f.descents.cleared, maps.Clone(f.descents.former)}
				}
				if found {
					now.clear(cleared, e.Time)
					now.apply(e)
				}
				if !isOpen {
					*f.descents = *now
					f.rows = row + 1
				}
			}
		}
		if !isNewest && !isOpen {
			f.through = seg.number
			f.rows = 0
		}
	}
	return nil
}

// isBeingMade reports whether an outcome of an entry may still come.
func (j *Journal) isBeingMade(e Entry) bool { return j.now().Sub(e.Time) < protected }

// ClearLineage forgets what the note at a path was made of, or the notes in a folder; "/" is all of them. What was made
// of them keeps its own lineage.
func (j *Journal) ClearLineage(path string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := checkText("path", path, maxPath); err != nil {
		return err
	}
	if err := j.prepare(); err != nil {
		return err
	}
	unlock, err := j.folder.lockAppend()
	if err != nil {
		return err
	}
	defer unlock()
	all, err := j.folder.clearings()
	if err != nil {
		return err
	}
	now := j.now().UTC()
	if len(all) > 0 && !now.After(all[len(all)-1].Time) { // in their order, whatever the clock says
		now = all[len(all)-1].Time.Add(time.Nanosecond)
	}
	return j.writeSummed(clearedFile, append(all, clearing{path, now}))
}
