package bench

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/ui"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// usedFor is a vault with its state after so many changes: a journal and an audit log.
type usedFor struct {
	vault, state string
	gateway      *gateway.Gateway
}

const (
	entryText  = 1200 // bytes of the text that an entry of the journal keeps: a hundred thousand take most of its 256 MiB
	auditLines = 2    // for each change
)

// used fills a journal and an audit log with so many changes of twenty agents.
func used(b *testing.B, changes int) usedFor {
	b.Helper()
	home := b.TempDir()
	u := usedFor{vault: filepath.Join(home, "Vault"), state: filepath.Join(home, "state")}
	require.NoError(b, os.Mkdir(u.vault, 0o755))
	write(b, filepath.Join(u.vault, "Log.md"), []byte("# Log\n"))
	env := map[string]string{"XDG_STATE_HOME": u.state, "XDG_CACHE_HOME": filepath.Join(home, "cache")}
	getenv := func(name string) string { return env[name] }
	runner := exec.New(exec.Config{CLI: "/nowhere/obsidian", Self: program(b, "vaultwicket"), Resident: true, Getenv: getenv})
	b.Cleanup(runner.Close)
	u.gateway = gateway.New(gateway.Config{
		Policy: policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever, Secrets: policy.SecretsAllow, MinVersion: tiers.DefaultMinimum},
		Vault:  gateway.Vault{Folder: u.vault}, Runner: runner, Backend: gateway.Embedded, Session: "bench", Getenv: getenv,
	})
	kept := require.Value(u.gateway.Journal(""))(b)
	noise := make([]byte, 64*entryText)
	random := rand.NewChaCha8([32]byte{46})
	_, _ = random.Read(noise)
	var lines []audit.Line
	for i := range changes {
		from := i * 37 % (len(noise) - entryText)
		text := append([]byte(fmt.Sprintln(i)), noise[from:from+entryText]...)
		now := time.Now()
		e := journal.Entry{
			ID: journal.NewID(now), Time: now.UTC(), Command: "append", Params: []string{"path", "content"}, Backend: "embedded",
			Session: fmt.Sprint("s", i%20), Caller: ownerfiles.CallerOf(fmt.Sprint("agent", i%20), "session"), Count: 1,
			Steps: []journal.Step{{Path: fmt.Sprintf("Folder/Note %d.md", i%100), Before: journal.ImageOf(text), After: journal.ImageOf(fmt.Append(nil, i))}},
		}
		require.NoError(b, kept.Begin(e, func(journal.Step) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }))
		require.NoError(b, kept.End(e.ID, journal.Outcome{State: journal.Done}))
		line := audit.Line{Kind: "decision", Decision: "allow", Time: now, Call: fmt.Sprint("call-", i),
			Session: e.Session, Command: "search", Effect: "read", Surface: "mcp"}
		ended := line
		ended.Kind, ended.Decision, ended.Backend = "end", "", "embedded"
		lines = append(lines, line, ended)
		if len(lines) >= 1000*auditLines || i == changes-1 {
			require.NoError(b, audit.Open(u.log(), audit.Limits{}).WriteAll(audit.Buffered, lines...))
			lines = nil
		}
	}
	return u
}

func (u usedFor) log() string {
	return audit.CallsFolder(ownerfiles.StateFolder(func(string) string { return u.state }, ""))
}

// do makes a call of one agent.
func (u usedFor) do(b *testing.B, words ...string) {
	result := u.gateway.Do(b.Context(), gateway.Request{Command: words[0], Words: words[1:], Caller: "bench"})
	require.That(b, result.OK, "%q: %+v", words, result.Error)
}

// failBatch has the last of ten operations of an atomic batch fail.
func (u usedFor) failBatch(b *testing.B) {
	batch := gateway.Batch{Atomic: true}
	batch.Caller = "bench"
	for i := range 10 {
		words := []string{"path=Log.md", "content=batch"}
		command := "append"
		if i == 9 {
			command, words = "read", []string{"path=gone.md"}
		}
		batch.Operations = append(batch.Operations, gateway.Operation{ClientID: fmt.Sprint("c", i), Request: gateway.Request{Command: command, Words: words}})
	}
	result := u.gateway.DoBatch(b.Context(), batch)
	require.That(b, result.Summary.Undone == 9, "%+v %+v", result.Summary, result.Error)
}

// BenchmarkJournalLengthLarge measures what depends on how long a vault was used, through the gateway and its worker:
// after a hundred thousand changes against after a thousand. It makes a journal of 220 MiB.
func BenchmarkJournalLengthLarge(b *testing.B) {
	short, long := used(b, 1_000), used(b, 100_000)
	for _, u := range []usedFor{short, long} { // so that the indexes are there
		u.do(b, "append", "path=Log.md", "content=first")
		u.do(b, "undo:list")
	}
	asked := []struct {
		name string
		ask  func(u usedFor)
	}{
		{"append", func(u usedFor) { u.do(b, "append", "path=Log.md", "content=x") }},
		{"undo", func(u usedFor) { u.do(b, "undo") }},
		{"changes", func(u usedFor) { u.do(b, "changes", "limit=5") }},
		{"undo-list", func(u usedFor) { u.do(b, "undo:list") }},
		{"history-list", func(u usedFor) { u.do(b, "history:list") }},
		{"failing-batch", func(u usedFor) { u.failBatch(b) }},
		{"server", func(u usedFor) {
			b.Setenv("XDG_STATE_HOME", u.state)
			serve(b, "--backend=embedded", "--vault="+u.vault).stop()
		}},
		{"log-of-the-page", func(u usedFor) {
			calls := ui.OpenCallLog(ownerfiles.StateFolder(func(string) string { return u.state }, ""))
			read, err := calls.Update()
			require.Equal(b, err, nil, "%d lines", read)
			require.That(b, read > 0, "%d lines", read)
		}},
	}
	both := []usedFor{long, short}
	took := make([][2][]time.Duration, len(asked))
	for round := 0; b.Loop(); round++ {
		for q, one := range asked {
			for turn := range both { // in turn, so that what the machine does beside it is in both
				i := (turn + round) % len(both)
				took[q][i] = append(took[q][i], timed(func() { one.ask(both[i]) }))
			}
		}
	}
	for q, one := range asked {
		against(b, one.name, took[q][0], one.name+"-short", took[q][1])
	}
}
