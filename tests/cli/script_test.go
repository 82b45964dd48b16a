package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestScript runs the binary as a person meets it. Every script has a vault in
// $WORK/vault and a home in $WORK/home of its own; the clock stands still.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("VAULTWICKET_NOW", "2026-11-21T09:30:00+01:00")
			env.Setenv("PATH", filepath.Dir(harness.Binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json": jsonCommand, "fakeused": fakeUsed, "private": private, "snapshot": snapshot,
		},
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// jsonCommand is "json FILE PATH [WANT]": the value at a dotted path in a JSON
// file, compared as JSON text. Without WANT the path must exist; negated, it
// must not exist or not be WANT.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: json FILE PATH [WANT]")
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	if err := decoder.Decode(&value); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	for _, key := range strings.Split(args[1], ".") {
		object, ok := value.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		next, exists := object[key]
		if !exists {
			if neg {
				return
			}
			ts.Fatalf("no %q on the way to %q", key, args[1])
		}
		value = next
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	ts.Check(encoder.Encode(value))
	text := strings.TrimSuffix(got.String(), "\n")
	if len(args) == 2 {
		if neg {
			ts.Fatalf("%s is %s, want none", args[1], text)
		}
		return
	}
	if (text == args[2]) == neg {
		ts.Fatalf("%s is %s, want %s (negated: %v)", args[1], text, args[2], neg)
	}
}

// fakeUsed fails unless every call of ~/obsidian.fake was made, no more.
func fakeUsed(ts *testscript.TestScript, neg bool, args []string) {
	home := ts.Getenv("HOME")
	want := parseFake(ts.ReadFile(filepath.Join(home, "obsidian.fake")))
	called, _ := os.ReadFile(filepath.Join(home, "obsidian.called"))
	if got := strings.Count(string(called), "\n"); (got == len(want)) == neg {
		ts.Fatalf("the fake was called %d times, want %d:\n%s", got, len(want), called)
	}
}

// private is "private FILE": takes the rights of group and others away, which
// txtar files do not come without.
func private(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(os.Chmod(ts.MkAbs(name), 0o600))
	}
}

// snapshot is "snapshot save|same FOLDER": whether a folder is byte for byte
// as it was saved, names included.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: snapshot save|same FOLDER")
	}
	var lines []string
	root := ts.MkAbs(args[1])
	ts.Check(filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		content := []byte("folder")
		if entry.Type().IsRegular() {
			if content, err = os.ReadFile(name); err != nil {
				return err
			}
		}
		lines = append(lines, strings.TrimPrefix(name, root)+"\x00"+string(content))
		return nil
	}))
	slices.Sort(lines)
	state, store := strings.Join(lines, "\x01"), ts.MkAbs(".snapshot")
	if args[0] == "save" {
		ts.Check(os.WriteFile(store, []byte(state), 0o600))
		return
	}
	if (ts.ReadFile(store) == state) == neg {
		ts.Fatalf("%s changed: %v, want %v", args[1], !neg, neg)
	}
}

// TestEveryCommandHasAScript demands a script, here or in tests/app/twin, of each command that
// a folder answers.
func TestEveryCommandHasAScript(t *testing.T) {
	t.Parallel()
	run := map[string]bool{}
	for _, pattern := range []string{"script/*.txtar", "../app/twin/*.txtar"} {
		names, err := filepath.Glob(pattern)
		require.Equal(t, err, nil, "%s: %v", pattern, names)
		require.That(t, len(names) != 0, "%s: %v", pattern, names)
		for _, name := range names {
			text := require.Value(os.ReadFile(name))(t)
			for line := range strings.Lines(string(text)) {
				if step, found := strings.CutPrefix(line, "$ "); found {
					run[strings.Fields(step)[0]] = true
				} else if _, step, found := strings.Cut(line, "exec vaultwicket "); found {
					for _, word := range strings.Fields(step)[1:] { // after "run" or "vault"
						run[strings.Trim(word, `'"`)] = true
					}
				}
			}
		}
	}
	for _, command := range harness.FolderCommands() {
		assert.That(t, run[command.Name], "no script runs %s", command.Name)
	}
}
