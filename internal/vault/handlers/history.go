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
	maxVersions = 1000 // versions of a note that can be addressed
)

// versions returns the note that a request means, which may have been deleted, and its versions in the journal that
// the caller may see.
func versions(v *call.Vault, p call.Values) (call.Target, []journal.Version, error) {
	t, err := v.Target(p)
	if err != nil {
		return t, nil, err
	}
	j, err := v.Journal()
	if err != nil {
		return t, nil, err
	}
	list, err := j.Versions(v.Ctx, t.Path.String(), maxVersions)
	if err != nil {
		return t, nil, answer.NoJournal.Failure("Cannot use the journal: %v", err)
	}
	list = slices.DeleteFunc(
		list,
		func(was journal.Version) bool { return !v.Sees(t.Path.String()) || !v.Sees(was.Path) },
	)
	if len(list) > 0 && isWithheld(v, t.Path, func() (gone bool) { return isRemovedByUs(v, j, t.Path.String()) }) {
		list = nil
	}
	if list, err = visibleVersions(v, j, list); err != nil {
		return t, nil, err
	}
	if _, err := v.Disk.Stat(t.Path); err != nil && len(list) == 0 {
		return t, nil, answer.ReadError(t.Typed, err)
	}
	return t, list, nil
}

// visibleVersions returns the versions of notes that the caller may still see: a note that was moved away from the
// path may have become private since.
func visibleVersions(v *call.Vault, j *journal.Journal, versions []journal.Version) ([]journal.Version, error) {
	if !v.Hides() {
		return versions, nil
	}
	isVisible := map[journal.Departure]bool{{}: true}
	for _, was := range versions {
		if _, known := isVisible[was.Left]; known {
			continue
		}
		whereabouts := was.Left.Whereabouts
		if whereabouts.Path != "" {
			var err error
			if whereabouts, err = j.WhereaboutsOf(v.Ctx, whereabouts.Path, was.Left.Entry); err != nil {
				return nil, answer.NoJournal.Failure("Cannot use the journal: %v", err)
			}
		}
		isVisible[was.Left] = seesNoteOf(v, j, whereabouts)
	}
	return slices.DeleteFunc(versions, func(was journal.Version) bool { return !isVisible[was.Left] }), nil
}

// seesNoteOf reports whether the caller may see earlier texts of a note, given its present whereabouts.
func seesNoteOf(v *call.Vault, j *journal.Journal, whereabouts journal.Whereabouts) bool {
	switch {
	case !v.Hides():
		return true
	case whereabouts.Path != "":
		at, err := v.PathOf(whereabouts.Path)
		return err == nil && v.Sees(at.String()) &&
			!isWithheld(v, at, func() bool { return isRemovedByUs(v, j, at.String()) })
	case !whereabouts.Removed.Exists:
		return false // it may be in a hidden folder
	}
	text, err := j.Object(v.Ctx, whereabouts.Removed.Hash)
	return err == nil && call.LevelIn(v.Rules.Private(), text.ForProgram()) > access.None
}

// sightings caches the results of [seesNoteOf].
type sightings map[journal.Whereabouts]bool

func (cache sightings) of(v *call.Vault, j *journal.Journal, whereabouts journal.Whereabouts) bool {
	sees, ok := cache[whereabouts]
	if !ok {
		sees = seesNoteOf(v, j, whereabouts)
		cache[whereabouts] = sees
	}
	return sees
}

// isWithheld reports whether the history of a path must not be shown: if the caller may not see the whole vault, a note
// that another program removed from its path may be in a hidden folder. gone reports whether the last change through
// this program removed it.
func isWithheld(v *call.Vault, at disk.Path, gone func() bool) bool {
	if !v.Hides() {
		return false
	}
	_, err := v.Disk.Stat(at)
	return disk.IsMissing(err) && !gone()
}

