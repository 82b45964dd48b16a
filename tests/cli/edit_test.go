//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// editing is a program whose editor, which its owner names with an argument, does what the lines of a shell script do to
// the file "$2". It returns the settings file and the lines of a script for the window.
func editing(t *testing.T, script string) (file string, setup []string) {
	t.Helper()
	r := harness.New(t, map[string]string{"Plan.md": "one\n"})
	file = r.Save()
	editor := filepath.Join(r.Home, "ed")
	testenv.WriteProgram(t, editor, []byte("#!/bin/sh\ntest -t 0 && test -t 1 && test \"$1\" = --wait || exit 9\n"+script+"\n"))
	return file, []string{setting(r, "EDITOR='"+editor+" --wait'", "VISUAL=")}
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	return string(require.Value(os.ReadFile(file))(t))
}

// What the owner has edited takes the place of the settings once nothing is wrong with it.
func TestTheSettingsAreEdited(t *testing.T) {
	t.Parallel()
	const faulty = `grep -q 'v1"' "$2" && exit 0; if grep -q 'v9"' "$2"; then sed -i 's/v9"/v1"/' "$2"; else sed -i 's/^tier = .*/tier = "v9"/' "$2"; fi`
	file, setup := editing(t, faulty)
	before := textOf(t, file)
	w := open(t, 100, append(setup, "vaultwicket config edit")...)
	shown := strings.Join(w.until("Edit it again? [Y/n]"), "\n")
	assert.Contains(t, shown, "v9", "the mistake is not shown with the file")
	assert.Contains(t, shown, file, "the mistake is not shown with the file")
	assert.Equal(t, textOf(t, file), before, "the settings while the mistake is in the copy")
	w.do("send-keys", "Enter")
	one(t, w.end(), "^"+file+"$")
	assert.Equal(t, textOf(t, file), strings.Replace(before, `tier = "v3"`, `tier = "v1"`, 1), "the settings")
	info := require.Value(os.Stat(file))(t)
	assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600), "their mode")
	left := require.Value(filepath.Glob(filepath.Join(filepath.Dir(file), ".config-*")))(t)
	assert.That(t, len(left) == 0, "copies are left: %v", left)
}

// A copy with a mistake that is given up, an editor that fails, and a copy that is not changed leave the file as it is.
func TestSettingsThatStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, keys, says string }{
		"given up":  {`sed -i 's/^tier = .*/tier = "v9"/' "$2"`, "n", "stays as it is"},
		"failed":    {"echo x >> \"$2\"; exit 3", "", "exit status 3; nothing was written"},
		"unchanged": {"true", "", "stays as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, setup := editing(t, test.script)
			before := textOf(t, file)
			w := open(t, 100, append(setup, "vaultwicket config edit")...)
			if test.keys != "" {
				w.until("Edit it again? [Y/n]")
				w.do("send-keys", test.keys, "Enter")
			}
			shown := strings.Join(strings.Fields(strings.Join(w.end(), " ")), " ") // a long line is several
			assert.Contains(t, shown, test.says)
			assert.Equal(t, textOf(t, file), before, "the settings")
		})
	}
}

// A settings file that is missing is begun as "config init" begins it, and one with mistakes can be mended.
func TestSettingsThatAreMissingOrWrong(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"missing": "", "wrong": "tier = \"v1\"\nteir = 1\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, setup := editing(t, `sed -i '/^teir/d' "$2"; echo >> "$2"`)
			require.NoError(t, os.Remove(file))
			if text != "" {
				harness.WriteFile(t, file, []byte(text))
				require.NoError(t, os.Chmod(file, 0o600))
			}
			shown := strings.Join(open(t, 100, append(setup, "vaultwicket config edit")...).end(), "\n")
			got := textOf(t, file)
			isMended := text != "" && got == "tier = \"v1\"\n\n"
			isBegun := text == "" && strings.Contains(got, "#tier = ") && strings.HasSuffix(got, "\n\n")
			assert.That(t, isMended || isBegun, "%s: %s: %s", name, shown, got)
		})
	}
}

// A file that is missing is begun where --config names it; if nothing is edited, or somebody else begins it meanwhile,
// the reason is given once.
func TestANamedFileIsBegun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, says, content string }{
		"begun":     {`echo >> "$2"`, "/new/config.toml", "#tier = "},
		"unchanged": {"true", "nothing was written to ", ""},
		"meanwhile": {`echo >> "$2"; echo '# other' > "${2%/*}/config.toml"`, "already exists", "# other\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, setup := editing(t, test.script)
			file = filepath.Join(filepath.Dir(file), "new", "config.toml")
			shown := strings.Join(open(t, 300, append(setup, "vaultwicket config edit --config '"+file+"'")...).end(), "\n")
			assert.Contains(t, shown, test.says)
			assert.That(t, !strings.Contains(shown, "write the settings file"), "%s", shown)
			got, err := os.ReadFile(file)
			assert.Equal(t, err == nil, test.content != "", "whether there is a file")
			assert.Contains(t, string(got), test.content)
			kept := require.Value(filepath.Glob(filepath.Join(filepath.Dir(file), "config-edited-*.toml")))(t)
			if name != "meanwhile" {
				assert.Equal(t, len(kept), 0, "%v", kept)
				return
			}
			require.Equal(t, len(kept), 1, "%s", shown)
			assert.Contains(t, shown, "what you wrote is in "+kept[0])
			assert.Contains(t, textOf(t, kept[0]), "#tier = ", "what was edited")
		})
	}
}

// If the settings are changed by somebody else meanwhile, what the owner wrote is kept next to them.
func TestWhatWasEditedIsKept(t *testing.T) {
	t.Parallel()
	file, setup := editing(t, `echo '# mine' >> "$2"; echo '# other' > "${2%/*}/config.toml"`)
	require.Equal(t, filepath.Base(file), "config.toml")
	before := textOf(t, file)
	shown := strings.Join(open(t, 300, append(setup, "vaultwicket config edit")...).end(), "\n")
	assert.Contains(t, shown, "was changed while you edited it")
	assert.Equal(t, textOf(t, file), "# other\n", "the settings")
	kept := require.Value(filepath.Glob(filepath.Join(filepath.Dir(file), "config-edited-*.toml")))(t)
	require.Equal(t, len(kept), 1, "%s: %v", shown, kept)
	assert.Contains(t, shown, kept[0])
	assert.Equal(t, textOf(t, kept[0]), before+"# mine\n", "what was edited")
}
