package files

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

const (
	fewRecent = 20   // without limit=
	maxRecent = 1000 // with it
)

func changedCommands() []command.Command {
	return []command.Command{{
		Name: "recent", Help: "List the notes that were changed last, newest first",
		Params: []grammar.Param{
			{Name: "since", Hint: "date", Help: "Only notes changed on this day or later"},
			{Name: "limit", Hint: "number", Help: "Maximum number of notes"},
		},
		Run: listChanged,
	}}
}

// listChanged prints the path of each note and, behind a tab, when it was
// changed.
func listChanged(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	limit, err := p.Number("limit", fewRecent, 1, maxRecent)
	if err != nil {
		return answer.Reply{}, err
	}
	now := v.Clock()
	var since time.Time
	if p.Has("since") {
		days, err := session.Days(p["since"], now)
		if err != nil {
			return answer.Reply{}, err
		}
		since = days.First
	}
	type changed struct {
		path string
		at   time.Time
	}
	var total atomic.Int64
	var mu sync.Mutex
	var notes []changed
	err = v.Disk.WalkParallel(disk.Path{}, func(e disk.Entry) {
		if !session.IsNote(e) {
			return
		}
		total.Add(1)
		info, err := e.Info()
		if err != nil || info.ModTime().Before(since) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, changed{e.Path.String(), info.ModTime()})
	})
	if err != nil {
		return answer.Reply{}, err
	}
	slices.SortFunc(notes, func(a, b changed) int {
		return cmp.Or(b.at.Compare(a.at), order.Compare(a.path, b.path))
	})
	if len(notes) == 0 {
		return nothingChanged(p, total.Load(), since), nil
	}
	var out strings.Builder
	for _, n := range notes[:min(limit, len(notes))] {
		out.WriteString(n.path + "\t" + n.at.In(now.Location()).Format(time.RFC3339) + "\n")
	}
	return answer.Text(out.String()), nil
}

// nothingChanged says why no note was changed.
func nothingChanged(p grammar.Values, total int64, since time.Time) answer.Reply {
	if !p.Has("since") || total == 0 {
		return answer.Nothing("", "the vault has no notes")
	}
	return answer.Nothing("", "no note was changed since %s (%s in the vault)", since.Format(time.DateOnly), session.Count(int(total), "note"))
}
