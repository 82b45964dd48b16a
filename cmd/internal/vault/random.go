package vault

import (
	"math/rand/v2"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

func randomCommands() []command {
	folder := param{name: "folder", hint: "path", about: "Only below this folder"}
	return []command{
		{
			name: "random", about: "Pick a note by chance and name it",
			params: []param{folder, {name: "newtab", kind: flag, about: "Has no effect without the app"}},
			run:    randomPath,
		},
		{
			name: "random:read", about: "Read a note picked by chance",
			params: []param{
				folder,
				{name: "count", hint: "number", about: "So many different notes"},
				{name: "min-age", hint: "days", about: "Only notes unchanged for so many days"},
				{name: "seed", hint: "number", about: "The same seed picks the same notes"},
			},
			run: randomRead,
		},
	}
}

// randomPath answers the command random. The app opens the note and says so;
// nothing can be opened here, so the path alone is the answer.
func randomPath(v *vault, p params) (reply, error) {
	notes, err := v.pickNotes(p, 1)
	if err != nil || len(notes) == 0 {
		return say(noNotes), err
	}
	return reply{text: notes[0].String(), note: notes[0]}, nil
}

// randomRead answers with the path of the note and then its text, or with
// several notes under headings.
func randomRead(v *vault, p params) (reply, error) {
	count, err := p.number("count", 1, 1, maxRandom)
	if err != nil {
		return reply{}, err
	}
	notes, err := v.pickNotes(p, count)
	if err != nil || len(notes) == 0 {
		return say(noNotes), err
	}
	if p.has("count") {
		return say(v.several(notes)), nil
	}
	said, err := v.show(target{notes[0], notes[0].String()})
	said.text = notes[0].String()
	return said, err
}

const (
	noNotes   = "No markdown files found."
	maxRandom = 20 // more notes than anybody reads at once
)

// pickNotes picks different notes that p allows, at most count and fewer if
// there are not so many.
func (v *vault) pickNotes(p params, count int) ([]disk.Path, error) {
	days, err := p.number("min-age", 0, 0, maxDays)
	if err != nil {
		return nil, err
	}
	seed, err := p.number("seed", 0, 0, 1<<53)
	if err != nil {
		return nil, err
	}
	newest := v.clock().AddDate(0, 0, -days)
	names, err := v.below(p["folder"], func(e disk.Entry) bool {
		return isNote(e) && (days == 0 || unchangedSince(e, newest))
	})
	if err != nil {
		return nil, err
	}
	pick := v.pick
	if p.has("seed") {
		order.Sort(names) // a walk has no order, and the same seed must find the same notes
		pick = rand.New(rand.NewPCG(uint64(seed), 0)).IntN
	}
	var notes []disk.Path
	for len(notes) < count && len(names) > 0 {
		i := pick(len(names))
		note, err := disk.ParsePath(names[i])
		if err != nil {
			return nil, err
		}
		notes = append(notes, note)
		names[i] = names[len(names)-1]
		names = names[:len(names)-1]
	}
	return notes, nil
}

func unchangedSince(e disk.Entry, moment time.Time) bool {
	info, err := e.Info()
	return err == nil && !info.ModTime().After(moment)
}
