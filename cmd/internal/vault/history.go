package vault

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/gateway/state/journal"
)

// The app keeps its history where only it can read it, and nobody has published
// what these commands print. Here a version is what a note was before a change
// of this program, as the journal keeps it; 1 is the newest, and the note as it
// is now is none. A change by another program makes no version, but what it
// wrote becomes one with the next change here.
func historyCommands() []command {
	version := param{name: "version", hint: "n", about: "The version, 1 is the newest and the default"}
	needed := version
	needed.required, needed.about = true, "The version, 1 is the newest"
	return []command{
		{name: "history", about: "List the kept versions of a note, the newest first", params: targetParams(), run: listVersions},
		{name: "history:list", about: "List the notes that have kept versions", run: listHistories},
		{name: "history:read", about: "Read a kept version of a note", params: append(targetParams(), version), run: readVersion},
		{name: "history:restore", about: "Replace a note by a kept version", params: append(targetParams(), needed), plan: restoreVersion, meant: meansRestored},
		{
			name: "diff", about: "Compare a kept version of a note with another, or with the note; without numbers list them",
			params: append(targetParams(),
				param{name: "from", hint: "n", about: "The version to compare"},
				param{name: "to", hint: "n", about: "The version to compare it with, else the note as it is"},
				param{name: "filter", oneOf: []string{"local", "sync"}, about: "Only versions of this origin"}),
			run: diffVersions,
		},
	}
}

const (
	maxVersions = 1000    // of a note are told apart
	maxEntries  = 1 << 20 // of the journal are looked at, more than it holds
)

// versions are those of the note that a request means, which need not be there
// any more.
func (v *vault) versions(p params) (target, []journal.Version, error) {
	t, err := v.target(p)
	if err != nil {
		return t, nil, err
	}
	j, err := v.journal()
	if err != nil {
		return t, nil, err
	}
	kept, _, err := j.Versions(t.path.String(), maxVersions)
	if err != nil {
		return t, nil, failure("Cannot use the journal: %v", err)
	}
	kept = slices.DeleteFunc(kept, func(was journal.Version) bool { return !v.sees(t.path.String()) || !v.sees(was.Path) })
	if _, err := v.disk.Stat(t.path); err != nil && len(kept) == 0 {
		return t, nil, fileNotFound(t.typed)
	}
	return t, kept, nil
}

// listVersions prints for each version its number, its time, how many bytes it
// has, the command that replaced it, and its path if that was another.
func listVersions(v *vault, p params) (reply, error) {
	t, kept, err := v.versions(p)
	if err != nil {
		return reply{}, err
	}
	table := rows{}
	for i, was := range kept {
		cells := []string{strconv.Itoa(i + 1), v.when(was.Time), strconv.FormatInt(was.Image.Size, 10), was.Command}
		if was.Path != t.path.String() {
			cells = append(cells, was.Path)
		}
		table.cells = append(table.cells, cells)
	}
	return reply{text: table.print(formTSV), note: t.path}, nil
}

func (v *vault) when(t time.Time) string { return t.In(v.clock().Location()).Format(time.DateTime) }

// listHistories names the notes by the path that they have now, or had when they
// were removed.
func listHistories(v *vault, _ params) (reply, error) {
	j, err := v.journal()
	if err != nil {
		return reply{}, err
	}
	entries, _, err := j.Entries(journal.Filter{Limit: maxEntries})
	if err != nil {
		return reply{}, failure("Cannot use the journal: %v", err)
	}
	names, found := map[string]string{}, map[string]bool{}
	for _, e := range entries {
		for _, s := range slices.Backward(e.Steps) {
			now := cmp.Or(names[s.Path], s.Path)
			// Of a move that failed it is not known where the note was.
			if s.From != "" && (e.State == journal.Done || e.State == journal.Undone) {
				names[s.From] = now
			} else {
				now = cmp.Or(names[s.Source()], s.Source())
			}
			if at, err := v.pathOf(now); err == nil && v.sees(now) && v.sees(s.Source()) && s.Before.Exists && (s.From == "" || s.Before != s.After) {
				found[at.String()] = true
			}
		}
	}
	paths := slices.Collect(maps.Keys(found))
	order.Sort(paths)
	return say(strings.Join(paths, "\n")), nil
}

func readVersion(v *vault, p params) (reply, error) {
	t, kept, err := v.versions(p)
	if err != nil {
		return reply{}, err
	}
	text, err := v.version(t, kept, cmp.Or(p["version"], "1"))
	if err != nil {
		return reply{}, err
	}
	return reply{text: string(text), note: t.path}, nil
}

// version returns the text of a version by its number.
func (v *vault) version(t target, kept []journal.Version, number string) ([]byte, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, misuse("Invalid number: %s", number)
	}
	if n > len(kept) {
		return nil, notFound.failure("Version %q of %s not found.", verbatim(number), t.path)
	}
	j, err := v.journal()
	if err != nil {
		return nil, err
	}
	text, err := j.Object(kept[n-1].Image.Hash)
	if err != nil {
		return nil, failure("Version %q of %s cannot be read: %v", verbatim(number), t.path, err)
	}
	return text, nil
}

// restoreVersion brings a note back that was removed, too.
func restoreVersion(v *vault, p params) (proposal, error) {
	t, kept, err := v.versions(p)
	if err != nil {
		return proposal{}, err
	}
	text, err := v.version(t, kept, p["version"])
	if err != nil {
		return proposal{}, err
	}
	before, err := v.current(t.path)
	if err != nil {
		return proposal{}, unwritten(t.path.String(), err)
	}
	return proposal{
		steps: []step{{path: t.path, before: before, after: holding(text)}},
		said:  "Restored: " + t.path.String() + " from version " + p["version"],
		note:  t.path, replaces: before.there,
	}, nil
}

func diffVersions(v *vault, p params) (reply, error) {
	switch {
	case p["filter"] == "sync":
		return reply{}, needsApp.failure("%q needs the Obsidian app.", verbatim("diff filter=sync"))
	case p.has("to") && !p.has("from"):
		return reply{}, misuse("Use to=<n> with from=<n>.")
	case !p.has("from"):
		return listVersions(v, p)
	}
	t, kept, err := v.versions(p)
	if err != nil {
		return reply{}, err
	}
	from, err := v.version(t, kept, p["from"])
	if err != nil {
		return reply{}, err
	}
	first := fmt.Sprintf("%s (version %s)", t.path, p["from"])
	if p.has("to") {
		to, err := v.version(t, kept, p["to"])
		return reply{text: unified(first, fmt.Sprintf("%s (version %s)", t.path, p["to"]), from, to), note: t.path}, err
	}
	now, err := v.current(t.path)
	if err != nil {
		return reply{}, unreadable(t.typed, err)
	}
	second := t.path.String()
	if !now.there {
		second = "/dev/null"
	}
	return reply{text: unified(first, second, from, now.text), note: t.path}, nil
}

// meansRestored judges a note that the app took from its own history, of which
// nothing is known here but that the note changed.
func meansRestored(_ *vault, _ params, c appChange) (outcome.Verdict, error) {
	return outcome.Verdict{Done: !c.now.equal(c.before), Style: "the text is from the history of the app"}, nil
}
