package commands

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/gateway/difference"
	"vaultwicket/gateway/state/journal"
	"vaultwicket/gateway/state/private"
)

func init() {
	register(
		command.Command{Name: "changes", Run: listJournal},
		command.Command{Name: "history", Run: listVersions},
		command.Command{Name: "history:list", Run: listHistories},
		command.Command{Name: "history:read", Run: readVersion},
		command.Command{Name: "history:restore", Plan: restoreVersion, Verify: meansRestored},
		command.Command{Name: "diff", Run: diffVersions},
		command.Command{Name: "undo", Positional: "id", Plan: undo},
	)
}

const (
	maxVersions = 1000    // of a note are told apart
	maxEntries  = 1 << 20 // of the journal are looked at, more than it has
)

// versions are those of the note that a request means, which need not be there
// any more.
func versions(v *command.Vault, p command.Values) (command.Target, []journal.Version, error) {
	t, err := v.Target(p)
	if err != nil {
		return t, nil, err
	}
	j, err := v.Journal()
	if err != nil {
		return t, nil, err
	}
	kept, _, err := j.Versions(t.Path.String(), maxVersions)
	if err != nil {
		return t, nil, command.Failure("Cannot use the journal: %v", err)
	}
	kept = slices.DeleteFunc(kept, func(was journal.Version) bool { return !v.Sees(t.Path.String()) || !v.Sees(was.Path) })
	if len(kept) > 0 && keptBack(v, t.Path, func() (gone bool) { return goneByUs(j, t.Path.String()) }) {
		kept = nil
	}
	if _, err := v.Disk.Stat(t.Path); err != nil && len(kept) == 0 {
		return t, nil, command.FileNotFound(t.Typed)
	}
	return t, kept, nil
}

// keptBack reports whether what was known of a path is not told: while something is hidden, a
// note that has gone without this program may be in a hidden folder. gone reports whether the
// last change through this program took it away.
func keptBack(v *command.Vault, at disk.Path, gone func() bool) bool {
	if !v.Hides() {
		return false
	}
	_, err := v.Disk.Stat(at)
	return disk.IsMissing(err) && !gone()
}

