package changes

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// ofMany are the changes of many files, each of a new vault of [fillMany]; before is made first, and not interrupted.
var ofMany = []struct{ before, change []string }{
	{nil, []string{"tag:rename", "name=t", "to=u"}}, {nil, []string{"vault:replace", "old=word", "new=term"}},
	{nil, []string{"rename", "path=hub.md", "name=Hub"}},
	{nil, []string{"move", "path=hub.md", "to=Far/Away/hub.md"}}, {nil, []string{"folder:rename", "path=P", "name=Q"}},
	{nil, []string{"folder:move", "path=P", "to=Far/"}},
	{nil, []string{"folder:copy", "path=P", "to=Copy"}}, {nil, []string{"folder:delete", "path=P"}},
	{nil, []string{"note:merge", "path=hub.md", "into=long.md"}},
	{nil, []string{"note:split", "path=long.md", "level=1"}}, {nil, []string{"note:extract", "path=long.md", "heading=H3", "to=New/H3.md"}},
	{nil, []string{"property:set", "name=p", "value=5", "folder=P"}}, {[]string{"vault:replace", "old=word", "new=term"}, []string{"undo"}},
	{[]string{"folder:move", "path=P", "to=Far/"}, []string{"undo"}},
	{[]string{"folder:delete", "path=P"}, []string{"undo"}},
	{[]string{"rename", "path=hub.md", "name=Hub"}, []string{"undo"}},
}

const manyNotes = 40

func fillMany(t *testing.T, vault string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(vault))
	for n := range manyNotes {
		harness.WriteFile(t, filepath.Join(vault, "P", fmt.Sprintf("n%d.md", n)), fmt.Appendf(nil, "#t word %d\n[[hub]] [[P/n%d]]\n", n, (n+1)%manyNotes))
	}
	var sections strings.Builder
	for n := range 8 {
		fmt.Fprintf(&sections, "# H%d\nword [[hub]]\n", n)
	}
	harness.WriteFile(t, filepath.Join(vault, "long.md"), []byte(sections.String()))
	harness.WriteFile(t, filepath.Join(vault, "hub.md"), []byte("word #t\n"))
	harness.WriteFile(t, filepath.Join(vault, ".obsidian", "app.json"), []byte(`{"alwaysUpdateLinks":true,"trashOption":"local"}`))
}

// everything is all that is in a vault, but the trash: the texts of files, and "" for folders.
//
// Folders whose paths are in leftOut are not looked at: others may write to them meanwhile.
func everything(t *testing.T, vault string, leftOut ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(vault, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(vault, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".trash" || slices.Contains(leftOut, name)):
			return filepath.SkipDir
		case d.IsDir():
			all[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	require.NoError(t, err)
	return all
}

// manyGateway is a gateway that makes every change of one vault without a question.
func manyGateway(t *testing.T, folder string, timeout time.Duration) (g *gateway.Gateway, end func()) {
	t.Helper()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(folder, "state"),
		"XDG_CACHE_HOME": filepath.Join(folder, "cache"), "VAULTWICKET_NOW": "2026-11-21T09:30:00+01:00"}
	getenv := func(name string) string { return env[name] }
	runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: harness.Binary, Resident: true, Timeout: timeout, Getenv: getenv})
	return gateway.New(gateway.Config{
		Policy: policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever, Secrets: policy.SecretsAllow, MinVersion: tiers.DefaultMinimum},
		Vault:  gateway.Vault{Folder: filepath.Join(folder, "Vault")}, Runner: runner, Backend: gateway.Embedded, Session: "many", Getenv: getenv,
	}), runner.Close
}

