package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

func init() {
	register(
		Command{Name: "changes", Run: listJournal},
		Command{Name: "history", Run: listVersions},
		Command{Name: "history:list", Run: listHistories},
		Command{Name: "history:read", Run: readVersion},
		Command{Name: "history:restore", Plan: restoreVersion},
		Command{Name: "diff", Run: diffVersions},
		Command{Name: "undo", Positional: "id", Plan: undo},
	)
}

const (
	maxVersions = 1000 // of a note are told apart
)

// versions are those of the note that a request means, which need not be there
// any more.
func versions(v *call.Vault, p call.Values) (call.Target, []journal.Version, error) {
	t, err := v.Target(p)
	if err != nil {
		return t, nil, err
	}
	j, err := v.Journal()
	if err != nil {
		return t, nil, err
	}
	kept, err := j.Versions(v.Ctx, t.Path.String(), maxVersions)
	if err != nil {
		return t, nil, answer.NoJournal.Failure("Cannot use the journal: %v", err)
	}
	kept = slices.DeleteFunc(
		kept,
		func(was journal.Version) bool { return !v.Sees(t.Path.String()) || !v.Sees(was.Path) },
	)
	if len(kept) > 0 && keptBack(v, t.Path, func() (gone bool) { return goneByUs(v, j, t.Path.String()) }) {
		kept = nil
	}
	if kept, err = ofVisible(v, j, kept); err != nil {
		return t, nil, err
	}
	if _, err := v.Disk.Stat(t.Path); err != nil && len(kept) == 0 {
		return t, nil, answer.ReadError(t.Typed, err)
	}
	return t, kept, nil
}

// ofVisible returns the versions of notes that the caller may see by what became of them: a note that has left the path may
// have become private since.
func ofVisible(v *call.Vault, j *journal.Journal, kept []journal.Version) ([]journal.Version, error) {
	if !v.Hides() {
		return kept, nil
	}
	seen := map[journal.Departure]bool{{}: true}
	for _, was := range kept {
		if _, known := seen[was.Left]; known {
			continue
		}
		now := was.Left.Whereabouts
		if now.Path != "" {
			var err error
			if now, err = j.WhereaboutsOf(v.Ctx, now.Path, was.Left.Entry); err != nil {
				return nil, answer.NoJournal.Failure("Cannot use the journal: %v", err)
			}
		}
		seen[was.Left] = seesNoteOf(v, j, now)
	}
	return slices.DeleteFunc(kept, func(was journal.Version) bool { return !seen[was.Left] }), nil
}

// seesNoteOf reports whether the caller may see what there was of a note, by what became of it.
func seesNoteOf(v *call.Vault, j *journal.Journal, now journal.Whereabouts) bool {
	switch {
	case !v.Hides():
		return true
	case now.Path != "":
		at, err := v.PathOf(now.Path)
		return err == nil && v.Sees(at.String()) &&
			!keptBack(v, at, func() bool { return goneByUs(v, j, at.String()) })
	case !now.Removed.Exists:
		return false // it may be in a hidden folder
	}
	text, err := j.Object(v.Ctx, now.Removed.Hash)
	return err == nil && call.LevelIn(v.Rules.Private(), text.ForProgram()) > access.None
}

// sightings remembers what [seesNoteOf] has said.
type sightings map[journal.Whereabouts]bool

func (seen sightings) of(v *call.Vault, j *journal.Journal, now journal.Whereabouts) bool {
	sees, known := seen[now]
	if !known {
		sees = seesNoteOf(v, j, now)
		seen[now] = sees
	}
	return sees
}

// keptBack reports whether what was known of a path is not told: while something is hidden, a
// note that has gone without this program may be in a hidden folder. gone reports whether the
// last change through this program took it away.
func keptBack(v *call.Vault, at disk.Path, gone func() bool) bool {
	if !v.Hides() {
		return false
	}
	_, err := v.Disk.Stat(at)
	return disk.IsMissing(err) && !gone()
}

