package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// The variables by which the app is found.
const (
	clientVariable = "VAULTWICKET_TWIN"       // the official client
	vaultVariable  = "VAULTWICKET_TWIN_VAULT" // the folder of a vault for the tests alone
	fakeVariable   = "VAULTWICKET_TWIN_FAKE"  // the embedded program: this binary then plays the app
)

// The embedded program and the fake of the app have a clock that stands still; the
// app has that of the machine.
const (
	stillClock = "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"
	stillDay   = "2026-11-21"
)

// side is one of the twins.
type side struct {
	isApp  bool
	today  func() string
	folder string
	run    func(words []string) (stdout string, status int, err error)
}

// embedded is the worker of a folder.
func embedded(t *testing.T, folder string) side {
	worker := harness.StartWorker(t, harness.Binary, folder, stillClock, "HOME="+filepath.Dir(folder))
	return side{folder: folder, today: sameDay, run: func(words []string) (string, int, error) {
		var out strings.Builder
		status := worker.Ask(words, func(part []byte) { out.Write(part) })
		return out.String(), int(status), nil
	}}
}

func app(client, folder string, env ...string) side {
	return side{isApp: true, folder: folder, today: machineDay, run: func(words []string) (string, int, error) {
		return call(client, append([]string{"vault=" + filepath.Base(folder)}, words...), env...)
	}}
}

func sameDay() string { return stillDay }

func machineDay() string { return time.Now().Format(time.DateOnly) }

// patience is for a client that hangs, not for a slow one.
const patience = 30 * time.Second

func call(program string, words []string, env ...string) (stdout string, status int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	process := exec.CommandContext(ctx, program, words...)
	process.Env = append(slices.DeleteFunc(os.Environ(), isOurs), env...)
	out, err := process.Output()
	if process.ProcessState == nil || !process.ProcessState.Exited() {
		return "", 0, err
	}
	return string(out), process.ProcessState.ExitCode(), nil
}

// isOurs reports whether a variable is for these tests: what looks like a setting
// and is none stops a program that was typed by hand.
func isOurs(variable string) bool { return strings.HasPrefix(variable, clientVariable) }

// scripts returns the steps of every script, by its name.
func scripts(t *testing.T) map[string][]step {
	t.Helper()
	names, err := filepath.Glob("twin/*.txtar")
	require.Equal(t, err, nil, "no scripts")
	require.That(t, len(names) != 0, "no scripts")
	all := map[string][]step{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if all[name], err = parse(text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

// judge runs one step and returns what is wrong with the answer, "" if nothing.
func (s side) judge(st step, today string) string {
	fill := strings.NewReplacer("⇥", "\t", "$VAULT", filepath.Base(s.folder), "$FOLDER", s.folder, "$TODAY", today)
	got, status, err := s.run(st.words)
	if err != nil {
		return err.Error()
	}
	want := fill.Replace(st.want)
	if !s.isApp {
		if status != st.status {
			return fmt.Sprintf("status %d, want %d", status, st.status)
		}
	} else if st.reason != "" {
		if st.agrees(got, want) {
			return fmt.Sprintf("marked as different, and is not any more (%s)", st.reason)
		}
		want = fill.Replace(st.app)
	}
	if !st.agrees(got, want) {
		return fmt.Sprintf("got\n%swant\n%s", got, want)
	}
	return ""
}

func (s side) runAll(t *testing.T) {
	t.Helper()
	for name, steps := range scripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			for _, st := range steps {
				today := s.today()
				problem := s.judge(st, today)
				if later := s.today(); problem != "" && later != today {
					problem = s.judge(st, later) // midnight passed between the two clocks
				}
				assert.Equal(t, problem, "", "%s:%d: %s", name, st.line, strings.Join(st.words, " "))
			}
		})
	}
}

// laid makes a folder with the fixture, as the embedded program gets it.
func laid(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "Twin")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, lay(folder, fixture(t)))
	return folder
}

func TestEmbedded(t *testing.T) { embedded(t, laid(t)).runAll(t) }

