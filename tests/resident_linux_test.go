package tests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/exec"
	"vaultwicket/policy"
	"vaultwicket/tiers"
)

// runnerOf returns a Runner of the built program, and the program for a folder.
func runnerOf(t *testing.T, folder string, resident bool) (*exec.Runner, exec.Program) {
	t.Helper()
	r := exec.New(exec.Config{Self: binary, Resident: resident})
	t.Cleanup(r.Close)
	p, err := r.Embedded(folder)
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

func permitFor(t *testing.T, name string, params map[string]string) policy.Permit {
	t.Helper()
	given := allowlist.Params{}
	for key, value := range params {
		given[key] = allowlist.Text(value)
	}
	call, err := allowlist.Parse(name, given)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := policy.Policy{Ceiling: tiers.V3, Mutations: true, UI: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum}.Decide(call).Permit()
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

func sampleVault(t *testing.T) string {
	t.Helper()
	vault := filepath.Join(t.TempDir(), "Vault")
	for name, text := range map[string]string{"Tides.md": "Two a day.\n", "One/only.md": "\xff\x00", "Long.md": strings.Repeat("line\n", 1<<16)} {
		writeFile(t, filepath.Join(vault, name), []byte(text))
	}
	return vault
}

// The two ways to run the embedded program differ in their time alone.
func TestResidentOutcomesAreThoseOfOneShots(t *testing.T) {
	t.Parallel()
	vault := sampleVault(t)
	alone, p := runnerOf(t, vault, false)
	shared, _ := runnerOf(t, vault, true)
	for _, c := range []struct {
		name   string
		params map[string]string
	}{
		{"version", nil}, {"help", nil}, {"files", nil}, {"folders", nil}, {"read", map[string]string{"path": "Tides.md"}},
		{"read", map[string]string{"path": "One/only.md"}}, {"read", map[string]string{"path": "Long.md"}}, {"read", map[string]string{"path": "no.md"}},
		{"read", map[string]string{"file": "tides"}}, {"random:read", map[string]string{"folder": "One"}}, {"daily:read", nil}, {"search", map[string]string{"query": "two"}},
		{"folder", map[string]string{"path": "none"}}, {"file", map[string]string{"path": "Tides.md"}},
	} {
		permit := permitFor(t, c.name, c.params)
		want, wantErr := alone.Run(t.Context(), permit, p)
		got, gotErr := shared.Run(t.Context(), permit, p)
		got.Duration, want.Duration = 0, 0
		if a, b := fmt.Sprintf("%+v %v %v", want, want.Failure, wantErr), fmt.Sprintf("%+v %v %v", got, got.Failure, gotErr); strip(a) != strip(b) {
			t.Errorf("%s %v:\none-shot %.400s\nresident %.400s", c.name, c.params, a, b)
		}
	}
}

// strip takes the address of a failure out of a printed outcome.
func strip(s string) string {
	start := strings.Index(s, " Failure:")
	if start < 0 {
		return s
	}
	end := strings.IndexByte(s[start:], '}')
	return s[:start] + s[start+end:]
}

func TestAVaultIsReplacedWhileItsWorkerLives(t *testing.T) {
	t.Parallel()
	vault := sampleVault(t)
	r, p := runnerOf(t, vault, true)
	listing := func() string {
		out, err := r.Run(t.Context(), permitFor(t, "files", nil), p)
		if err != nil {
			return err.Error()
		}
		return out.Stdout
	}
	if got := listing(); !strings.Contains(got, "Tides.md") {
		t.Fatal(got)
	}
	if err := os.Rename(vault, vault+"2"); err != nil {
		t.Fatal(err)
	}
	if got := listing(); !strings.Contains(got, "does not know the vault") {
		t.Errorf("without its folder: %s", got)
	}
	writeFile(t, filepath.Join(vault, "new.md"), nil)
	if got := listing(); got != "new.md\n" {
		t.Errorf("with another folder: %s", got)
	}
	if err := os.RemoveAll(vault); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(vault+"2", vault); err != nil {
		t.Fatal(err)
	}
	if got := listing(); !strings.Contains(got, "Tides.md") {
		t.Errorf("with the first folder again: %s", got)
	}
}

// peak returns the largest resident memory of a process so far, in MiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, _ := strconv.Atoi(fields[1])
			return kib >> 10
		}
	}
	return 0
}

func TestALongNoteIsStreamed(t *testing.T) {
	t.Parallel()
	vault := sampleVault(t)
	note := bytes.Repeat([]byte("0123456789abcde\n"), 20<<20/16)
	writeFile(t, filepath.Join(vault, "Long.md"), note)
	s := serveOn(t, vault, "--tier=v1")
	s.read(t)
	for id := 2; id < 12; id++ {
		s.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"read","params":{"path":"Long.md"}}}}`, id))
		result := s.read(t)["result"].(map[string]any)["structuredContent"].(map[string]any)
		cut, ok := result["truncated"].(map[string]any)
		if !ok || cut["totalBytes"] != float64(len(note)) {
			t.Fatalf("truncated %v, %v", result["truncated"], result["error"])
		}
	}
	worker := workersOf(t, s.process.Process.Pid)
	if len(worker) != 1 {
		t.Fatalf("%d workers", len(worker))
	}
	if mib := peak(t, worker[0]); mib > 32 {
		t.Errorf("the worker took %d MiB for a note of 20", mib)
	}
	t.Logf("worker %d MiB, gateway %d MiB at most", peak(t, worker[0]), peak(t, s.process.Process.Pid))
}

// workersOf returns the children of a process.
func workersOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// serveOn starts a server on a vault, with the first answer still to be read.
func serveOn(t *testing.T, vault string, flags ...string) *liveServer {
	t.Helper()
	s := startServer(t, append([]string{"--backend=embedded", "--vault=" + vault}, flags...)...)
	s.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	return s
}

// serveResident starts a server whose worker lives, and returns that.
func serveResident(t *testing.T) (s *liveServer, worker int) {
	t.Helper()
	s = serveOn(t, sampleVault(t))
	s.read(t)
	s.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"random:read"}}}`)
	s.read(t)
	pids := workersOf(t, s.process.Process.Pid)
	if len(pids) != 1 {
		t.Fatalf("children %v, want one worker", pids)
	}
	return s, pids[0]
}

func TestTheWorkerEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *liveServer){
		"when its input ends":       func(s *liveServer) { s.in.Close() },
		"on SIGTERM":                func(s *liveServer) { s.process.Process.Signal(syscall.SIGTERM) },
		"when it is killed":         func(s *liveServer) { s.process.Process.Kill() },
		"when it is killed at once": func(s *liveServer) { s.in.Close(); s.process.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, worker := serveResident(t)
			end(s)
			waitFor(t, "the worker ends", func() bool { return gone(worker) })
		})
	}
}

func TestAKilledWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	s, worker := serveResident(t)
	if err := syscall.Kill(worker, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Not a mere zombie: threads of one may still hold the pipe.
	waitFor(t, "the worker is waited for", func() bool { return errors.Is(syscall.Kill(worker, 0), syscall.ESRCH) })
	s.send(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"obsidianCli","arguments":{"command":"random:read"}}}`)
	if result := s.read(t)["result"].(map[string]any)["structuredContent"].(map[string]any); result["ok"] != true {
		t.Errorf("behind a killed worker: %v", result)
	}
}