// goneByUs reports whether the last change of a path in the journal took the file away.
func goneByUs(v *call.Vault, j *journal.Journal, path string) bool {
	last, _, err := j.Entries(v.Ctx, journal.Filter{Path: path, Limit: 1})
	if err != nil || len(last) == 0 || last[0].State != journal.Done {
		return false
	}
	gone := false
	for _, s := range last[0].Steps {
		if s.Path == path || s.From == path {
			gone = takesAway(s, path)
		}
	}
	return gone
}

// takesAway reports whether nothing is at a path after a step that concerns it.
func takesAway(s journal.Step, path string) bool { return s.Path != path || !s.After.Exists }

// listVersions prints for each version its number, its time, how many bytes it
// has, the command that replaced it, who gave that, and its path if that was another.
func listVersions(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, kept, err := versions(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	table := answer.Table{}
	for i, was := range kept {
		cells := []string{
			strconv.Itoa(i + 1),
			when(v, was.Time),
			strconv.FormatInt(was.Image.Size, 10),
			was.Command,
			was.By,
		}
		if was.Path != t.Path.String() {
			cells = append(cells, was.Path)
		}
		table.Rows = append(table.Rows, cells)
	}
	said := table.Reply(v.Disk, answer.FormatTSV)
	said.Note = t.Path
	if len(kept) == 0 {
		said.Notice = "no version is kept: no change of this note was made through vaultwicket"
	}
	return said, nil
}

func when(v *call.Vault, t time.Time) string {
	return t.In(v.Clock().Location()).Format(time.DateTime)
}

// maxListedSteps is how many changes of notes are looked at for a list of those with versions, the latest ones: a
// fraction of a second, however long the journal is.
const maxListedSteps = 10_000

// listHistories names the notes of the latest changes by the path that they have now, or had when they
// were removed.
func listHistories(v *call.Vault, _ call.Values) (answer.Reply, error) {
	names := map[string]string{}
	found := map[string]bool{}
	gone := map[string]bool{}
	looked := 0
	visible := sightings{}
	err := eachStep(v, journal.Filter{}, gone, func(j *journal.Journal, e journal.Entry, s journal.Step, f journal.Whereabouts) error {
		if looked++; looked > maxListedSteps {
			return errEnough
		}
		if !visible.of(v, j, f) {
			return nil
		}
		now := cmp.Or(names[s.Path], s.Path)
		// Of a move that failed it is not known where the note was.
		if s.From != "" && (e.State == journal.Done || e.State == journal.Undone) {
			names[s.From] = now
		} else {
			now = cmp.Or(names[s.Source()], s.Source())
		}
		at, err := v.PathOf(now)
		isSeen := err == nil && v.Sees(now) && v.Sees(s.Source())
		hasVersion := s.Before.Exists && (s.From == "" || s.Before != s.After)
		if isSeen && hasVersion {
			found[at.String()] = true
		}
		return nil
	})
	if err != nil {
		return answer.Reply{}, err
	}
	for path := range found {
		if at, err := v.PathOf(path); err == nil && keptBack(v, at, func() bool { return gone[path] }) {
			delete(found, path)
		}
	}
	paths := slices.Collect(maps.Keys(found))
	filenames.Sort(paths)
	said := answer.From(v.Disk, strings.Join(paths, "\n"))
	if looked > maxListedSteps {
		said.Notice = fmt.Sprintf(
			"the notes of the latest %d changes are listed; history path=NOTE has the versions of any note",
			maxListedSteps,
		)
	}
	return said, nil
}

// errEnough ends a listing that has what was asked for.
var errEnough = errors.New("enough")

// eachStep visits the steps of the journal, the newest first, and notes in gone of which paths the
// last change took the file away. An error of visit ends that; [errEnough] is none.
func eachStep(
	v *call.Vault,
	which journal.Filter,
	gone map[string]bool,
	visit func(*journal.Journal, journal.Entry, journal.Step, journal.Whereabouts) error,
) error {
	j, err := v.Journal()
	if err != nil {
		return err
	}
	var ended error
	var trails journal.Trails
	agent := which.Agent
	which.Agent = "" // what others have done to a note counts
	_, err = j.Each(v.Ctx, which, func(e journal.Entry) bool {
		passed := trails.Pass(e)
		for i, s := range slices.Backward(e.Steps) {
			for _, path := range []string{s.Path, s.Source()} {
				if _, known := gone[path]; !known {
					gone[path] = e.State == journal.Done && takesAway(s, path)
				}
			}
			if agent != "" && ownerfiles.AgentOf(e.Caller) != agent {
				continue
			}
			if ended = visit(j, e, s, passed[i]); ended != nil {
				return false
			}
		}
		return true
	})
	switch {
	case ended == errEnough:
		return nil
	case ended != nil:
		return ended
	case err != nil:
		return answer.NoJournal.Failure("Cannot use the journal: %v", err)
	}
	return nil
}

// listJournal prints a row for each note that a change concerns and that may be seen, at both of
// its paths: what is hidden is as if it had not been changed.
func listJournal(v *call.Vault, p call.Values) (answer.Reply, error) {
	limit, err := p.Number("limit", manyChanges, 1, maxRecent)
	if err != nil {
		return answer.Reply{}, err
	}
	days, err := call.Days(cmp.Or(p["since"], "today"), v.Clock())
	if err != nil {
		return answer.Reply{}, err
	}
	table := answer.Table{
		Columns: []string{"time", "path", "by", "command", "lines", "state", "from", "id"},
		Sparse:  true,
	}
	found := 0
	gone := map[string]bool{}
	kept := map[string]bool{}
	visible := sightings{}
	err = eachStep(
		v,
		journal.Filter{Since: days.First, Agent: p["agent"]},
		gone,
		func(j *journal.Journal, e journal.Entry, s journal.Step, f journal.Whereabouts) error {
			at, err := v.PathOf(s.Path)
			isSeen := err == nil && v.Sees(s.Path) && v.Sees(s.Source())
			if !isSeen || !visible.of(v, j, f) {
				return nil
			}
			if _, known := kept[s.Path]; !known {
				kept[s.Path] = keptBack(v, at, func() bool { return gone[s.Path] })
			}
			if kept[s.Path] {
				return nil
			}
			if found++; found > limit {
				return errEnough // how many there are is not counted: there may be months of them
			}
			uses := budget.From(v.Ctx)
			bytes := s.Before.Size + s.After.Size
			if err := uses.Hold(bytes); err != nil {
				return err
			}
			defer uses.Release(bytes)
			before, after, isKept := j.Texts(v.Ctx, s, func(hash string) (guard.Unjudged, bool) {
				at, err := v.PathOf(s.Path)
				if err != nil {
					return guard.Unjudged{}, false
				}
				text, err := v.Disk.Raw().Read(at)
				return text, err == nil && journal.ImageOf(text.ForProgram()).Hash == hash
			})
			lines := "" // where a text is not kept any more
			if isKept {
				counts := edit.CountLines(before.ForProgram(), after.ForProgram())
				lines = fmt.Sprintf("+%d -%d", counts.Added, counts.Removed)
			}
			table.Rows = append(
				table.Rows,
				[]string{when(v, e.Time), s.Path, e.By(), e.Command, lines, e.State.String(), s.From, e.ID},
			)
			return nil
		},
	)
	if err != nil {
		return answer.Reply{}, err
	}
	said := table.Reply(v.Disk, cmp.Or(p["format"], answer.FormatTSV))
	if found == 0 {
		said.Notice = "no note was changed through vaultwicket since " + days.First.Format(time.DateOnly)
	}
	if found > limit {
		listed := "the latest change is listed"
		if limit > 1 {
			listed = fmt.Sprintf("the latest %d changes are listed", limit)
		}
		said = noted(said, listed+"; a higher limit lists more")
	}
	return said, nil
}

// manyChanges is how many changed notes are listed without limit=.
const manyChanges = 100

func readVersion(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, kept, err := versions(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := version(v, t, kept, cmp.Or(p["version"], "1"))
	if err != nil {
		return answer.Reply{}, err
	}
	return answer.Judged(v.Judged(text)).About(t.Path), nil
}

// version returns the text of a version by its number.
func version(v *call.Vault, t call.Target, kept []journal.Version, number string) (guard.Unjudged, error) {
	none := guard.Unjudged{}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return none, answer.Misuse("Invalid number: %s", number)
	}
	if n > len(kept) {
		return none, answer.NotFound.Failure(
			"Version %q of %q not found.",
			answer.Verbatim(number),
			answer.Verbatim(t.Path.String()),
		)
	}
	j, err := v.Journal()
	if err != nil {
		return none, err
	}
	text, err := j.Object(v.Ctx, kept[n-1].Image.Hash)
	if err != nil {
		return none, answer.Failure(
			"Version %q of %q cannot be read: %v",
			answer.Verbatim(number),
			answer.Verbatim(t.Path.String()),
			err,
		)
	}
	return text, nil
}

// RestoringFromApp returns the command that writes the text of a version that the app has kept, by the name with which it
// is asked for. ok is false for a command that restores none.
func RestoringFromApp(name string) (row Command, ok bool) {
	return Command{Name: name, Plan: restoreVersion}, allowlist.RestoresVersion(name)
}

// restoreVersion writes the text of a version that the app has kept, or else one of the journal. It brings a note back
// that was removed, too.
func restoreVersion(v *call.Vault, p call.Values) (change.Proposal, error) {
	t, text, of, err := restored(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	before, err := change.CurrentState(v, t.Path)
	if err != nil {
		return change.Proposal{}, answer.WriteError(t.Path.String(), err)
	}
	if v.Restores != nil && before.Exists && !bytes.HasSuffix(before.Text.ForProgram(), []byte("\n")) {
		// The app prints a line break at the end of each text. Whether the version has one is not known, so it ends
		// as the note does.
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: t.Path, Before: before, After: change.Existing(text)}},
		Message: "Restored: " + t.Path.String() + " from " + of,
		Note:    t.Path, Replaces: before.Exists, Restores: of,
		Already: fmt.Sprintf("%q has the text of %s already", answer.Verbatim(t.Path.String()), of),
	}, nil
}

