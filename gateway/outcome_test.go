//go:build unix

package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// The note of these tests, and what a client may make of it.
const (
	noteBefore = "# A\nfirst\n"
	notePlan   = noteBefore + "once\n"
	noteTwice  = noteBefore + "once\nonce\n"
	noteCut    = noteBefore + "on"
)

// outcomes are clients that do not do what they say, or do not say what they do.
// A client is a line of a shell script after the answer to the version; "become
// X" gives the note the text X as an app does, and "say" is its usual answer.
var outcomes = []struct {
	name, client string
	left         string // the note afterwards
	code         string
	changed      bool   // the answer names a change
	hint, notice string // parts of them
}{
	// The first ones wait for the limit.
	{
		name: "it cut the text and did not answer", client: "become cut; exec sleep 600",
		left: noteCut, code: "outcome_unknown", changed: true, hint: "undo id=",
	},
	{
		name: "it did nothing and did not answer", client: "exec sleep 600",
		left: noteBefore, code: "outcome_unknown", hint: "read the note", notice: "the note was as before",
	},
	{name: "it did what it says", client: "become planned; say", left: notePlan, changed: true},
	{name: "it says success and did nothing", client: "say", left: noteBefore, code: "not_applied", hint: "look at the note"},
	{name: "it did it twice", client: "become twice; say", left: noteTwice, code: "outcome_unknown", changed: true, hint: "undo id="},
	{name: "it cut the text", client: "become cut; say", left: noteCut, code: "outcome_unknown", changed: true, hint: "undo id="},
	{name: "it crashed after it did it", client: "become planned; kill -9 $$", left: notePlan, changed: true, notice: "died by"},
	{
		name: "it crashed after it cut the text", client: "become cut; kill -9 $$",
		left: noteCut, code: "outcome_unknown", changed: true, hint: "undo id=",
	},
	{
		name: "it crashed before it did it", client: "kill -9 $$",
		left: noteBefore, code: "cli_crashed", hint: "may have been made", notice: "the note was as before",
	},
	{
		name: "it says no and did it", client: "become planned; echo 'Error: Something went wrong.'",
		left: notePlan, changed: true, notice: "and the change is made",
	},
	{
		name: "it says no and did it twice", client: "become twice; echo 'Error: Something went wrong.'",
		left: noteTwice, code: "outcome_unknown", changed: true, hint: "undo id=",
	},
	{name: "it says no and did nothing", client: "echo 'Error: Something went wrong.'", left: noteBefore, code: "not_applied"},
}

// Whatever a client says, the answer tells what is there. The embedded program is
// the real one, so the journal is as well: each change that is named can be taken
// back by its id.
func TestTheTruthIsToldWhateverTheClientSays(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "vaultwicket")
	// The go command keeps what "go run" linked, and has it copied.
	out, err := osexec.Command("go", "run", "-exec", "cp", "github.com/vaultwicket/vaultwicket/cmd/vaultwicket", own).CombinedOutput()
	require.That(t, err == nil, "build: %v\n%s", err, out)
	for _, test := range outcomes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, own, test.client)
			got := s.gateway.Do(context.Background(), Request{Command: "append", Params: params("path", "A.md", "content", "once\n")})
			assert.Equal(t, code(got), test.code, "told %+v, %+v", got, got.Error)
			assert.Equal(t, got.OK, test.code == "", "told %+v, %+v", got, got.Error)
			assert.Equal(t, got.Change != nil, test.changed, "told %+v, %+v", got, got.Error)
			if got.Error != nil && !strings.Contains(got.Error.Hint, test.hint) {
				t.Errorf("the hint is %q", got.Error.Hint)
			}
			assert.That(t, strings.Contains(strings.Join(got.Notices, "\n"), test.notice), "the notices are %q", got.Notices)
			left := s.note()
			require.That(t, left == test.left, "the note is %q, want %q", left, test.left)
			if got.Change != nil {
				s.takeBack(got)
			}
		})
	}
}

// stage is a vault with one note, the real embedded program and a client that
// misbehaves.
type stage struct {
	t       *testing.T
	vault   string
	gateway *Gateway
}

func newStage(t *testing.T, own, client string) *stage {
	t.Helper()
	s := &stage{t: t, vault: filepath.Join(t.TempDir(), "Work")}
	folder := t.TempDir()
	s.write(filepath.Join(s.vault, "A.md"), noteBefore)
	for name, text := range map[string]string{"planned": notePlan, "twice": noteTwice, "cut": noteCut} {
		s.write(filepath.Join(folder, name), text)
	}
	testenv.WriteProgram(t, filepath.Join(folder, "obsidian"), fmt.Appendf(nil, `#!/bin/sh
case "$*" in *version) echo '1.12.7 (installer 1.12.7)'; exit;; esac
become() { cp '%[1]s'/$1 '%[2]s/.A.new' && mv '%[2]s/.A.new' '%[2]s/A.md'; }
say() { echo 'Appended to: A.md'; }
%[3]s
`, folder, s.vault, client))
	timeout := 50 * time.Second
	if strings.Contains(client, "sleep") { // it is waited for
		timeout = 6 * time.Second
	}
	env := map[string]string{"HOME": folder, "PATH": os.Getenv("PATH"),
		"XDG_STATE_HOME": filepath.Join(folder, "state"), "XDG_CACHE_HOME": filepath.Join(folder, "cache")}
	getenv := func(name string) string { return env[name] }
	s.gateway = New(Config{
		Policy: policy.Policy{Ceiling: tiers.V3, Mutations: true, Confirm: policy.ConfirmNever, Secrets: policy.SecretsAllow, MinVersion: tiers.DefaultMinimum},
		Runner: exec.New(exec.Config{CLI: filepath.Join(folder, "obsidian"), Self: own, Timeout: timeout, Getenv: getenv}),
		Vault:  Vault{Name: "Work", Folder: s.vault}, Getenv: getenv,
	})
	t.Cleanup(func() { s.gateway.Flush() }) // what is watched behind an answer ends
	return s
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(s.t, os.WriteFile(name, []byte(text), 0o600))
}

func (s *stage) note() string {
	s.t.Helper()
	text := require.Value(os.ReadFile(filepath.Join(s.vault, "A.md")))(s.t)
	return string(text)
}

// undoAll undoes the change that a result names, and checks that the result
// told the note as it was and as it is.
func (s *stage) takeBack(told Result) {
	s.t.Helper()
	if before, after := hashOf(noteBefore), hashOf(s.note()); told.Change.Before != before || told.Change.After != after || told.Hash != after {
		s.t.Errorf("told %+v and the hash %s, want %s and %s", told.Change, told.Hash, before, after)
	}
	if _, err := journal.ParseID(told.Change.ID); err != nil {
		s.t.Error(err)
	}
	if told.Error != nil && strings.Contains(told.Error.Hint, "undo") && !strings.Contains(told.Error.Hint, told.Change.ID) {
		s.t.Errorf("the hint %q does not name the change %s", told.Error.Hint, told.Change.ID)
	}
	back := s.gateway.Do(context.Background(), undoOf(told.Change.ID))
	assert.That(s.t, back.OK, "undo: %+v", back.Error)
	assert.Equal(s.t, s.note(), noteBefore, "undone, the note")
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
