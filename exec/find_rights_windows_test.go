package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rights"
)

// A program is not started if another user can change it, or can put another in its place.
func TestTheWayToAProgramBelongsToTheUser(t *testing.T) {
	for _, tt := range []struct {
		name            string
		top, dir, other string // entries of the folder around, the one of the program, and the program
		want            string
	}{
		{"of the user alone", "", "", "", ""},
		{"that everybody can read and start", "(A;OICI;FRFX;;;WD)", "(A;OICI;FRFX;;;WD)", "(A;;FRFX;;;WD)", ""},
		{"that everybody can write", "", "", "(A;;0x1301bf;;;WD)", "can be changed by"},
		{"in a folder in which everybody can make files", "", "(A;;0x1301bf;;;WD)", "", `can be changed by`},
		{"below a folder that everybody can change", "(A;;FA;;;WD)", "", "", `can be changed by`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "top")
			program := installed(t, filepath.Join(top, "Obsidian"))
			rights.Allow(t, program, tt.other)
			rights.Allow(t, filepath.Dir(program), tt.dir)
			rights.Allow(t, top, tt.top)
			p, err := New(Config{CLI: program}).App()
			switch {
			case tt.want == "" && (err != nil || !strings.EqualFold(p.Path(), program)):
				t.Errorf("%q, %v", p.Path(), err)
			case tt.want != "" && (codeOf(err) != CodeUnsuitable || !strings.Contains(err.Error(), tt.want) || hintOf(err) == ""):
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
}

// A program that others get rights to after it was found is not started.
func TestAProgramThatOthersCanChangeSince(t *testing.T) {
	program := installed(t, filepath.Join(t.TempDir(), "Obsidian"))
	r := New(Config{CLI: program})
	p, err := r.App()
	require.NoError(t, err)
	rights.Allow(t, program, "(A;;FA;;;WD)")
	require.NoError(t, os.WriteFile(program, []byte("MZ2"), 0o600))
	assert.Equal(t, codeOf(r.recheck(p)), CodeUnsuitable)
}