// restored returns the note of a request that restores a version, its text, and which one it is in words.
func restored(v *call.Vault, p call.Values) (t call.Target, text []byte, of string, err error) {
	if kept := v.Restores; kept != nil {
		if len(kept.Text) == 0 {
			return t, nil, "", answer.Failure(
				"The text of %s is empty, which cannot be told from a missing answer.",
				kept.Of,
			)
		}
		t, err = v.Target(p)
		return t, kept.Text, kept.Of, err
	}
	t, kept, err := versions(v, p)
	if err != nil {
		return t, nil, "", err
	}
	raw, err := version(v, t, kept, p["version"])
	return t, raw.ForProgram(), "version " + p["version"] + " " + ofJournal, err
}

// ofJournal says which history a number belongs to, where it is that of the journal: the app has others.
const ofJournal = "of the journal of vaultwicket"

func diffVersions(v *call.Vault, p call.Values) (answer.Reply, error) {
	switch {
	case p["filter"] == "sync":
		return answer.Reply{}, answer.NeedsApp.Failure(
			"%q needs the Obsidian app.",
			answer.Verbatim("diff filter=sync"),
		)
	case p.Has("to") && !p.Has("from"):
		return answer.Reply{}, answer.Misuse("Use to=<n> with from=<n>.")
	case !p.Has("from"):
		return listVersions(v, p)
	}
	t, kept, err := versions(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	from, err := version(v, t, kept, p["from"])
	if err != nil {
		return answer.Reply{}, err
	}
	first := fmt.Sprintf("%s (version %s)", t.Path, p["from"])
	if p.Has("to") {
		to, err := version(v, t, kept, p["to"])
		second := fmt.Sprintf("%s (version %s)", t.Path, p["to"])
		lines := change.UnifiedDiff(first, second, v.Judged(from), v.Judged(to))
		return answer.From(v.Disk, lines).About(t.Path), err
	}
	now, err := change.CurrentState(v, t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	second := t.Path.String()
	if !now.Exists {
		second = "/dev/null"
	}
	return answer.From(v.Disk, change.UnifiedDiff(first, second, v.Judged(from), v.Judged(now.Text))).About(t.Path), nil
}