// goneByUs reports whether the last change of a path in the journal took the file away.
func goneByUs(j *journal.Journal, path string) bool {
	last, _, err := j.Entries(journal.Filter{Path: path, Limit: 1})
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
func listVersions(v *command.Vault, p command.Values) (command.Reply, error) {
	t, kept, err := versions(v, p)
	if err != nil {
		return command.Reply{}, err
	}
	table := command.Table{}
	for i, was := range kept {
		cells := []string{strconv.Itoa(i + 1), when(v, was.Time), strconv.FormatInt(was.Image.Size, 10), was.Command, was.By}
		if was.Path != t.Path.String() {
			cells = append(cells, was.Path)
		}
		table.Rows = append(table.Rows, cells)
	}
	said := table.Reply(command.FormatTSV)
	said.Note = t.Path
	if len(kept) == 0 {
		said.Notice = "no version is kept: no change of this note was made through vaultwicket"
	}
	return said, nil
}

func when(v *command.Vault, t time.Time) string {
	return t.In(v.Clock().Location()).Format(time.DateTime)
}

// listHistories names the notes by the path that they have now, or had when they
// were removed.
func listHistories(v *command.Vault, _ command.Values) (command.Reply, error) {
	j, err := v.Journal()
	if err != nil {
		return command.Reply{}, err
	}
	entries, _, err := j.Entries(journal.Filter{Limit: maxEntries})
	if err != nil {
		return command.Reply{}, command.Failure("Cannot use the journal: %v", err)
	}
	names, found, gone := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, e := range entries { // the newest first
		for _, s := range slices.Backward(e.Steps) {
			for _, path := range []string{s.Path, s.Source()} {
				if _, known := gone[path]; !known {
					gone[path] = e.State == journal.Done && takesAway(s, path)
				}
			}
			now := cmp.Or(names[s.Path], s.Path)
			// Of a move that failed it is not known where the note was.
			if s.From != "" && (e.State == journal.Done || e.State == journal.Undone) {
				names[s.From] = now
			} else {
				now = cmp.Or(names[s.Source()], s.Source())
			}
			if at, err := v.PathOf(now); err == nil && v.Sees(now) && v.Sees(s.Source()) && s.Before.Exists && (s.From == "" || s.Before != s.After) {
				found[at.String()] = true
			}
		}
	}
	for path := range found {
		if at, err := v.PathOf(path); err == nil && keptBack(v, at, func() bool { return gone[path] }) {
			delete(found, path)
		}
	}
	paths := slices.Collect(maps.Keys(found))
	order.Sort(paths)
	return command.Text(strings.Join(paths, "\n")), nil
}

// listJournal prints a row for each note that a change concerns and that may be seen, at both of
// its paths: what is hidden is as if it had not been changed.
func listJournal(v *command.Vault, p command.Values) (command.Reply, error) {
	limit, err := p.Number("limit", manyChanges, 1, maxRecent)
	if err != nil {
		return command.Reply{}, err
	}
	days, err := command.Days(cmp.Or(p["since"], "today"), v.Clock())
	if err != nil {
		return command.Reply{}, err
	}
	j, err := v.Journal()
	if err != nil {
		return command.Reply{}, err
	}
	entries, _, err := j.Entries(journal.Filter{Since: days.First, Agent: p["agent"], Limit: maxEntries})
	if err != nil {
		return command.Reply{}, command.Failure("Cannot use the journal: %v", err)
	}
	table := command.Table{Columns: []string{"time", "path", "by", "command", "lines", "state", "from"}, Sparse: true}
	found, gone, kept := 0, map[string]bool{}, map[string]bool{}
	for _, e := range entries { // the newest first
		for _, s := range slices.Backward(e.Steps) {
			for _, path := range []string{s.Path, s.Source()} {
				if _, known := gone[path]; !known {
					gone[path] = e.State == journal.Done && takesAway(s, path)
				}
			}
			at, err := v.PathOf(s.Path)
			if err != nil || !v.Sees(s.Path) || !v.Sees(s.Source()) {
				continue
			}
			if _, known := kept[s.Path]; !known {
				kept[s.Path] = keptBack(v, at, func() bool { return gone[s.Path] })
			}
			if kept[s.Path] {
				continue
			}
			if found++; found > limit {
				continue
			}
			lines, err := linesOf(v, j, s)
			if err != nil {
				return command.Reply{}, err
			}
			table.Rows = append(table.Rows, []string{when(v, e.Time), s.Path, e.By(), e.Command, lines, e.State.String(), s.From})
		}
	}
	said := table.Reply(cmp.Or(p["format"], command.FormatTSV))
	if found == 0 {
		said.Notice = "no note was changed through vaultwicket since " + days.First.Format(time.DateOnly)
	}
	return limited(said, len(table.Rows), found, "change"), nil
}

// manyChanges is how many changed notes are listed without limit=.
const manyChanges = 100

// linesOf returns how many lines a step added and removed, "" if a text is not kept any more.
func linesOf(v *command.Vault, j *journal.Journal, s journal.Step) (string, error) {
	uses, bytes := budget.From(v.Ctx), s.Before.Size+s.After.Size
	if err := uses.Hold(bytes); err != nil {
		return "", err
	}
	defer uses.Release(bytes)
	before, after, kept := j.Texts(s, func(hash string) (string, bool) {
		at, err := v.PathOf(s.Path)
		if err != nil {
			return "", false
		}
		text, err := v.Disk.Raw().Read(at)
		return string(text), err == nil && journal.ImageOf(text).Hash == hash
	})
	if !kept {
		return "", nil
	}
	counts := edit.CountLines(before, after)
	return fmt.Sprintf("+%d -%d", counts.Added, counts.Removed), nil
}

func readVersion(v *command.Vault, p command.Values) (command.Reply, error) {
	t, kept, err := versions(v, p)
	if err != nil {
		return command.Reply{}, err
	}
	text, err := version(v, t, kept, cmp.Or(p["version"], "1"))
	if err != nil {
		return command.Reply{}, err
	}
	return command.Reply{Text: string(v.Redact(text)), Note: t.Path}, nil
}

// version returns the text of a version by its number.
func version(v *command.Vault, t command.Target, kept []journal.Version, number string) ([]byte, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, command.Misuse("Invalid number: %s", number)
	}
	if n > len(kept) {
		return nil, command.NotFound.Failure("Version %q of %q not found.", command.Verbatim(number), command.Verbatim(t.Path.String()))
	}
	j, err := v.Journal()
	if err != nil {
		return nil, err
	}
	text, err := j.Object(kept[n-1].Image.Hash)
	if err != nil {
		return nil, command.Failure("Version %q of %q cannot be read: %v", command.Verbatim(number), command.Verbatim(t.Path.String()), err)
	}
	return text, nil
}

