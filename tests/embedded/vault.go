// Package embedded has tests run the embedded vault CLI in their own process, on a vault
// in a folder of their own: as a process of one call does, and as a resident worker.
package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Saturday is the day on which these tests take place. Its offset is the time
// zone, so the machine's own plays no part.
const Saturday = "2026-11-21T09:05:07+02:00"

// Vault is a vault in a folder of its own, called Home, with the program's
// surroundings.
type Vault struct {
	T     testing.TB
	Dir   string
	Env   map[string]string
	Stdin string
	// ReadOnly leaves out the switch that lets a command change something.
	ReadOnly bool
	// Later is how much later than now it is for the age of files: a file is
	// kept in mind once it has been left alone for a while.
	Later time.Duration
}

// New makes a vault with these files, by their paths.
func New(t testing.TB, files map[string]string) *Vault {
	t.Helper()
	h := &Vault{T: t, Dir: filepath.Join(t.TempDir(), "Home"), Env: map[string]string{date.NowVariable: Saturday, "XDG_STATE_HOME": t.TempDir()}}
	require.NoError(t, os.Mkdir(h.Dir, 0o755))
	for path, text := range files {
		h.Put(path, text)
	}
	return h
}

// File returns the path of a note on the machine.
func (h *Vault) File(path string) string { return filepath.Join(h.Dir, filepath.FromSlash(path)) }

// Put writes a file, as another program does.
func (h *Vault) Put(path, text string) {
	h.T.Helper()
	full := h.File(path)
	require.NoError(h.T, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)))
}

// Remove removes a file, as another program does.
func (h *Vault) Remove(path string) {
	h.T.Helper()
	require.NoError(h.T, os.Remove(h.File(path)))
}

// Get returns the text of a note, or "(missing)".
func (h *Vault) Get(path string) string {
	text, err := os.ReadFile(h.File(path))
	if err != nil {
		return "(missing)"
	}
	return string(text)
}

// HostOf returns what one process of the program keeps that has variables.
func HostOf(env map[string]string) *call.Host {
	return call.NewHost(func(name string) string { return env[name] }, nil)
}

// Called has such a process answer a command line, in which there may be the switches of package asking.
func Called(at *call.Host, words ...string) (status int, stdout, stderr string) {
	return Asked(context.Background(), at, "", words)
}

// Asked is [Called] with a context, and a text on standard input.
func Asked(ctx context.Context, at *call.Host, stdin string, words []string) (status int, stdout, stderr string) {
	var out, messages bytes.Buffer
	p := vault.Process{Args: words, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &messages}
	q, ok := requestOfGateway(words)
	if !ok {
		status = p.ByHand(ctx, at)
		return status, out.String(), messages.String()
	}
	reply := vault.Perform(at, words[0], vault.Call{Ctx: ctx, Request: q, Input: p.Stdin, Output: &out})
	if q.Want.Facts {
		p.ReportFacts(reply)
	} else {
		p.ReportNotice(reply)
	}
	return int(reply.Status), out.String(), messages.String()
}

// requestOfGateway returns what a line asks for that has switches which no person has, if it is one.
func requestOfGateway(words []string) (q protocol.Request, ok bool) {
	if len(words) == 0 {
		return q, false
	}
	set, rest := fake.SplitRequest(words[1:])
	if set(&q); reflect.DeepEqual(q, protocol.Request{}) {
		return q, false
	}
	line, err := call.ParseLine(append(words[:1:1], rest...))
	if err != nil && q.Ask == protocol.AskCommand {
		return q, false
	}
	set(&line.Request)
	return line.Request, true
}

// Host returns what one process of the program keeps.
func (h *Vault) Host() *call.Host {
	at := HostOf(h.Env)
	at.Now = func() time.Time { return time.Now().Add(h.Later) }
	at.Pause = func(context.Context, time.Duration) {} // no one else changes notes meanwhile
	return at
}

// Run calls the program on the vault.
func (h *Vault) Run(args ...string) (status int, stdout, stderr string) {
	words := append([]string{h.Dir}, args...)
	if len(args) > 0 && args[0] == call.StatusSwitch {
		var out bytes.Buffer
		status = vault.Process{Args: words, Stdout: &out}.Run(context.Background(), h.Host())
		return status, out.String(), ""
	}
	if !h.ReadOnly {
		words = append([]string{h.Dir, call.WriteSwitch}, args...)
	}
	at := h.Host()
	defer at.Close()
	return Asked(context.Background(), at, h.Stdin, words)
}

// Expect calls the program and compares its exit status and output.
func (h *Vault) Expect(status int, stdout string, args ...string) {
	h.T.Helper()
	gotStatus, got, stderr := h.Run(args...)
	assert.Equal(h.T, gotStatus, status, "%q: output %q: status", args, got)
	assert.Equal(h.T, got, stdout, "%q: output", args)
	assert.Equal(h.T, stderr, "", "%q: stderr", args)
}

// ExpectPrefix compares the exit status, and the beginning of the output.
func (h *Vault) ExpectPrefix(status int, beginning string, args ...string) {
	h.T.Helper()
	gotStatus, got, _ := h.Run(args...)
	assert.Equal(h.T, gotStatus, status, "%q: output %q: status", args, got)
	assert.HasPrefix(h.T, got, beginning, "%q: output", args)
}

// Does calls the program, which has to succeed, and returns what it prints.
func (h *Vault) Does(args ...string) string {
	h.T.Helper()
	status, out, stderr := h.Run(args...)
	require.That(h.T, status == answer.ExitDone, "%q: status %d, %q, stderr %q", args, status, out, stderr)
	return out
}

// ShownPlan is what a call would change.
type ShownPlan struct {
	Links         string
	Loses, Digest string
	Files         []struct {
		Path           string
		Added, Removed int
		Lines          []struct{ Text string }
	}
}

// Plan returns what a call would change.
func (h *Vault) Plan(args ...string) (p ShownPlan) {
	h.T.Helper()
	require.NoError(h.T, json.Unmarshal([]byte(h.Does(append([]string{call.PlanSwitch}, args...)...)), &p))
	return p
}

// Paths returns the paths of the files that would be changed.
func (p ShownPlan) Paths() (paths []string) {
	for _, file := range p.Files {
		paths = append(paths, file.Path)
	}
	return paths
}

// Turn is one call in a table: the arguments are separated by blanks.
type Turn = struct {
	Name, Args string
	Status     int
	Want       string
}

// Steps makes the calls of a table one after the other, each a test of its own.
func (h *Vault) Steps(steps []Turn) {
	h.T.Helper()
	for _, s := range steps {
		h.T.(*testing.T).Run(s.Name, func(t *testing.T) {
			inner := &Vault{T: t, Dir: h.Dir, Env: h.Env, Stdin: h.Stdin}
			inner.Expect(s.Status, s.Want, strings.Fields(s.Args)...)
		})
	}
}

// EntryID matches the id of an entry of the journal.
var EntryID = regexp.MustCompile(`\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{4}`)