// A change of many files is interrupted at any moment: its worker is killed, its time is over, it is cancelled, another program
// appends to one of the notes. After the next call every note is as it was or as it was to be, all of them alike, nothing else
// is left, and the answer is true of that.
func TestAChangeOfManyIsWholeHoweverItEnds(t *testing.T) {
	tries := testenv.Count(96, 640)
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		tries = n
	}
	if testing.Short() {
		tries = 16
	}
	random := rand.New(rand.NewPCG(4, 5))
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	old, done := make([]map[string]string, len(ofMany)), make([]map[string]string, len(ofMany))
	took := make([]time.Duration, len(ofMany))
	for i, kind := range ofMany {
		fillMany(t, vault)
		g, end := manyGateway(t, folder, 0)
		if kind.before != nil {
			must(t, g, kind.before)
		}
		old[i] = everything(t, vault)
		begun := time.Now()
		must(t, g, kind.change)
		took[i] = time.Since(begun)
		done[i] = everything(t, vault)
		end()
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "state")))
	}
	counts := map[string]int{}
	for n := range tries {
		i := n % len(ofMany)
		way := []string{"kill", "time", "cancel", "append"}[(n/len(ofMany))%4]
		moment := time.Duration(random.Int64N(int64(took[i]) + 1))
		timeout := time.Duration(0)
		fillMany(t, vault)
		first, end := manyGateway(t, folder, 0)
		if ofMany[i].before != nil {
			must(t, first, ofMany[i].before)
		}
		must(t, first, []string{"version"}) // so that there is a worker
		g := first
		if way == "time" {
			end()
			timeout = moment + time.Millisecond
			g, end = manyGateway(t, folder, timeout)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan gateway.Result, 1)
		go func() { ended <- g.Do(ctx, gateway.Request{Command: ofMany[i].change[0], Words: ofMany[i].change[1:]}) }()
		foreign := ""
		switch way {
		case "kill":
			time.Sleep(moment) // a random one of the change
			for _, pid := range harness.WorkersOf(t, os.Getpid()) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		case "cancel":
			time.Sleep(moment) // a random one of the change
			cancel()
		case "append":
			time.Sleep(moment) // a random one of the change
			foreign = fmt.Sprintf("n%d.md", random.IntN(manyNotes))
			appendForeign(vault, foreign)
		}
		result := <-ended
		cancel()
		next, endNext := manyGateway(t, folder, 0)
		must(t, next, []string{"files", "total"})
		outcome := "ok"
		if !result.OK {
			outcome = result.Error.Code
		}
		counts[way+" "+outcome]++
		when := fmt.Sprintf("%d: %q, %s after %v: %s (%v)", n, ofMany[i].change, way, moment, outcome, result.Error)
		judgeWhole(t, when, everything(t, vault), old[i], done[i], outcome, foreign)
		end()
		endNext()
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "state")))
	}
	t.Logf("%d tries: %v", tries, counts)
}

func must(t *testing.T, g *gateway.Gateway, words []string) {
	t.Helper()
	result := g.Do(t.Context(), gateway.Request{Command: words[0], Words: words[1:]})
	require.That(t, result.OK, "%q: %+v", words, result.Error)
}

const foreignLine = "of another program\n"

// appendForeign appends to a note, wherever it is at this moment.
func appendForeign(vault, name string) {
	found, _ := filepath.Glob(filepath.Join(vault, "*", name))
	deeper, _ := filepath.Glob(filepath.Join(vault, "*", "*", name))
	for _, path := range append(found, deeper...) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, _ = file.WriteString(foreignLine)
		file.Close()
		return
	}
}

// judgeWhole compares what is in a vault with what may be there after a call that ended so.
func judgeWhole(t *testing.T, when string, now, old, done map[string]string, outcome, foreign string) {
	t.Helper()
	want := []map[string]string{old}
	switch outcome {
	case "ok":
		want = []map[string]string{done}
	case failure.CodePartlyApplied:
		require.That(t, foreign != "", "%s, and no other program wrote anything", when)
		return
	case failure.CodeUnknown:
		t.Errorf("%s: the outcome is unknown", when)
	}
	differences := []string{}
	for _, tree := range want {
		differences = differ(now, tree, foreign)
		if len(differences) == 0 {
			return
		}
	}
	assert.That(t, false, "%s: there are %d differences: %.600q", when, len(differences), differences)
}

