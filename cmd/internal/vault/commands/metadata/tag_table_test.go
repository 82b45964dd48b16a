package metadata

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge/index"
)

// A table that follows changes is the one that is made from nothing: also of tags whose
// casings take turns, and of tags that come and go.
func TestATableOfTagsThatFollowsIsTheOneMadeFromNothing(t *testing.T) {
	dir := t.TempDir()
	folder, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "A", "b", "B", "ä", "Ä", "Deep/er", "deep/ER", "straße", "z1", "z10", "z9"}
	change := func() {
		note := filepath.Join(dir, fmt.Sprintf("Note %d.md", random.IntN(12)))
		text := "---\ntags: [" + names[random.IntN(len(names))] + "]\n---\n"
		for range random.IntN(4) {
			text += "#" + names[random.IntN(len(names))] + "\n"
		}
		var err error
		switch random.IntN(4) {
		case 0:
			err = os.RemoveAll(note)
		case 1:
			err = os.WriteFile(note, fmt.Appendf(nil, "#once%d", random.Uint64()), 0o600)
		default:
			err = os.WriteFile(note, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var table *tagTable
	var last *index.Index
	most := 0
	for round := range 300 {
		for range random.IntN(3) {
			change()
		}
		x, err := index.Build(folder, last, index.Forgetful{}, time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if table == nil {
			table = newTagTable(x.Files)
		} else {
			table = table.follow(last.Files, x.Files)
		}
		last = x
		got, want := usesOf(table), usesOf(newTagTable(x.Files))
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %q\nfrom nothing: %q", round, got, want)
		}
		most = max(most, len(want))
	}
	if most < 8 {
		t.Errorf("at most %d tags: too few to mean anything", most)
	}
}

// Spellings that no note has any more do not stay for ever.
func TestUnusedSpellingsGo(t *testing.T) {
	dir := t.TempDir()
	folder, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var table *tagTable
	var last *index.Index
	for round := range 9 {
		text := []byte{}
		for i := range maxUnused {
			text = fmt.Appendf(text, "#tag%d-%d\n", round, i)
		}
		if err := os.WriteFile(filepath.Join(dir, "Note.md"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := index.Build(folder, nil, index.Forgetful{}, time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if table == nil {
			table = newTagTable(x.Files)
		} else {
			table = table.follow(last.Files, x.Files)
		}
		last = x
		if len(table.uses) != maxUnused || len(table.spellings.names) > 4*maxUnused {
			t.Errorf("round %d: %d tags, %d spellings", round, len(table.uses), len(table.spellings.names))
		}
	}
}

func usesOf(t *tagTable) (all []string) {
	for _, use := range t.uses {
		all = append(all, fmt.Sprint(use.name, use.count, t.filesWith(use)))
	}
	return all
}
