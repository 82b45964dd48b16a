package commands

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

func init() {
	register(
		command.Command{Name: "random", Help: "Pick a random note and print its path", Run: randomPath},
		command.Command{Name: "random:read", Run: randomRead},
	)
}

// randomPath answers the command random. The app opens the note and says so;
// nothing can be opened here, so the path alone is the answer.
func randomPath(v *command.Vault, p command.Values) (command.Reply, error) {
	notes, err := Pick(v, p, 1)
	if err != nil || len(notes) == 0 {
		return nothingPicked(v, p, err)
	}
	return command.Reply{Text: notes[0].String(), Note: notes[0]}, nil
}

// randomRead answers with the path of the note and then its text, or with
// several notes under headings.
func randomRead(v *command.Vault, p command.Values) (command.Reply, error) {
	count, err := p.Number("count", 1, 1, maxRandom)
	if err != nil {
		return command.Reply{}, err
	}
	notes, err := Pick(v, p, count)
	if err != nil || len(notes) == 0 {
		return nothingPicked(v, p, err)
	}
	if p.Has("count") {
		return command.Text(several(v, notes, "")), nil
	}
	said, err := v.Show(command.Target{Path: notes[0], Typed: notes[0].String()})
	said.Text = notes[0].String()
	return said, err
}

const (
	noNotes   = "No markdown files found."
	maxRandom = 20 // more notes than anybody reads at once
)

// Pick picks different notes that p allows, at most count and fewer if
// there are not so many.
func Pick(v *command.Vault, p command.Values, count int) ([]disk.Path, error) {
	days, err := command.Age(cmp.Or(p["min-age"], "0"), v.Clock())
	if err != nil {
		return nil, err
	}
	seed, err := p.Number("seed", 0, 0, 1<<53)
	if err != nil {
		return nil, err
	}
	newest := v.Clock().AddDate(0, 0, -days)
	var paths []disk.Path
	sorted, err := v.EachFileBelow(p["folder"], func(l command.Listed) {
		if l.IsNote() && (days == 0 || unchangedSince(l, newest)) {
			paths = append(paths, l.Path)
		}
	})
	if err != nil {
		return nil, err
	}
	pick := v.RandomIndex
	if p.Has("seed") {
		if !sorted { // the same seed must find the same notes
			slices.SortFunc(paths, func(a, b disk.Path) int { return order.Compare(a.String(), b.String()) })
		}
		pick = rand.New(rand.NewPCG(uint64(seed), 0)).IntN
	}
	var notes []disk.Path
	for len(notes) < count && len(paths) > 0 {
		i := pick(len(paths))
		if _, err := v.Disk.Stat(paths[i]); !disk.IsMissing(err) { // it may have gone a moment ago
			notes = append(notes, paths[i])
		}
		paths[i] = paths[len(paths)-1]
		paths = paths[:len(paths)-1]
	}
	return notes, nil
}

// nothingPicked says why there is no note to pick, unless err does.
func nothingPicked(v *command.Vault, p command.Values, err error) (command.Reply, error) {
	if err != nil {
		return command.Reply{}, err
	}
	all := 0
	if p.Has("min-age") { // without it no note is left out but one that has just gone
		_, err = v.EachFileBelow(p["folder"], func(l command.Listed) {
			if l.IsNote() {
				all++
			}
		})
	}
	if err != nil || all == 0 {
		return command.Nothing(noNotes, "%s has no notes", command.Place(p["folder"])), err
	}
	days, err := command.Age(p["min-age"], v.Clock())
	return command.Nothing(noNotes, "no note older than %s in %s (%s)", command.Count(days, "day"), command.Place(p["folder"]), command.Count(all, "note")), err
}

func unchangedSince(l command.Listed, moment time.Time) bool {
	stamp, err := l.Stamp()
	return err == nil && !time.Unix(0, stamp.Modified).After(moment)
}