// differ lists the paths whose texts differ. A note of another program may have its line at its end.
func differ(now, want map[string]string, foreign string) (paths []string) {
	for path, text := range now {
		wanted, there := want[path]
		if foreign != "" && filepath.Base(path) == foreign {
			text = strings.TrimSuffix(text, foreignLine)
		}
		if !there || text != wanted {
			paths = append(paths, "+"+path)
		}
	}
	for path := range want {
		if _, there := now[path]; !there {
			paths = append(paths, "-"+path)
		}
	}
	slices.Sort(paths)
	return paths
}

// A batch that is atomic is interrupted at any moment, or one of its operations fails. It is made as a whole or not at all, beside
// another gateway that changes other notes.
func TestABatchIsWholeHoweverItEnds(t *testing.T) {
	tries := testenv.Count(24, 200)
	if testing.Short() {
		tries = 6
	}
	random := rand.New(rand.NewPCG(6, 7))
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	operations := []gateway.Operation{
		harness.Operation("a", "append", "path=P/n1.md", "content=added"),
		harness.Operation("b", "vault:replace", "old=word", "new=term"),
		harness.Operation("c", "rename", "path=hub.md", "name=Hub"),
		harness.Operation("d", "delete", "path=P/n2.md"), harness.Operation("e", "create", "path=New/Deep/x.md", "content=x"),
	}
	failing := append(slices.Clone(operations), harness.Operation("f", "append", "path=missing.md", "content=x"))
	run := func(g *gateway.Gateway, all []gateway.Operation) gateway.BatchResult {
		return g.DoBatch(t.Context(), gateway.Batch{Operations: all, Atomic: true})
	}
	fillMany(t, vault)
	old := everything(t, vault)
	g, end := manyGateway(t, folder, 0)
	begun := time.Now()
	whole := run(g, operations)
	took := time.Since(begun)
	require.That(t, whole.OK, "%+v", whole)
	done := everything(t, vault)
	end()
	counts := map[string]int{}
	for n := range tries {
		fillMany(t, vault)
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "state")))
		first, end := manyGateway(t, folder, 0)
		must(t, first, []string{"version"})
		other, endOther := manyGateway(t, folder, 0)
		ended, written := make(chan gateway.BatchResult, 1), make(chan bool, 1)
		go func() {
			result := other.Do(t.Context(), gateway.Request{Command: "create", Words: []string{"path=other.md", "content=other"}})
			written <- result.OK
		}()
		kind, all := "kill", operations
		if n%3 == 0 {
			kind, all = "failure", failing
		}
		go func() { ended <- run(first, all) }()
		if kind == "kill" {
			// The kill comes at a random moment of the operations.
			time.Sleep(time.Duration(random.Int64N(int64(took))))
			if n%3 == 1 { // as if the gateway had died: nobody takes anything back
				kind = "end"
				end()
			}
			for _, pid := range harness.WorkersOf(t, os.Getpid()) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		result := <-ended
		<-written
		next, endNext := manyGateway(t, folder, 0)
		must(t, next, []string{"files", "total"})
		now := everything(t, vault)
		delete(now, "other.md")
		want, outcome := old, "not made"
		saysNothing := result.Error != nil && result.Error.Code != failure.CodeNotApplied && result.Summary.Undone == 0
		switch {
		case result.OK:
			want, outcome = done, "made"
		case kind == "end" && saysNothing:
			// The gateway has ended and does not say what became of it: the next one has settled it, as a whole.
			outcome = "not told"
			if len(differ(now, old, "")) > 0 {
				want = done
			}
		}
		counts[kind+" "+outcome]++
		differences := differ(now, want, "")
		assert.That(t, len(differences) == 0, "%d, %s, %s: %+v\nthere are %d differences: %.500q", n, kind, outcome,
			result.Summary, len(differences), differences)
		end()
		endOther()
		endNext()
	}
	t.Logf("%d tries: %v", tries, counts)
}
