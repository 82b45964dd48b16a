package notes

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

// randomPath answers the command random. The app opens the note and says so;
// nothing can be opened here, so the path alone is the answer.
func randomPath(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	notes, err := Pick(v, p, 1)
	if err != nil || len(notes) == 0 {
		return nothingPicked(v, p, err)
	}
	return answer.Reply{Text: notes[0].String(), Note: notes[0]}, nil
}

// randomRead answers with the path of the note and then its text, or with
// several notes under headings.
func randomRead(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	count, err := p.Number("count", 1, 1, maxRandom)
	if err != nil {
		return answer.Reply{}, err
	}
	notes, err := Pick(v, p, count)
	if err != nil || len(notes) == 0 {
		return nothingPicked(v, p, err)
	}
	if p.Has("count") {
		return answer.Text(several(v, notes, "")), nil
	}
	said, err := v.Show(session.Target{Path: notes[0], Typed: notes[0].String()})
	said.Text = notes[0].String()
	return said, err
}

const (
	noNotes   = "No markdown files found."
	maxRandom = 20 // more notes than anybody reads at once
)

// Pick picks different notes that p allows, at most count and fewer if
// there are not so many.
func Pick(v *session.Vault, p grammar.Values, count int) ([]disk.Path, error) {
	days, err := session.Age(cmp.Or(p["min-age"], "0"), v.Clock())
	if err != nil {
		return nil, err
	}
	seed, err := p.Number("seed", 0, 0, 1<<53)
	if err != nil {
		return nil, err
	}
	newest := v.Clock().AddDate(0, 0, -days)
	var paths []disk.Path
	sorted, err := v.EachFileBelow(p["folder"], func(l session.Listed) {
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
func nothingPicked(v *session.Vault, p grammar.Values, err error) (answer.Reply, error) {
	if err != nil {
		return answer.Reply{}, err
	}
	all := 0
	if p.Has("min-age") { // without it no note is left out but one that has just gone
		_, err = v.EachFileBelow(p["folder"], func(l session.Listed) {
			if l.IsNote() {
				all++
			}
		})
	}
	if err != nil || all == 0 {
		return answer.Nothing(noNotes, "%s has no notes", session.Place(p["folder"])), err
	}
	days, err := session.Age(p["min-age"], v.Clock())
	return answer.Nothing(noNotes, "no note older than %s in %s (%s)", session.Count(days, "day"), session.Place(p["folder"]), session.Count(all, "note")), err
}

func unchangedSince(l session.Listed, moment time.Time) bool {
	stamp, err := l.Stamp()
	return err == nil && !time.Unix(0, stamp.Modified).After(moment)
}