// isRemovedByUs reports whether the last change of a path in the journal moved or removed the file.
func isRemovedByUs(v *call.Vault, j *journal.Journal, path string) bool {
	last, _, err := j.Entries(v.Ctx, journal.Filter{Path: path, Limit: 1})
	if err != nil || len(last) == 0 || last[0].State != journal.Done {
		return false
	}
	gone := false
	for _, s := range last[0].Steps {
		if s.Path == path || s.From == path {
			gone = leavesPath(s, path)
		}
	}
	return gone
}

// leavesPath reports whether no file is at a path after a step that affects it.
func leavesPath(s journal.Step, path string) bool { return s.Path != path || !s.After.Exists }

// listVersions prints for each version its number, its time, its size in bytes, the command that replaced it, who ran
// that command, and its path if it differs.
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
	reply := table.Reply(v.Disk, answer.FormatTSV)
	reply.Note = t.Path
	if len(kept) == 0 {
		reply.Notice = answer.Remark("no version is kept: no change of this note was made through vaultwicket")
	}
	return reply, nil
}

func when(v *call.Vault, t time.Time) string {
	return t.In(v.Clock().Location()).Format(time.DateTime)
}

// maxListedSteps is how many of the latest changes of notes history:list examines, so that it takes a fraction of a
// second, however long the journal is.
const maxListedSteps = 10_000

// listHistories prints the present path of each note with versions among the latest changes; for a removed note, its
// last path.
func listHistories(v *call.Vault, _ call.Values) (answer.Reply, error) {
	names := map[string]string{}
	hasVersions := map[string]bool{}
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
		// After a failed move the note may be at either path.
		if s.From != "" && (e.State == journal.Done || e.State == journal.Undone) {
			names[s.From] = now
		} else {
			now = cmp.Or(names[s.Source()], s.Source())
		}
		at, err := v.PathOf(now)
		isSeen := err == nil && v.Sees(now) && v.Sees(s.Source())
		hasVersion := s.Before.Exists && (s.From == "" || s.Before != s.After)
		if isSeen && hasVersion {
			hasVersions[at.String()] = true
		}
		return nil
	})
	if err != nil {
		return answer.Reply{}, err
	}
	for path := range hasVersions {
		if at, err := v.PathOf(path); err == nil && isWithheld(v, at, func() bool { return gone[path] }) {
			delete(hasVersions, path)
		}
	}
	paths := slices.Collect(maps.Keys(hasVersions))
	filenames.Sort(paths)
	reply := answer.From(v.Disk, strings.Join(paths, "\n"))
	if looked > maxListedSteps {
		reply.Notice = answer.Remark(
			"the notes of the latest %d changes are listed; history path=NOTE has the versions of any note",
			maxListedSteps,
		)
	}
	return reply, nil
}

// errEnough stops [eachStep] without an error.
var errEnough = errors.New("enough")

// eachStep visits the steps of the journal, newest first. It records in gone, by path, whether the last change moved or
// removed the file. An error of visit ends the iteration and is returned, except [errEnough].
func eachStep(
	v *call.Vault,
	filter journal.Filter,
	gone map[string]bool,
	visit func(*journal.Journal, journal.Entry, journal.Step, journal.Whereabouts) error,
) error {
	j, err := v.Journal()
	if err != nil {
		return err
	}
	var visitErr error
	var trails journal.Trails
	agent := filter.Agent
	filter.Agent = "" // gone and the trails need the changes of all agents
	_, err = j.Each(v.Ctx, filter, func(e journal.Entry) bool {
		passed := trails.Pass(e)
		for i, s := range slices.Backward(e.Steps) {
			for _, path := range []string{s.Path, s.Source()} {
				if _, known := gone[path]; !known {
					gone[path] = e.State == journal.Done && leavesPath(s, path)
				}
			}
			if agent != "" && ownerfiles.AgentOf(e.Caller) != agent {
				continue
			}
			if visitErr = visit(j, e, s, passed[i]); visitErr != nil {
				return false
			}
		}
		return true
	})
	switch {
	case visitErr == errEnough:
		return nil
	case visitErr != nil:
		return visitErr
	case err != nil:
		return answer.NoJournal.Failure("Cannot use the journal: %v", err)
	}
	return nil
}

