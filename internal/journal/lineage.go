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

// Origin is a note from which the text of another one was copied.
type Origin struct {
	Path string `json:"path"`
	// Marks are the tags that the note had at that time, with "#", and "private" if it restricted access to
	// itself. They are recorded because the copied text may not contain them.
	Marks []string `json:"marks,omitempty"`
}

// Limits of the recorded lineage of one note. Beyond them, folders replace their notes, up to the whole vault.
const (
	maxOrigins = 64
	maxMarks   = 64
)

// wholeVault is the path of an origin that may be any note.
const wholeVault = "/"

// Lineage tells from which other notes the notes of a vault were copied, as far as this program made the
// copies: by copying, moving, merging and similar commands. It is immutable. The zero Lineage is empty.
type Lineage struct {
	notes map[string]descent // by folded path of the note
	// former has the origins that notes at a path had once but have no more. Their versions may still contain
	// text of these.
	former map[string]descent
}

// WithVersions returns the lineage of the notes combined with that of their versions, and of versions of
// earlier notes with the same paths.
func (l Lineage) WithVersions() Lineage {
	notes := maps.Clone(l.notes)
	for key, old := range l.former {
		notes[key] = descent{old.Path, unitedOrigins(notes[key].Origins, old.Origins)}
	}
	return Lineage{notes: notes}
}

// descent is a note and its origins.
type descent struct {
	Path    string   `json:"path"`
	Origins []Origin `json:"of"`
}

// Of returns the direct and indirect origins of the note at a path, in no particular order. A path that ends
// with a slash is the origin "any note in this folder".
func (l Lineage) Of(path string) []Origin { return slices.Clone(l.notes[access.Fold(path)].Origins) }

