package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var errDisk = errors.New("input/output error")

// unreadVault is a vault of which one note, or one folder, may be unreadable.
func unreadVault(t *testing.T) *embedded.Vault {
	return embedded.New(t, map[string]string{
		"Plan.md":     "---\nstatus: open\n---\n# Plan\nword\n",
		"A.md":        "[[Plan]] word #tag\n",
		"Sub/Deep.md": "---\nstatus: done\n---\n[[Plan]] word #tag\n- [ ] task\n",
	})
}

// badDisk is a host on which reads of some names fail.
func badDisk(t *testing.T, h *embedded.Vault, resident bool, fails func(method, name string) error) *call.Host {
	at := h.Host()
	t.Cleanup(at.Close)
	at.Knowledge.Resident = resident
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(t)
	var mu sync.Mutex
	v.Disk.InterposeReads(func(method, name string) error {
		mu.Lock()
		defer mu.Unlock()
		return fails(method, name)
	})
	return at
}

// ask returns what a call answers, with the facts of a success and the failure of another one.
func ask(t *testing.T, h *embedded.Vault, at *call.Host, words ...string) (stdout string, facts protocol.Facts, failure protocol.Failure) {
	line := append([]string{h.Dir, call.WriteSwitch, call.FactsSwitch}, words...)
	_, stdout, stderr := embedded.Called(at, line...)
	_, facts, failure = embedded.CutReport(stderr)
	return stdout, facts, failure
}

// lost are the places that cannot be read: how a call on it fails.
var lost = map[string]func(method, name string) error{
	"a note": func(method, name string) error {
		if method == "read" && name == "Deep.md" {
			return errDisk
		}
		return nil
	},
	"the look at a note": func(method, name string) error {
		if name == "Deep.md" {
			return errDisk
		}
		return nil
	},
	"a folder": func(method, name string) error {
		if method == "step" && name == "Sub" {
			return errDisk
		}
		return nil
	},
}

// readsOfAll are calls whose answer is made of every note.
var readsOfAll = [][]string{
	{"search", "query=word"}, {"search:context", "query=word"}, {"backlinks", "path=Plan.md"}, {"find", "query=word"},
	{"tags", "counts"}, {"tag", "name=tag", "verbose"}, {"tasks", "todo"}, {"properties", "counts"}, {"orphans"}, {"unresolved"},
	{"query", "where=status == \"done\""}, {"links", "path=Plan.md", "direction=in"},
}

func TestWhatCannotBeReadIsCountedInTheAnswer(t *testing.T) {
	for place, fails := range lost {
		for _, resident := range []bool{false, true} {
			for _, words := range readsOfAll {
				h := unreadVault(t)
				at := badDisk(t, h, resident, fails)
				for range 2 { // the second answer may come from the index of the first
					_, facts, failure := ask(t, h, at, words...)
					assert.Equal(t, failure, protocol.Failure{}, "%s, %q", place, words)
					assert.Equal(t, facts.Unread, 1, "%s, resident %v, %q", place, resident, words)
					assert.Contains(t, facts.Notice, "1 note or folder could not be read", "%s, %q", place, words)
				}
			}
		}
	}
}

func TestAnAnswerOfOneNoteIsWholeWhateverElseCannotBeRead(t *testing.T) {
	for place, fails := range lost {
		for _, words := range [][]string{{"read", "path=A.md"}, {"read", "file=A"}, {"links", "path=A.md"}, {"outline", "path=Plan.md"}, {"properties", "path=Plan.md"}} {
			h := unreadVault(t)
			_, facts, failure := ask(t, h, badDisk(t, h, true, fails), words...)
			assert.Equal(t, failure, protocol.Failure{}, "%s, %q", place, words)
			assert.Equal(t, facts.Unread, 0, "%s, %q", place, words)
		}
	}
}

// changesOfAll are calls that are done in part if a note is not known.
var changesOfAll = [][]string{
	{"rename", "path=Plan.md", "name=Goal"}, {"move", "path=Plan.md", "to=New/Plan.md"}, {"tag:rename", "name=tag", "to=label"},
	{"vault:replace", "old=word", "new=term"}, {"folder:move", "path=Sub", "to=Other"}, {"folder:delete", "path=Sub"},
	{"property:rename", "name=status", "to=state"}, {"note:merge", "path=A.md", "into=Plan.md"},
}

