package process

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// mostOverIndex is how much memory a worker takes for a change over what it has for the index, in KiB.
const mostOverIndex = 256 << 10

// hostileChange is a change that takes as much as one call can ask for, in a vault of its own.
type hostileChange struct {
	name  string
	fill  func(t *testing.T, vault string)
	words []string
	// shows says that the change is only shown, and none says that it is not undone.
	shows bool
}

func many(n int, text func(i int) string) func(t *testing.T, vault string) {
	return func(t *testing.T, vault string) {
		for i := range n {
			harness.WriteFile(t, filepath.Join(vault, "P", strconv.Itoa(i%100), fmt.Sprintf("n%d.md", i)), []byte(text(i)))
		}
	}
}

func one(name string, text func() string) func(t *testing.T, vault string) {
	return func(t *testing.T, vault string) { harness.WriteFile(t, filepath.Join(vault, name), []byte(text())) }
}

func thousandBytes(i int) string {
	return fmt.Sprintf("# Note %d\n", i) + strings.Repeat("A line of a note, of which there are many.\n", 23)
}

func linked(i int) string {
	return fmt.Sprintf("word %d [[n%d]] [n](/P/%d/n%d.md)\n", i, i+1, (i+1)%100, i+1)
}

func cards(n int) string {
	var board strings.Builder
	board.WriteString(`{"nodes":[`)
	for i := range n {
		if i > 0 {
			board.WriteByte(',')
		}
		fmt.Fprintf(&board, `{"id":"c%d","type":"text","text":"card %d","x":%d,"y":0,"width":100,"height":60}`, i, i, i)
	}
	board.WriteString(`],"edges":[]}`)
	return board.String()
}

var hostileChanges = []hostileChange{
	{name: "move to 30,000 links in a line", words: []string{"move", "path=t.md", "to=Far/u.md"}, fill: func(t *testing.T, vault string) {
		one("t.md", func() string { return "target\n" })(t, vault)
		one("links.md", func() string { return strings.Repeat("[[t]] ", 30_000) + "\n" })(t, vault)
	}},
	{name: "canvas:remove in 60,000 cards", words: []string{"canvas:remove", "path=b.canvas", "id=c30000"},
		fill: one("b.canvas", func() string { return cards(60_000) })},
	{name: "append to a line of 30 MB", words: []string{"append", "path=l.md", "content=more"},
		fill: one("l.md", func() string { return strings.Repeat("a line without an end ", 30_000_000/22) })},
	{name: "append to lines of 30 MB", words: []string{"append", "path=l.md", "content=more"}, fill: one("l.md", func() string { return prose(30) })},
	{name: "folder:delete of 40,000", words: []string{"folder:delete", "path=P"}, fill: many(40_000, thousandBytes)},
	{name: "folder:rename of 40,000", words: []string{"folder:rename", "path=P", "name=Q"}, fill: many(40_000, thousandBytes)},
	{name: "folder:rename of 40,000 with links", words: []string{"folder:rename", "path=P", "name=Q"}, fill: many(40_000, linked)},
	{name: "vault:replace in 40,000", words: []string{"vault:replace", "old=word", "new=term"}, fill: many(40_000, linked)},
	{name: "property:set in 40,000", words: []string{"property:set", "name=p", "value=5", "folder=P"}, fill: many(40_000, linked)},
	{name: "folder:delete of 100,000 shown", shows: true, words: []string{"folder:delete", "path=P"}, fill: many(100_000, thousandBytes)},
	{name: "folder:delete of 100,000", words: []string{"folder:delete", "path=P"}, fill: many(100_000, thousandBytes)},
	{name: "folder:rename of 100,000", words: []string{"folder:rename", "path=P", "name=Q"}, fill: many(100_000, thousandBytes)},
}

// hostileVariable names a part of the names of the changes that are measured, in place of all.
const hostileVariable = "HOSTILE"

// TestOthersBesideHostileChanges makes changes that take as much as a call can ask for, and undoes them, while another caller appends
// to a note and a third one reads one. It prints how long they wait, and what the worker takes. The memory is bounded; times are
// those of the machine.
func TestOthersBesideHostileChanges(t *testing.T) {
	testenv.OnlyLong(t)
	t.Logf("%-42s %8s %8s %9s   %-26s %-26s %s", "change", "took", "cpu", "MiB", "append p50/p99/worst", "read p50/p99/worst", "outcome")
	for _, change := range hostileChanges {
		if !strings.Contains(change.name, os.Getenv(hostileVariable)) {
			continue
		}
		folder := testenv.MemoryFolder(t)
		vault := filepath.Join(folder, "Vault")
		change.fill(t, vault)
		harness.WriteFile(t, filepath.Join(vault, "other.md"), []byte("other\n"))
		harness.WriteFile(t, filepath.Join(vault, ".obsidian", "app.json"), []byte(`{"alwaysUpdateLinks":true,"trashOption":"local"}`))
		h := openHostile(t, folder)
		h.measure(change.name, change.words, change.shows)
		if !change.shows {
			h.measure("  undo", []string{"undo", "id=" + h.made}, false)
		}
		h.end()
		require.NoError(t, os.RemoveAll(vault))
	}
}

