package bases

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// leastCorpus is how many bases the corpus has at least, so that files that are
// not found are no success.
const leastCorpus = 60

// The corpus has bases as people write them, over one vault. What a base prints is
// in the files named after it: "name.csv" of its first view, "name.View.csv" of another.
func TestCorpus(t *testing.T) {
	vaultText, err := txtar.ParseFile(filepath.Join("testdata", "corpus.txtar"))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range vaultText.Files {
		files[f.Name] = string(f.Data)
	}
	v := newVault(t, files, "Bases/Q.base")
	themes, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txtar"))
	require.NoError(t, err)
	bases := 0
	for _, theme := range themes {
		archive, err := txtar.ParseFile(theme)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(theme), ".txtar"), func(t *testing.T) { bases += checkBases(t, v, archive) })
	}
	assert.That(t, bases >= leastCorpus, "the corpus has %d bases, want at least %d", bases, leastCorpus)
}

// checkBases answers the bases of an archive and returns how many there are.
func checkBases(t *testing.T, v *Vault, archive *txtar.Archive) (bases int) {
	t.Helper()
	var name string
	var base *Base
	answers := 0
	for _, f := range archive.Files {
		if own, ok := strings.CutSuffix(f.Name, ".base"); ok {
			var err error
			if base, err = Read(f.Data); err != nil {
				t.Fatalf("%s: %v", own, err)
			}
			if bases > 0 && answers == 0 {
				t.Errorf("%s: nothing says what it prints", name)
			}
			name, answers = own, 0
			bases++
			continue
		}
		shown, format := "", strings.TrimPrefix(f.Name, name+".")
		if i := strings.LastIndexByte(format, '.'); i >= 0 {
			shown, format = format[:i], format[i+1:]
		}
		table, err := base.Run(context.Background(), v.Source(), Query{View: shown})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if got, want := table.Print(format), strings.TrimSuffix(string(f.Data), "\n"); got != want {
			t.Errorf("%s prints\n%s\nwant\n%s", f.Name, got, want)
		}
		answers++
	}
	return bases
}