// restoreVersion brings a note back that was removed, too.
func restoreVersion(v *command.Vault, p command.Values) (command.Proposal, error) {
	t, kept, err := versions(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	text, err := version(v, t, kept, p["version"])
	if err != nil {
		return command.Proposal{}, err
	}
	before, err := command.CurrentState(v, t.Path)
	if err != nil {
		return command.Proposal{}, command.WriteError(t.Path.String(), err)
	}
	return command.Proposal{
		Steps:   []command.Step{{Path: t.Path, Before: before, After: command.Existing(text)}},
		Message: "Restored: " + t.Path.String() + " from version " + p["version"],
		Note:    t.Path, Replaces: before.Exists,
	}, nil
}

func diffVersions(v *command.Vault, p command.Values) (command.Reply, error) {
	switch {
	case p["filter"] == "sync":
		return command.Reply{}, command.NeedsApp.Failure("%q needs the Obsidian app.", command.Verbatim("diff filter=sync"))
	case p.Has("to") && !p.Has("from"):
		return command.Reply{}, command.Misuse("Use to=<n> with from=<n>.")
	case !p.Has("from"):
		return listVersions(v, p)
	}
	t, kept, err := versions(v, p)
	if err != nil {
		return command.Reply{}, err
	}
	from, err := version(v, t, kept, p["from"])
	if err != nil {
		return command.Reply{}, err
	}
	first := fmt.Sprintf("%s (version %s)", t.Path, p["from"])
	if p.Has("to") {
		to, err := version(v, t, kept, p["to"])
		return command.Reply{Text: command.UnifiedDiff(first, fmt.Sprintf("%s (version %s)", t.Path, p["to"]), v.Redact(from), v.Redact(to)), Note: t.Path}, err
	}
	now, err := command.CurrentState(v, t.Path)
	if err != nil {
		return command.Reply{}, command.ReadError(t.Typed, err)
	}
	second := t.Path.String()
	if !now.Exists {
		second = "/dev/null"
	}
	return command.Reply{Text: command.UnifiedDiff(first, second, v.Redact(from), v.Redact(now.Text)), Note: t.Path}, nil
}

// meansRestored judges a note that the app took from its own history, of which
// nothing is known here but that the note changed.
func meansRestored(_ *command.Vault, _ command.Values, c command.AppChange) (command.Verdict, error) {
	return command.Verdict{Done: !c.Now.Equal(c.Before), Style: "the text is from the history of the app"}, nil
}

// undo takes a change back as a whole or not at all. It is a change itself, so
// to undo it does the first one again.
func undo(v *command.Vault, p command.Values) (command.Proposal, error) {
	j, err := v.Journal()
	if err != nil {
		return command.Proposal{}, err
	}
	entries, err := named(v, j, p)
	if err != nil {
		return command.Proposal{}, err
	}
	own := func(e journal.Entry) bool { return e.Caller == v.Caller }
	if entries != nil { // named, so another session of the agent may have made them
		own = func(e journal.Entry) bool { return isOwn(v, e) }
	}
	latest, err := latestOf(v, j, own)
	switch {
	case err != nil:
		return command.Proposal{}, err
	case entries == nil && latest == nil:
		return command.Proposal{}, command.Failure("Nothing to undo.")
	case entries == nil:
		return latest.undoing, latest.err
	}
	made, err := undoing(v, j, entries, p.Has("session") || strings.Contains(p["id"], ","))
	made.Latest = latest != nil && !slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return !slices.ContainsFunc(latest.entries, func(mine journal.Entry) bool { return mine.ID == e.ID })
	})
	return made, err
}

// named returns the entries that a request names, the newest first, nil if it names
// none.
func named(v *command.Vault, j *journal.Journal, p command.Values) ([]journal.Entry, error) {
	var name string
	for _, param := range []string{"id", "batch", "session"} {
		switch {
		case !p.Has(param):
		case name != "":
			return nil, command.Misuse("Use %s=<id> or %s=<id>, not both.", name, param)
		default:
			name = param
		}
	}
	if name == "" {
		return nil, nil
	}
	if name == "id" {
		ids := strings.Split(p[name], ",")
		if len(ids) > maxTogether {
			return nil, command.Failure("More than %d changes to undo. Undo them one by one.", maxTogether)
		}
		slices.Sort(ids) // by time
		var entries []journal.Entry
		for _, id := range slices.Backward(slices.Compact(ids)) {
			e, err := entryOf(v, j, id)
			if err == nil && e.State == journal.Undone {
				err = command.Failure("Change %s is already undone.", e.ID)
			}
			if err != nil {
				return nil, err
			}
			entries = append(entries, e)
		}
		return entries, nil
	}
	e, err := entryOf(v, j, p[name])
	switch {
	case err != nil:
		return nil, err
	case name == "batch" && e.Batch == "":
		return nil, command.Failure("Change %s belongs to no batch.", e.ID)
	}
	same := func(other journal.Entry) bool { return other.Session == e.Session && other.Caller == e.Caller }
	if name == "batch" {
		same = func(other journal.Entry) bool { return other.Batch == e.Batch }
	}
	return undoable(v, j, same)
}