func TestAChangeOfManyIsRefusedWhileANoteCannotBeRead(t *testing.T) {
	for place, fails := range lost {
		for _, resident := range []bool{false, true} {
			for _, words := range changesOfAll {
				if place == "a note" && words[0] == "folder:delete" { // what is in a note goes with it
					continue
				}
				h := unreadVault(t)
				before := h.Texts(true)
				stdout, _, failure := ask(t, h, badDisk(t, h, resident, fails), words...)
				assert.Equal(t, failure.Code, protocol.CodeCLIError, "%s, %q: %s", place, words, stdout)
				assert.Contains(t, stdout, "cannot be read", "%s, %q", place, words)
				after := h.Texts(true)
				assert.That(t, maps.Equal(before, after), "%s, %q: %v became %v", place, words, before, after)
				assert.Equal(t, len(h.Changes()), 0, "%s, %q", place, words)
			}
		}
	}
}

func TestANoteCanBeDeletedWhileAnotherCannotBeRead(t *testing.T) {
	h := unreadVault(t)
	at := badDisk(t, h, true, lost["a note"])
	stdout, facts, failure := ask(t, h, at, "delete", "path=A.md")
	assert.Equal(t, failure, protocol.Failure{}, "%s", stdout)
	assert.Contains(t, facts.Notice, "may break links in what cannot be read (1 note or folder)")
}

// A fault that passes is none: what failed is tried once more, and whatever failed twice is read by the next call.
func TestAPassingFaultOfTheDiskIsNotSeen(t *testing.T) {
	for _, resident := range []bool{false, true} {
		for _, words := range append(readsOfAll, changesOfAll...) {
			h, sound := unreadVault(t), unreadVault(t)
			failed := map[string]bool{}
			at := badDisk(t, h, resident, func(method, name string) error {
				if key := method + " " + name; !failed[key] {
					failed[key] = true
					return errDisk
				}
				return nil
			})
			stdout, facts, failure := ask(t, h, at, words...)
			want, _, _ := ask(t, sound, sound.Host(), words...)
			assert.Equal(t, failure, protocol.Failure{}, "resident %v, %q: %s", resident, words, stdout)
			assert.Equal(t, facts.Unread, 0, "resident %v, %q", resident, words)
			assert.Equal(t, stdout, want, "resident %v, %q", resident, words)
		}
	}
}

func TestWhatCanBeReadAgainIsInTheNextAnswer(t *testing.T) {
	for _, resident := range []bool{false, true} {
		for _, words := range readsOfAll {
			h, sound, broken := unreadVault(t), unreadVault(t), true
			at := badDisk(t, h, resident, func(method, name string) error {
				if broken {
					return lost["a note"](method, name)
				}
				return nil
			})
			_, facts, _ := ask(t, h, at, words...)
			assert.Equal(t, facts.Unread, 1, "resident %v, %q", resident, words)
			broken = false
			stdout, facts, _ := ask(t, h, at, words...)
			want, _, _ := ask(t, sound, sound.Host(), words...)
			assert.Equal(t, facts.Unread, 0, "resident %v, %q", resident, words)
			assert.Equal(t, stdout, want, "resident %v, %q", resident, words)
		}
	}
}

// A note whose text cannot be read may be private: its name is in no listing, and in no refusal.
func TestTheNameOfANoteThatCannotBeJudgedIsNotTold(t *testing.T) {
	for _, resident := range []bool{false, true} {
		for _, words := range append(append([][]string{{"files"}, {"files", "total"}, {"files", "format=json"}}, readsOfAll...), changesOfAll...) {
			h := unreadVault(t)
			h.Env[call.AccessVariable] = privateRules(t)
			at := badDisk(t, h, resident, lost["a note"])
			for range 2 {
				stdout, facts, failure := ask(t, h, at, words...)
				told := stdout + facts.Notice + failure.Reason + failure.Hint
				assert.That(t, !strings.Contains(told, "Deep"), "resident %v, %q: %s", resident, words, told)
				if failure.Code == "" && path.Base(words[0]) != "folder:delete" {
					assert.Equal(t, facts.Unread, 1, "resident %v, %q: %s", resident, words, stdout)
				}
			}
		}
	}
}

func TestFactsHaveTheCountOfUnread(t *testing.T) {
	said := answer.Text("x").WithoutUnread(2)
	text := require.Value(json.Marshal(said.Facts(nil)))(t)
	assert.Contains(t, string(text), `"unread":2`)
}