// listJournal prints a row for each changed note, newest first. A note is listed only if the caller may see both of its
// paths, before and after: hidden notes appear never to have changed.
func listJournal(v *call.Vault, p call.Values) (answer.Reply, error) {
	limit, err := p.Number("limit", defaultChanges, 1, maxRecent)
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
	count := 0
	gone := map[string]bool{}
	withheld := map[string]bool{}
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
			if _, known := withheld[s.Path]; !known {
				withheld[s.Path] = isWithheld(v, at, func() bool { return gone[s.Path] })
			}
			if withheld[s.Path] {
				return nil
			}
			if count++; count > limit {
				return errEnough // the rest is not counted: it may be months of changes
			}
			spent := budget.From(v.Ctx)
			bytes := s.Before.Size + s.After.Size
			if err := spent.Hold(bytes); err != nil {
				return err
			}
			defer spent.Release(bytes)
			before, after, isKept := j.Texts(v.Ctx, s, func(hash string) (guard.Unjudged, bool) {
				at, err := v.PathOf(s.Path)
				if err != nil {
					return guard.Unjudged{}, false
				}
				text, err := v.Disk.Raw().Read(at)
				return text, err == nil && journal.ImageOf(text.ForProgram()).Hash == hash
			})
			lines := "" // unknown if the journal no longer keeps a text
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
	reply := table.Reply(v.Disk, cmp.Or(p["format"], answer.FormatTSV))
	if count == 0 {
		reply.Notice = answer.Remark("no note was changed through vaultwicket since %s", days.First.Format(time.DateOnly))
	}
	if count > limit {
		listed := "change is listed"
		if limit > 1 {
			listed = fmt.Sprintf("%d changes are listed", limit)
		}
		reply = reply.Noting(answer.Remark("the latest %s; a higher limit lists more", listed))
	}
	return reply, nil
}

// defaultChanges is the default of limit=.
const defaultChanges = 100

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

// RestoringFromApp returns the row of a command that restores a version from a history of the app. ok is false for any
// other command name.
func RestoringFromApp(name string) (row Command, ok bool) {
	return Command{Name: name, Plan: restoreVersion}, allowlist.RestoresVersion(name)
}

// restoreVersion plans to write the text of a version of the app's histories or of the journal. It also restores a
// removed note.
func restoreVersion(v *call.Vault, p call.Values) (change.Proposal, error) {
	t, text, label, err := requestedVersion(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	before, err := change.CurrentState(v, t.Path)
	if err != nil {
		return change.Proposal{}, answer.WriteError(t.Path.String(), err)
	}
	if v.Restores != nil && before.Exists && !bytes.HasSuffix(before.Text.ForProgram(), []byte("\n")) {
		// The app prints a line break after each text. Whether the version itself ends with one is unknown, so it ends
		// as the present note does.
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: t.Path, Before: before, After: change.Existing(text)}},
		Message: "Restored: " + t.Path.String() + " from " + label,
		Note:    t.Path, Replaces: before.Exists, Restores: label,
		Already: fmt.Sprintf("%q has the text of %s already", answer.Verbatim(t.Path.String()), label),
	}, nil
}

// requestedVersion returns the note of a request that restores a version, the text of the version, and its description.
func requestedVersion(v *call.Vault, p call.Values) (t call.Target, text []byte, label string, err error) {
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

// ofJournal follows the number of a version in messages: the app has other histories.
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
	current, err := change.CurrentState(v, t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	second := t.Path.String()
	if !current.Exists {
		second = "/dev/null"
	}
	return answer.From(v.Disk, change.UnifiedDiff(first, second, v.Judged(from), v.Judged(current.Text))).About(t.Path), nil
}