// MadeOf returns the sorted paths of the notes with at least one wanted origin.
func (l Lineage) MadeOf(wanted func(Origin) bool) (paths []string) {
	for _, note := range l.notes {
		if slices.ContainsFunc(note.Origins, wanted) {
			paths = append(paths, note.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// descents builds a lineage from the entries of a journal, in order.
type descents struct {
	notes map[string]descent
	// history has what the latest entries changed, the oldest first, so that an undo can restore it.
	history []formerDescents
	// cleared is the time of the last clearing by the owner that was applied.
	cleared time.Time
	// former has the origins that notes at a path had earlier and have no more, see [Lineage.former].
	former map[string]formerDescent
}

// formerDescent is the origins of a note up to an entry.
type formerDescent struct {
	descent
	Until string `json:"until"`
}

// addFormer records that the note at a path may not have some origins any more, from the entry on.
func (d *descents) addFormer(path string, origins []Origin, entry string) {
	if len(origins) == 0 {
		return
	}
	key := access.Fold(path)
	known := d.former[key].Origins
	d.former[key] = formerDescent{descent{path, unitedOrigins(known, origins)}, entry}
}

// versionOrigins returns the former origins of the text that a step may restore. A version of a note can be any
// earlier one; an undo restores one from before the undone change.
func (d *descents) versionOrigins(e Entry, s Step) []Origin {
	former := d.former[access.Fold(s.Path)]
	isOlder := slices.ContainsFunc(e.TakesBack(), func(id string) bool { return id <= former.Until })
	isRestored := slices.ContainsFunc(s.Of, func(o Origin) bool { return access.Fold(o.Path) == access.Fold(s.Path) })
	if !isOlder && !isRestored {
		return nil
	}
	return former.Origins
}

// formerDescents is the previous state of the notes that an entry changed.
type formerDescents struct {
	Entry string    `json:"entry"`
	Notes []descent `json:"notes"` // without origins if a note had none
}

// maxFormer limits the entries in the history.
const maxFormer = 1000

// isOfLineage reports whether an entry can change the origins of notes.
func (e Entry) isOfLineage() bool {
	return e.Undoes != "" || slices.ContainsFunc(e.Steps, func(s Step) bool {
		isMade := !s.Before.Exists && s.After.Exists
		return s.From != "" || len(s.Of) > 0 || isMade
	})
}

// apply updates the lineage for an entry. A change that failed, or whose outcome is unknown, adds origins as if
// it had been made, but removes none.
func (d *descents) apply(e Entry) {
	former := formerDescents{Entry: e.ID}
	change := func(path string, origins []Origin) {
		key := access.Fold(path)
		old, known := d.notes[key]
		if !known && len(origins) == 0 {
			return
		}
		former.Notes = append(former.Notes, descent{path, old.Origins})
		d.addFormer(path, old.Origins, e.ID)
		if len(origins) == 0 {
			delete(d.notes, key)
			return
		}
		d.notes[key] = descent{path, origins}
	}
	restored := map[string]bool{}
	for _, id := range e.TakesBack() {
		at := slices.IndexFunc(d.history, func(f formerDescents) bool { return f.Entry == id })
		if at < 0 || e.State == Begun || e.State == Failed {
			continue
		}
		for _, note := range slices.Backward(d.history[at].Notes) {
			change(note.Path, note.Origins)
			restored[access.Fold(note.Path)] = true
		}
	}
	results := d.resultsOf(e, restored)
	for _, r := range results {
		if len(r.Origins) == 0 {
			change(r.Path, nil)
		}
	}
	for _, r := range results {
		if len(r.Origins) > 0 {
			change(r.Path, r.Origins)
		}
	}
	if len(former.Notes) > 0 {
		d.history = append(d.history, former)
		d.history = d.history[max(0, len(d.history)-maxFormer):]
	}
}

// resultsOf returns the notes whose origins an entry sets, with the origins that they have after it. Every step
// starts from the state before the entry. Notes that an undo has already restored are left out. The former origins
// of a moved note are passed on to its new path at once.
func (d *descents) resultsOf(e Entry, restored map[string]bool) (results []descent) {
	isMade := e.State == Done || e.State == Undone
	for _, s := range e.Steps {
		origins := d.originsOf(s)
		versions := d.versionOrigins(e, s)
		isRestored := restored[access.Fold(s.Path)]
		mayBeVersion := s.After.Exists && len(versions) > 0
		if mayBeVersion && !isRestored {
			now := unitedOrigins(origins, d.notes[access.Fold(s.Path)].Origins)
			results = append(results, descent{s.Path, unitedOrigins(now, versions)})
			continue
		}
		if s.From != "" { // its versions move with it
			d.addFormer(s.Path, d.former[access.Fold(s.From)].Origins, e.ID)
		}
		switch {
		case strings.HasSuffix(s.Path, "/") || isRestored:
		case s.From != "":
			if isMade {
				results = append(results, descent{s.From, nil})
			}
			results = append(results, descent{s.Path, origins})
		case len(s.Of) > 0:
			if s.Before.Exists || !isMade {
				origins = unitedOrigins(origins, d.notes[access.Fold(s.Path)].Origins)
			}
			results = append(results, descent{s.Path, origins})
		case isMade && e.Undoes == "" && s.creates(): // a new note with the same path
			results = append(results, descent{s.Path, nil})
		}
	}
	return results
}

// originsOf returns the origins of the text that a step writes, without those that its file already had.
func (d *descents) originsOf(s Step) (origins []Origin) {
	sources := s.Of
	if s.From != "" {
		sources = append(slices.Clone(sources), Origin{Path: s.From})
	}
	for _, source := range sources {
		origins = unitedOrigins(origins, []Origin{source})
		origins = unitedOrigins(origins, d.notes[access.Fold(source.Path)].Origins)
	}
	self := access.Fold(s.Path)
	return slices.DeleteFunc(origins, func(o Origin) bool { return access.Fold(o.Path) == self && len(o.Marks) == 0 })
}

// unitedOrigins returns the union of the origins, within the limits.
func unitedOrigins(a, b []Origin) []Origin {
	union := slices.Clone(a)
	for _, o := range b {
		i := slices.IndexFunc(union, func(known Origin) bool { return known.Path == o.Path })
		if i < 0 {
			union = append(union, o)
			continue
		}
		for _, mark := range o.Marks {
			if !slices.Contains(union[i].Marks, mark) {
				union[i].Marks = append(slices.Clone(union[i].Marks), mark)
			}
		}
	}
	for len(union) > maxOrigins {
		union = foldersOf(union)
	}
	return union
}

// foldersOf replaces the origins with the deepest paths by their folders.
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

// clear applies the clearings of the owner that are not later than until.
func (d *descents) clear(clearings []clearing, until time.Time) {
	for _, c := range clearings {
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

// clearing records that the owner cleared the lineage of a note, or of all notes in a folder.
type clearing struct {
	Path string    `json:"path"`
	Time time.Time `json:"time"`
}

// Files of the lineage in the folder of a vault's journal. Both are small.
const (
	// lineageFile has the lineage from the entries of removed segments.
	lineageFile = "lineage"
	clearedFile = "cleared"
)

// keptLineage is the content of lineageFile.
type keptLineage struct {
	Through uint64           `json:"through"` // number of the last included segment
	Cleared time.Time        `json:"cleared,omitzero"`
	Notes   []descent        `json:"notes"`
	Was     []formerDescents `json:"was,omitempty"`
	Former  []formerDescent  `json:"former,omitempty"`
}

// readLineage returns the lineage from removed segments, and the number of the last one.
func (p folder) readLineage() (d *descents, through uint64, err error) {
	d = &descents{notes: map[string]descent{}, former: map[string]formerDescent{}}
	var stored keptLineage
	if err := p.readSummed(lineageFile, &stored); err != nil {
		return nil, 0, err
	}
	for _, note := range stored.Notes {
		d.notes[access.Fold(note.Path)] = note
	}
	for _, note := range stored.Former {
		d.former[access.Fold(note.Path)] = note
	}
	d.history = stored.Was
	d.cleared = stored.Cleared
	return d, stored.Through, nil
}

// clearings returns the clearings of the owner in order.
func (p folder) clearings() (list []clearing, err error) {
	err = p.readSummed(clearedFile, &list)
	return list, err
}

// readSummed decodes the JSON of a file with a checksum into a value. If the file does not exist, it does
// nothing.
func (p folder) readSummed(name string, value any) error {
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
	if !ok || json.Unmarshal(record, value) != nil {
		return &Damaged{name, "the checksum is wrong"}
	}
	return nil
}

// writeSummed replaces a file with a checksum and the JSON of a value.
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

// keepLineage stores the lineage from the entries of segments that are about to be removed. The caller must
// hold the lock.
func (j *Journal) keepLineage(removed []segment) error {
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
		r.keepsRecords = true
		err := r.readTo(context.Background(), j.folder, seg.size)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range r.readEntries {
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
	stored := keptLineage{Through: through, Cleared: d.cleared, Notes: []descent{}, Was: d.history}
	for _, key := range slices.Sorted(maps.Keys(d.notes)) {
		stored.Notes = append(stored.Notes, d.notes[key])
	}
	for _, key := range slices.Sorted(maps.Keys(d.former)) {
		stored.Former = append(stored.Former, d.former[key])
	}
	return j.writeSummed(lineageFile, stored)
}

// lineageCache is the lineage of a journal as far as it was built.
type lineageCache struct {
	mu sync.Mutex
	*descents
	through uint64 // number of the last segment that was applied completely
	rows    int    // number of applied rows of the next segment
	cleared int    // number of clearings by the owner at the last query
	result  Lineage
	extent  Extent
}

// Lineage returns the known lineage of the notes. It reads only entries that were added since the last call.
// The error is that of ctx, *[Unusable] or *[Damaged].
func (j *Journal) Lineage(ctx context.Context) (Lineage, error) {
	f := &j.lineage
	f.mu.Lock()
	defer f.mu.Unlock()
	if exists, err := j.folder.exists(); err != nil || !exists {
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
	now := *f.descents // will include changes that are still being made
	err = f.follow(ctx, v, cleared, &now)
	if err != nil {
		f.descents = nil
		return Lineage{}, err
	}
	now.clear(cleared, j.now().Add(time.Hour)) // include the clearings of a clock that was set back since
	f.cleared = len(cleared)
	f.extent = extent
	former := map[string]descent{}
	for key, old := range now.former {
		former[key] = old.descent
	}
	f.result = Lineage{maps.Clone(now.notes), former}
	return f.result, nil
}

// begin resets the cache unless it can be continued.
func (f *lineageCache) begin(v *view, cleared int) error {
	oldest := uint64(0)
	if len(v.segments) > 0 {
		oldest = v.segments[0].number
	}
	// A new clearing may precede entries that were already applied.
	isContinuable := f.descents != nil && cleared == f.cleared && oldest <= f.through+1
	if isContinuable {
		return nil
	}
	f.rows = 0
	var err error
	f.descents, f.through, err = v.journal.folder.readLineage()
	return err
}

// follow applies the new entries. The first one without an outcome, and those after it, are applied to now
// only, not to the cache.
func (f *lineageCache) follow(ctx context.Context, v *view, cleared []clearing, now *descents) error {
	wanted := keyOf(byLineage, "")
	isOpen := false
	for i, seg := range v.segments {
		if seg.number <= f.through {
			continue
		}
		s, err := v.summaryWith(ctx, i, wanted)
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
					*now = descents{
						notes:   maps.Clone(f.notes),
						history: slices.Clone(f.history),
						cleared: f.descents.cleared,
						former:  maps.Clone(f.descents.former),
					}
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

// isBeingMade reports whether an entry may still get an outcome.
func (j *Journal) isBeingMade(e Entry) bool { return j.now().Sub(e.Time) < protected }

// ClearLineage removes the origins of the note at a path, or of all notes in a folder; "/" stands for the
// vault. Notes that were copied from it keep their own lineage.
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
	list, err := j.folder.clearings()
	if err != nil {
		return err
	}
	now := j.now().UTC()
	if len(list) > 0 && !now.After(list[len(list)-1].Time) { // keep them in order even if the clock was set back
		now = list[len(list)-1].Time.Add(time.Nanosecond)
	}
	return j.writeSummed(clearedFile, append(list, clearing{path, now}))
}