func TestApp(t *testing.T) {
	client, folder := os.Getenv(clientVariable), os.Getenv(vaultVariable)
	if client == "" {
		t.Skipf("%s names no official client: only the embedded half was run", clientVariable)
	}
	twin := app(client, folder)
	require.NoError(t, twin.ready(t))
	twin.runAll(t)
}

// ready lays the fixture, once the app itself said that the name means this
// folder, and waits until the app has seen the files.
func (s side) ready(t *testing.T) error {
	t.Helper()
	files := fixture(t)
	if _, err := unlaid(s.folder, files); err != nil {
		return fmt.Errorf("%s must name an empty vault, made for these tests and opened in the app: %w", vaultVariable, err)
	}
	where, _, err := s.run([]string{"vault", "info=path"})
	if err != nil || strings.TrimSpace(where) != s.folder {
		return fmt.Errorf("the app says that the vault %q is at %q, not at %q (%v)", filepath.Base(s.folder), strings.TrimSpace(where), s.folder, err)
	}
	if err := lay(s.folder, files); err != nil {
		return err
	}
	want, seen := fmt.Sprint(len(files)), ""
	seesAll := func() bool {
		out, _, err := s.run([]string{"files", "total"})
		seen = strings.TrimSpace(out)
		return err == nil && seen == want
	}
	if !assert.Await(patience, seesAll) {
		return fmt.Errorf("the app sees %s files of the fixture, want %s", seen, want)
	}
	return nil
}

// playApp plays the official client: it asks the embedded program, and like the
// app it always ends with status 0.
func playApp(program string) int {
	name, _ := strings.CutPrefix(os.Args[1], "vault=")
	folder := os.Getenv(vaultVariable)
	if name != filepath.Base(folder) {
		fmt.Println("Vault not found.")
		return 0
	}
	out, _, err := call(program, append([]string{"vault", folder, "--write"}, os.Args[2:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(out)
	return 0
}

// TestTheHalfOfTheAppAgainstAFake runs the other half without the app. The fake
// differs from the embedded program in nothing, so that every step passes but
// those that are marked as different, which have to fail. Of the others it takes a part.
func TestTheHalfOfTheAppAgainstAFake(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Twin")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, ".obsidian"), 0o755))
	self := require.Value(os.Executable())(t)
	twin := app(self, folder, fakeVariable+"="+harness.Binary, vaultVariable+"="+folder, stillClock)
	require.NoError(t, twin.ready(t))
	require.NoError(t, twin.ready(t)) // a second run finds its own fixture
	mine, marked := testenv.Shard(t, 8), 0
	for name, steps := range scripts(t) {
		for i, st := range steps {
			if st.reason == "" && !mine(i) {
				continue
			}
			problem := twin.judge(st, stillDay)
			differs := strings.Contains(problem, "is not any more")
			assert.Equal(t, differs, st.reason != "", "%s:%d: %q", name, st.line, problem)
			assert.That(t, problem == "" || differs, "%s:%d: %q", name, st.line, problem)
			if st.reason != "" {
				marked++
			}
		}
	}
	assert.That(t, marked != 0, "no step is marked as different: this test has lost its point")
	put(t, folder, "Diary.md", "mine")
	assert.That(t, twin.ready(t) != nil, "went on in a vault with a note of someone's")
	elsewhere := app(self, t.TempDir(), fakeVariable+"="+harness.Binary, vaultVariable+"="+folder)
	assert.That(t, elsewhere.ready(t) != nil, "went on in a vault that the app does not have at that place")
	assert.That(t, len(contents(t, elsewhere.folder)) == 0, "wrote into a folder that the app does not call a vault")
}

func TestScriptsThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "# nothing\n", "> output first\n", "$ append content=x\n", "$ daily:read\n", "$ read path='a\n",
		"$ read\n% x\n", "$ read\n= loosely\n", "$ read\n< app\n", "$ read\n? 0\n",
		"$ read path=a.md\n-- a.md --\n",
	} {
		_, err := parse([]byte(text))
		assert.That(t, err != nil, "%q was read", text)
	}
	words, err := split(`search query='two words' path='A B' total`)
	require.Equal(t, err, nil, "split: %q", words)
	assert.Equal(t, strings.Join(words, "|"), "search|query=two words|path=A B|total", "split: %q", words)
}
