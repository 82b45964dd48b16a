package vault

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

const (
	fewRecent = 20   // without limit=
	maxRecent = 1000 // with it
)

func changedCommands() []command {
	return []command{{
		name: "recent", about: "List the notes that were changed last, newest first",
		params: []param{
			{name: "since", hint: "YYYY-MM-DD", about: "Only notes changed on this day or later"},
			{name: "limit", hint: "number", about: "At most so many notes"},
		},
		run: listChanged,
	}}
}

// listChanged prints the path of each note and, behind a tab, when it was
// changed.
func listChanged(v *vault, p params) (reply, error) {
	limit, err := p.number("limit", fewRecent, 1, maxRecent)
	if err != nil {
		return reply{}, err
	}
	zone := v.clock().Location()
	var since time.Time
	if p.has("since") {
		if since, err = time.ParseInLocation(time.DateOnly, p["since"], zone); err != nil {
			return reply{}, misuse("Invalid date format. Use YYYY-MM-DD")
		}
	}
	type changed struct {
		path string
		at   time.Time
	}
	var mu sync.Mutex
	var notes []changed
	err = v.disk.WalkParallel(disk.Path{}, func(e disk.Entry) {
		if !isNote(e) {
			return
		}
		info, err := e.Info()
		if err != nil || info.ModTime().Before(since) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, changed{e.Path.String(), info.ModTime()})
	})
	if err != nil {
		return reply{}, err
	}
	slices.SortFunc(notes, func(a, b changed) int {
		return cmp.Or(b.at.Compare(a.at), order.Compare(a.path, b.path))
	})
	var out strings.Builder
	for _, n := range notes[:min(limit, len(notes))] {
		out.WriteString(n.path + "\t" + n.at.In(zone).Format(time.RFC3339) + "\n")
	}
	return say(out.String()), nil
}