// entryOf returns the entry with an id, if all that it concerns may be seen.
func entryOf(v *command.Vault, j *journal.Journal, id string) (journal.Entry, error) {
	if _, err := journal.ParseID(id); err != nil {
		return journal.Entry{}, command.MisuseWithHint(command.NotFoundID.Hint, "Invalid value for id: %s", command.Verbatim(id))
	}
	e, err := j.Entry(id)
	switch {
	case err != nil:
		return e, unfound(id, err)
	case !e.SeenBy(v.SeesPlace), ofOtherAgent(v, e):
		return e, unknownChange(id)
	}
	return e, nil
}

// ofOtherAgent reports whether the caller is an agent, and the change is not one of that agent:
// then it does not exist for the caller.
func ofOtherAgent(v *command.Vault, e journal.Entry) bool {
	agent := private.AgentOf(v.Caller)
	return agent != "" && private.AgentOf(e.Caller) != agent
}

// maxTogether is how many changes are taken back together. A batch has a hundred.
const maxTogether = 1000

// undoable returns the changes of a kind that can be taken back: those that are not
// undone, and are no undo themselves. If one of them concerns what is hidden, all of
// them are unknown.
func undoable(v *command.Vault, j *journal.Journal, same func(journal.Entry) bool) (entries []journal.Entry, err error) {
	err = each(v, j, func(e journal.Entry) (stop bool, err error) {
		if !same(e) || !e.Undoable() {
			return false, nil
		}
		if !e.SeenBy(v.SeesPlace) || ofOtherAgent(v, e) {
			return true, command.Failure("Nothing to undo.")
		}
		entries = append(entries, e)
		return len(entries) > maxTogether, nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, command.Failure("Nothing to undo.")
	case len(entries) > maxTogether:
		return nil, command.Failure("More than %d changes to undo. Undo them one by one.", maxTogether)
	}
	return entries, nil
}

// unfound says why an entry is not to be had.
func unfound(id string, err error) error {
	var unknown *journal.Unknown
	if errors.As(err, &unknown) {
		return unknownChange(id)
	}
	return command.Failure("Cannot use the journal: %v", err)
}

func unknownChange(id string) error {
	return command.NotFoundID.Failure("Change %q not found.", command.Verbatim(id))
}

// historyPage is how many entries are looked at at once.
const historyPage = 1000

// each gives the entries to visit, the newest first.
func each(v *command.Vault, j *journal.Journal, visit func(journal.Entry) (stop bool, err error)) error {
	for behind := ""; ; {
		entries, _, err := j.Entries(journal.Filter{Limit: historyPage, OlderThan: behind})
		if err != nil {
			return command.Failure("Cannot use the journal: %v", err)
		}
		for _, e := range entries {
			behind = e.ID
			if stop, err := visit(e); stop || err != nil {
				return err
			}
		}
		if len(entries) < historyPage {
			return nil
		}
	}
}

// latest is the last change of a caller that is undoable, with what takes it back. A
// batch is one change.
type latest struct {
	entries []journal.Entry // the newest first
	undoing command.Proposal
	err     error // why it cannot be taken back
}

// isOwn reports whether the caller made a change, or another session of its agent.
func isOwn(v *command.Vault, e journal.Entry) bool {
	agent := private.AgentOf(v.Caller)
	return e.Caller != "" && (e.Caller == v.Caller || agent != "" && private.AgentOf(e.Caller) == agent)
}

// latestOf returns the last change that is the caller's own, nil if there is none. One that failed
// and left nothing is skipped.
func latestOf(v *command.Vault, j *journal.Journal, own func(journal.Entry) bool) (found *latest, err error) {
	passed := map[string]bool{}
	err = each(v, j, func(e journal.Entry) (stop bool, err error) {
		if !own(e) || !e.Undoable() || !e.SeenBy(v.SeesPlace) || passed[e.Batch] {
			return false, nil
		}
		l := latest{entries: []journal.Entry{e}}
		if e.Batch != "" {
			passed[e.Batch] = true
			l.entries, err = undoable(v, j, func(other journal.Entry) bool { return other.Batch == e.Batch && other.Caller == e.Caller })
			if err != nil {
				return false, nil // a part of it is hidden: it is not there
			}
		}
		l.undoing, l.err = undoing(v, j, l.entries, false)
		l.undoing.Latest = true
		if l.err != nil || len(l.undoing.Steps) > 0 || e.State == journal.Done {
			found = &l
		}
		return found != nil, nil
	})
	return found, err
}

// undoing returns the proposal to take entries back, the newest first. With skips, an entry whose
// notes were changed since is left as it is, and named, unless none is left.
func undoing(v *command.Vault, j *journal.Journal, entries []journal.Entry, skips bool) (command.Proposal, error) {
	p := command.Proposal{OwnChange: true}
	ahead := outlook{v, map[disk.Path]command.FileState{}}
	var said []string
	var conflicting error
	for _, e := range entries {
		var note disk.Path
		if len(e.Steps) > 0 {
			// What cannot be a path was refused with its step.
			note, _ = command.StepPath(v, e.Steps[0].Source())
		}
		line := fmt.Sprintf("%s %s %s", e.ID, e.Command, note)
		if more := len(e.Steps) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		steps, known := p.Steps, maps.Clone(ahead.ahead)
		if err := ahead.takeBack(j, e, &p); err != nil {
			if !skips || command.Explain(err).Kind != command.UndoConflict {
				return command.Proposal{}, err
			}
			conflicting = cmp.Or(conflicting, err)
			p.Steps, ahead.ahead = steps, known
			said = append(said, "Not undone, because it was changed since: "+line)
			continue
		}
		p.OwnChange = p.OwnChange && isOwn(v, e) && e.Undoes == ""
		if p.Undoes == "" {
			p.Undoes = e.ID
		} else {
			p.Also = append(p.Also, e.ID)
		}
		if p.Note == (disk.Path{}) {
			p.Note = note
		}
		said = append(said, "Undone: "+line)
	}
	if p.Undoes == "" {
		return command.Proposal{}, conflicting
	}
	slices.SortStableFunc(said, func(a, b string) int { // what was done first: it confirms the command
		return cmp.Compare(b[:1], a[:1])
	})
	p.Message = strings.Join(said, "\n")
	return p, nil
}

// outlook is the vault as it will be when the steps so far are done.
type outlook struct {
	v     *command.Vault
	ahead map[disk.Path]command.FileState
}

func (o outlook) current(path disk.Path, kept string) (command.FileState, error) {
	if h, known := o.ahead[path]; known {
		return h, nil
	}
	return command.StateAt(o.v, path, kept)
}

// takeBack adds to a proposal what takes an entry back.
func (o outlook) takeBack(j *journal.Journal, e journal.Entry, p *command.Proposal) error {
	// Where e brought back what had been put into the trash, what it takes away goes there again.
	trash := slices.ContainsFunc(e.TakesBack(), func(id string) bool {
		first, err := j.Entry(id)
		return err == nil && strings.HasPrefix(first.Note, command.TrashRemark)
	})
	for _, kept := range slices.Backward(e.Steps) {
		back, err := o.back(j, e, kept)
		if err != nil {
			return err
		}
		for _, s := range back {
			s.Trash = trash && !s.After.Exists
			if s.IsMove() {
				o.ahead[s.From] = command.FileState{}
			}
			o.ahead[s.Path] = s.After
			p.Steps = append(p.Steps, s)
		}
	}
	return nil
}

// trace is what is found of one step of an entry.
type trace struct {
	was, is   disk.Path         // where the file was before, and where it was left; mostly the same
	then, now command.FileState // what is there
}

func (t trace) isMove() bool { return t.was != t.is }

// back returns what takes back one step of an entry: mostly one step, none where
// nothing is to be done.
func (o outlook) back(j *journal.Journal, e journal.Entry, kept journal.Step) ([]command.Step, error) {
	var t trace
	var err error
	if t.is, err = command.StepPath(o.v, kept.Path); err == nil {
		if t.was, err = command.ParseStepPath(kept.Source()); err == nil {
			t.was, err = o.v.Disk.Renamed(t.is, t.was)
		}
	}
	if err != nil {
		return nil, command.Failure("Change %s cannot be undone: %v", e.ID, err)
	}
	if t.now, err = o.current(t.is, kept.Path); err != nil {
		return nil, command.ReadError(t.is.String(), err)
	}
	if t.then = t.now; t.isMove() {
		if t.then, err = o.current(t.was, ""); err != nil {
			return nil, command.ReadError(t.was.String(), err)
		}
	}

	if e.State != journal.Done {
		if steps, known := t.brokenOff(kept); known {
			return steps, nil
		}
	}
	folder := strings.HasSuffix(kept.Path, "/")
	switch {
	case folder && t.now.Exists == kept.Before.Exists: // others may have made it, or removed it
		return nil, nil
	case folder && !t.now.Exists:
		return []command.Step{{Path: t.is, After: command.ExistingFolder, Modified: kept.Modified}}, nil
	case command.ImageOf(t.now) != kept.After:
		return nil, conflict(o.v, j, t.is, kept, t.now)
	case t.isMove() && t.then.Exists && !strings.EqualFold(t.is.String(), t.was.String()): // else it may be the file itself
		return nil, command.UndoConflict.Failure("Conflict: there is another file at %q. Nothing was undone.", command.Verbatim(t.was.String()))
	}
	s := command.Step{Path: t.was, Before: t.now, Modified: kept.Modified}
	if t.isMove() {
		s.From = t.is
	}
	name, trashed := strings.CutPrefix(e.Note, command.TrashRemark)
	if s.Back = trashed && name == command.TrashMany; trashed && !s.Back {
		s.TrashName = name
	}
	if s.After, err = keptBefore(o.v, j, kept, t.now); err != nil {
		return nil, command.Failure("Change %s cannot be undone: %v", e.ID, err)
	}
	return []command.Step{s}, nil
}

// brokenOff returns what takes back a step of which only a part may have been
// done. It reports false if all of it was, or if nothing is known.
func (t trace) brokenOff(kept journal.Step) (steps []command.Step, known bool) {
	unchanged := command.ImageOf(t.now) == kept.Before
	switch {
	case !t.isMove():
		return nil, unchanged
	case command.ImageOf(t.then) == kept.Before && !t.now.Exists:
		return nil, true
	case command.ImageOf(t.then) == kept.Before && (unchanged || t.now.IsEmpty()): // the file had both names, or took the second with an empty file
		return []command.Step{{Path: t.is, Before: t.now}}, true
	case unchanged && !t.then.Exists:
		return []command.Step{{Path: t.was, From: t.is, Before: t.now, After: t.now}}, true
	}
	return nil, false
}

// keptBefore returns what a file was before a step. Of a file that was moved as it was,
// nothing is kept but where it was.
func keptBefore(v *command.Vault, j *journal.Journal, s journal.Step, now command.FileState) (command.FileState, error) {
	switch {
	case !s.Before.Exists:
		return command.FileState{}, nil
	case s.Before == s.After:
		return now, nil
	}
	text, err := j.Object(s.Before.Hash)
	return command.Existing(text), err
}

// How much of the difference in a conflict is shown.
const (
	maxShown     = 16 << 10
	maxShownRows = 400
)

// conflict refuses to undo what was overwritten since, and shows
// that.
func conflict(v *command.Vault, j *journal.Journal, at disk.Path, kept journal.Step, now command.FileState) error {
	const refused = "Conflict: %q was changed since. Nothing was undone.\n%s"
	if keptBack(v, at, func() bool { return goneByUs(j, at.String()) }) {
		return command.UndoConflict.Failure(refused, command.Verbatim(at.String()), "It is not where it was.")
	}
	var left []byte
	if kept.After.Exists {
		text, err := j.Object(kept.After.Hash)
		if err != nil {
			return command.UndoConflict.Failure(refused, command.Verbatim(at.String()), "The text that the change wrote is not kept.")
		}
		left = text
	}
	changes := difference.Fit([]difference.Change{difference.Of(left, now.Text)}, difference.Extent{Rows: maxShownRows, Bytes: maxShown, Line: maxShown / 8})
	from, to := "a/"+at.String(), "b/"+at.String()
	switch {
	case !kept.After.Exists:
		from = "/dev/null"
	case !now.Exists:
		to = "/dev/null"
	}
	shown := changes[0].Unified(from, to)
	return command.UndoConflict.Failure(refused, command.Verbatim(at.String()), strings.TrimSuffix(shown, "\n"))
}