// hostile is a gateway whose worker has indexed the vault.
type hostile struct {
	t       *testing.T
	vault   string
	gateway *gateway.Gateway
	end     func()
	made    string // the last change
}

func openHostile(t *testing.T, folder string) *hostile {
	t.Helper()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(folder, "state"), "XDG_CACHE_HOME": filepath.Join(folder, "cache")}
	getenv := func(name string) string { return env[name] }
	runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: harness.Binary, Resident: true, Timeout: 55 * time.Second, Getenv: getenv})
	h := &hostile{t: t, vault: filepath.Join(folder, "Vault"), end: runner.Close}
	h.gateway = gateway.New(gateway.Config{
		Policy: policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever, Secrets: policy.SecretsAllow, MinVersion: tiers.DefaultMinimum},
		Vault:  gateway.Vault{Folder: h.vault}, Runner: runner, Backend: gateway.Embedded, Session: "hostile", Getenv: getenv,
	})
	for _, words := range [][]string{{"orphans", "total"}, {"search", "query=zebra", "total"}, {"append", "path=other.md", "content=first"}} {
		got := h.do("setup", words)
		require.That(t, got.OK, "%q: %+v", words, got.Error)
	}
	return h
}

func (h *hostile) do(caller string, words []string) gateway.Result {
	return h.gateway.Do(h.t.Context(), gateway.Request{Command: words[0], Words: words[1:], Caller: caller})
}

// measure makes a change, and prints what others notice of it.
func (h *hostile) measure(name string, words []string, shows bool) {
	t := h.t
	worker := harness.WorkersOf(t, os.Getpid())
	require.That(t, len(worker) == 1, "%d workers", len(worker))
	pid := worker[0]
	time.Sleep(3 * time.Second) // the worker gives memory back
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
	before := harness.StatusKiB(t, pid, "RssAnon")
	cpu := processorTime(t, pid)
	stop := make(chan struct{})
	var others sync.WaitGroup
	took := [2][]time.Duration{}
	for i, words := range [][]string{{"append", "path=other.md", "content=x"}, {"read", "path=other.md"}} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				begun := time.Now()
				got := h.do(fmt.Sprint("other", i), words)
				took[i] = append(took[i], time.Since(begun))
				assert.That(t, got.OK, "beside %s: %q: %+v", name, words, got.Error)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // the others are at work before it begins
	begun := time.Now()
	outcome := ""
	if shows {
		plan := h.gateway.DryRun(t.Context(), gateway.Request{Command: words[0], Words: words[1:], Caller: "hostile"})
		text, _ := json.Marshal(plan)
		outcome = fmt.Sprintf("shown in %d KiB", len(text)>>10)
		if plan.Error != nil {
			outcome = plan.Error.Error()
		}
	} else {
		got := h.do("hostile", words)
		outcome = "ok"
		if !got.OK {
			outcome = fmt.Sprintf("%s: %.200s", got.Error.Code, got.Error.Message)
		}
		if got.Change != nil {
			h.made = got.Change.ID
		}
	}
	lasted := time.Since(begun)
	close(stop)
	others.Wait()
	peak := harness.StatusKiB(t, pid, "VmHWM") - harness.StatusKiB(t, pid, "RssFile") - harness.StatusKiB(t, pid, "RssShmem")
	over := peak - before
	t.Logf("%-42s %8v %8v %9d   %-26s %-26s %s", name, lasted.Round(time.Millisecond),
		(processorTime(t, pid) - cpu).Round(10*time.Millisecond), over>>10, waits(took[0]), waits(took[1]), outcome)
	assert.That(t, over <= mostOverIndex, "%s: the worker had %d KiB over its index", name, over)
}

// waits are the median, the 99th percentile and the longest of some times, in milliseconds.
func waits(took []time.Duration) string {
	if len(took) == 0 {
		return "-"
	}
	slices.Sort(took)
	at := func(i int) int64 { return took[i].Milliseconds() }
	return fmt.Sprintf("%d/%d/%d ms of %d", at(len(took)/2), at(len(took)*99/100), at(len(took)-1), len(took))
}

// processorTime is how long a process has run, with all its threads.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text := require.Value(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
