package paths

import (
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/tests/folding"
)

// A place within the vault is one in every spelling of the two.
func TestAnotherSpellingOfTheVaultIsTheVault(t *testing.T) {
	dir := folding.Dir(t, folding.APFS)
	vault := filepath.Join(dir, "Home")
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		vault, place string
		within       bool
	}{
		{"Home", "Home/State", true}, {"Home", "HOME/State", true}, {"hOME", "Home/a/b/c", true}, {"HOME", "home", true},
		{"Home", "Other/State", false}, {"Home", "Home2", false},
	} {
		place := filepath.Join(dir, filepath.FromSlash(test.place))
		env := func(name string) string {
			if name == "XDG_STATE_HOME" {
				return place
			}
			return ""
		}
		if got := State(env, filepath.Join(dir, test.vault)); (got == "") != test.within {
			t.Errorf("the state of %s in %s is kept in %q", test.vault, test.place, got)
		}
	}
}
