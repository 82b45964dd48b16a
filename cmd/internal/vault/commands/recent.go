package commands

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/gateway/state/journal"
)

func init() {
	register(
		command.Command{Name: "recent", Run: listChanged},
		command.Command{Name: "recents", Run: listRecents},
	)
}

const (
	fewRecent = 20   // without limit= and since=, which bounds the list by itself
	maxRecent = 1000 // with limit=
)

// listChanged prints the path of each note and, after a tab, when it was
// changed, and after another who did it, where that is known.
func listChanged(v *command.Vault, p command.Values) (command.Reply, error) {
	few := fewRecent
	if p.Has("since") {
		few = math.MaxInt / 2
	}
	limit, err := p.Number("limit", few, 1, maxRecent)
	if err != nil {
		return command.Reply{}, err
	}
	now := v.Clock()
	var since time.Time
	if p.Has("since") {
		days, err := command.Days(p["since"], now)
		if err != nil {
			return command.Reply{}, err
		}
		since = days.First
	}
	first := order.NewFirst(limit, changed.compare)
	found := 0
	total, err := changedNotes(v, since, func(n changed) {
		found++
		first.Add(n)
	})
	if err != nil {
		return command.Reply{}, err
	}
	notes := first.Sorted()
	if len(notes) == 0 {
		return nothingChanged(p, total, since), nil
	}
	makers := madeBy(v, notes)
	var out strings.Builder
	for _, n := range notes {
		out.WriteString(n.path + "\t" + n.at.In(now.Location()).Format(time.RFC3339))
		if by := makers[n.path]; by != "" {
			out.WriteString("\t" + by)
		}
		out.WriteByte('\n')
	}
	return limited(command.Text(out.String()), len(notes), found, "note"), nil
}

// madeBy says of notes who made the last change, where it was made through this program and the
// note is still as the change left it. A journal that cannot be read says nothing of any.
func madeBy(v *command.Vault, notes []changed) map[string]string {
	j, err := v.Journal()
	if err != nil {
		return nil
	}
	wanted, makers := map[string]bool{}, map[string]string{}
	oldest := notes[len(notes)-1].at.Add(-time.Minute) // a change begins before it is written
	for _, n := range notes {
		wanted[n.path] = true
	}
	entries, _, _ := j.Entries(journal.Filter{Since: oldest, Limit: maxEntries})
	for _, e := range entries { // the newest first
		for _, s := range e.Steps {
			if !wanted[s.Path] {
				continue
			}
			delete(wanted, s.Path)
			at, err := v.PathOf(s.Path)
			if err != nil || !v.Sees(s.Source()) {
				continue
			}
			if now, err := command.CurrentState(v, at); err == nil && command.ImageOf(now) == s.After {
				makers[s.Path] = e.By()
			}
		}
	}
	return makers
}

// changed is a note and when it was changed.
type changed struct {
	path string
	rank int // in the order of listings, 0 if it is not known
	at   time.Time
}

func (c changed) compare(other changed) int {
	byTime := other.at.Compare(c.at)
	switch {
	case byTime != 0:
		return byTime
	case c.rank != 0 && other.rank != 0:
		return c.rank - other.rank
	}
	return order.Compare(c.path, other.path)
}

// changedNotes visits the notes that were changed since a time, in any order, and returns
// how many notes there are.
func changedNotes(v *command.Vault, since time.Time, visit func(changed)) (total int, err error) {
	if x, ok := v.Host.Knowledge.IndexIfCurrent(v.View()); ok {
		return indexedNotes(v, x, since, visit), nil
	}
	return walkedNotes(v, since, visit)
}

func indexedNotes(v *command.Vault, x *index.Index, since time.Time, visit func(changed)) (total int) {
	for i, f := range x.Files {
		if !f.IsNote() {
			continue
		}
		total++
		at := time.Unix(0, f.Stamp.Modified)
		if f.Stamp == (system.Stamp{}) { // it was written while it was read
			info, err := v.Disk.Stat(f.Path)
			if err != nil {
				continue
			}
			at = info.ModTime()
		}
		if !at.Before(since) {
			visit(changed{f.Path.String(), i + 1, at})
		}
	}
	return total
}

func walkedNotes(v *command.Vault, since time.Time, visit func(changed)) (total int, err error) {
	var mu sync.Mutex
	err = v.Disk.WalkParallel(disk.Path{}, func(e disk.Entry) {
		if e.IsDir || e.Path.Ext() != "md" {
			return
		}
		info, err := e.Info()
		mu.Lock()
		defer mu.Unlock()
		total++
		if err == nil && !info.ModTime().Before(since) {
			visit(changed{e.Path.String(), 0, info.ModTime()})
		}
	})
	return total, err
}

// nothingChanged says why no note was changed.
func nothingChanged(p command.Values, total int, since time.Time) command.Reply {
	if !p.Has("since") || total == 0 {
		return command.Nothing("", "the vault has no notes")
	}
	return command.Nothing("", "no note was changed since %s (%s in the vault)", since.Format(time.DateOnly), command.Count(total, "note"))
}

// listRecents answers from the app's own record, which it writes when it
// saves its workspace. Files that are gone by now are left out.
func listRecents(v *command.Vault, p command.Values) (command.Reply, error) {
	var record struct{ LastOpenFiles []string }
	if text, err := v.Disk.Config("workspace.json"); err == nil {
		_ = json.Unmarshal(text, &record) // a scratch file that cannot be understood records nothing
	}
	var open []string
	for _, name := range record.LastOpenFiles {
		path, err := v.PathOf(name)
		if err != nil {
			continue
		}
		if _, err := v.Disk.Stat(path); err == nil {
			open = append(open, path.String())
		}
	}
	if p.Has("total") {
		return command.Text(strconv.Itoa(len(open))), nil
	}
	if len(open) == 0 {
		return command.Nothing("", "the app has recorded no opened files; recent lists the notes that were changed last"), nil
	}
	return command.Text(strings.Join(open, "\n")), nil
}
