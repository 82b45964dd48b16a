package commands

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
	"vaultwicket/tests/require"
)

// A table that follows changes is the one that is made from nothing: also of tags whose
// casings take turns, and of tags that come and go.
func TestATableOfTagsThatFollowsIsTheOneMadeFromNothing(t *testing.T) {
	dir := t.TempDir()
	folder, err := disk.Open(dir)
	require.NoError(t, err)
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
		require.NoError(t, err)
	}
	var made followed
	most := 0
	for round := range 300 {
		for range random.IntN(3) {
			change()
		}
		made.look(t, folder)
		got, want := usesOf(made.table), usesOf(newTagTable(made.last.Files))
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
	require.NoError(t, err)
	var made followed
	for round := range 9 {
		text := []byte{}
		for i := range maxUnused {
			text = fmt.Appendf(text, "#tag%d-%d\n", round, i)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Note.md"), text, 0o600))
		made.look(t, folder)
		if uses, kept := len(made.table.uses), len(made.table.spellings.names); uses != maxUnused || kept > 4*maxUnused {
			t.Errorf("round %d: %d tags, %d spellings", round, uses, kept)
		}
	}
}

// followed is a table that has followed all looks at a folder.
type followed struct {
	table *tagTable
	last  *index.Index
}

func (f *followed) look(t *testing.T, folder *disk.Folder) {
	t.Helper()
	x, err := index.Build(folder, f.last, index.Forgetful{}, time.Time{}, nil)
	require.NoError(t, err)
	if f.table == nil {
		f.table = newTagTable(x.Files)
	} else {
		f.table = f.table.follow(f.last.Files, x.Files)
	}
	f.last = x
}

func usesOf(t *tagTable) (all []string) {
	for _, use := range t.uses {
		all = append(all, fmt.Sprint(use.name, use.count, t.filesWith(use)))
	}
	return all
}
