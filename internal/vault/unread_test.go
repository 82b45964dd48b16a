package vault_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

var errDisk error = &fs.PathError{Op: "read", Path: "a place of the disk", Err: syscall.EIO}

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
	"a folder in the cloud": func(method, name string) error {
		if method == "step" && name == "Sub" {
			return system.ErrElsewhere
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
		for _, words := range [][]string{{"read", "path=A.md"}, {"read", "file=A"}, {"links", "path=A.md"},
			{"outline", "path=Plan.md"}, {"properties", "path=Plan.md"}} {
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
				assert.Equal(t, failure.Code, protocol.CodeVaultUnreadable, "%s, %q: %s", place, words, stdout)
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

// readsOfFaults are calls that read a vault in all ways.
var readsOfFaults = append([][]string{
	{"read", "path=Plan.md"}, {"read", "file=Plan"}, {"read", "file=Deep"}, {"links", "path=A.md"}, {"links", "file=Deep"}, {"outline", "path=Plan.md"},
	{"files"}, {"files", "total"}, {"files", "folder=Sub"}, {"folders"}, {"folder", "path=Sub"}, {"vault"}, {"file", "path=Sub/Deep.md"}, {"recent"},
	{"properties", "path=Plan.md"}, {"property:read", "path=Plan.md", "name=status"}, {"tags", "path=A.md"}, {"tags"}, {"tag", "name=tag"}, {"aliases"},
	{"tasks", "path=Sub/Deep.md"}, {"tasks", "path=Sub"}, {"deadends"}, {"related", "path=A.md"}, {"links", "path=A.md", "depth=2"}, {"wordcount", "path=A.md"},
	{"random:read", "seed=1"}, {"random", "seed=1"}, {"random:read", "seed=1", "days=1"}, {"attachments"},
	{"attachments", "unused"}, {"bases"}, {"base:query", "path=All.base"}, {"query", "where=file.name != \"x\""},
	{"canvas:read", "path=Board.canvas"}, {"daily:path"}, {"daily:read"}, {"templates"}, {"template:read", "name=Day"}, {"bookmarks"},
	{"recents"}, {"read", "file=Gone"}, {"note:section", "path=Plan.md", "heading=Plan"},
	{"find", "query=word", "folder=Sub"}, {"find", "query=word", "format=json"},
}, readsOfAll...)

// faultyVault has a file of every kind that is read, and settings of the app.
func faultyVault(t *testing.T) *embedded.Vault {
	return embedded.New(t, map[string]string{
		"Plan.md":                    "---\nstatus: open\naliases: [Goal]\n---\n# Plan\nword\n",
		"A.md":                       "[[Plan]] [[Deep]] ![[pic.png]] word #tag\n",
		"Sub/Deep.md":                "---\nstatus: done\n---\n[[Plan]] word #tag\n- [ ] task\n",
		"Sub/More/Plan.md":           "another [[A]]\n",
		"Sub/More/pic.png":           "\x89PNG",
		"Sub/list.csv":               "word,1\n",
		"All.base":                   "views:\n  - type: table\n    name: All\n",
		"Board.canvas":               `{"nodes":[{"id":"a","type":"file","file":"Plan.md","x":0,"y":0,"width":1,"height":1},{"id":"b","type":"text","text":"word","x":0,"y":0,"width":1,"height":1}],"edges":[]}`,
		"T/Day.md":                   "a day\n",
		"2026-03-07.md":              "today\n",
		".obsidian/templates.json":   `{"folder":"T"}`,
		".obsidian/bookmarks.json":   `{"items":[{"type":"file","ctime":1,"path":"A.md"}]}`,
		".obsidian/workspace.json":   `{"lastOpenFiles":["A.md","Sub/Deep.md"]}`,
		".obsidian/app.json":         `{"userIgnoreFilters":["Archive/"]}`,
		".obsidian/daily-notes.json": `{}`,
	})
}

// faultyReads has reads of the disk fail, by their numbers.
type faultyReads struct {
	first, last int64
	count       atomic.Int64
	isHealed    atomic.Bool
}

func (f *faultyReads) fail(string, string) error {
	n := f.count.Add(1)
	if f.first <= n && n <= f.last && !f.isHealed.Load() {
		return errDisk
	}
	return nil
}

// Each read of a call fails, and its second try, or all from it on: the answer is as on a sound disk, or says that something
// could not be read, or is an error; and nothing is said to be missing. The next call is right.
func TestNoFaultOfTheDiskMakesAnAnswerUntrue(t *testing.T) {
	tried := 0
	for _, words := range readsOfFaults {
		for _, resident := range []bool{false, true} {
			h := faultyVault(t)
			sound := &faultyReads{}
			at := badDisk(t, h, resident, sound.fail)
			_, _, wantFailure := ask(t, h, at, words...)
			reads := sound.count.Load()
			want, _, _ := ask(t, h, at, words...)
			at.Close()
			for from := int64(1); from <= reads; from++ {
				for _, last := range []int64{from + 1, math.MaxInt64} {
					tried++
					if tried%testenv.Count(8, 1) != 0 {
						continue
					}
					faults := &faultyReads{first: from, last: last}
					at := badDisk(t, h, resident, faults.fail)
					got, facts, failure := ask(t, h, at, words...)
					when := fmt.Sprintf("%q, resident %v, from %d to %d", words, resident, from, last)
					switch {
					case failure.Code != "":
						isRight := failure.Code == wantFailure.Code || failure.Code != protocol.CodeNotFound
						assert.That(t, isRight, "%s: %v", when, failure)
					case facts.Unread == 0:
						assert.Equal(t, got, want, "%s", when)
					}
					faults.isHealed.Store(true)
					got, facts, failure = ask(t, h, at, words...)
					assert.Equal(t, failure.Code, wantFailure.Code, "%s, healed", when)
					assert.Equal(t, facts.Unread, 0, "%s, healed", when)
					assert.Equal(t, got, want, "%s, healed", when)
					at.Close()
				}
			}
		}
	}
}

// changesOfFaults are calls that look at what they change, and at what depends on it, in all ways.
var changesOfFaults = append([][]string{
	{"append", "path=Plan.md", "content=x"}, {"append", "file=Deep", "content=x"}, {"prepend", "path=Plan.md", "content=x"},
	{"create", "path=Sub/More/A.md", "content=x"}, {"create", "path=New.md", "template=Day"}, {"create", "name=Other", "content=x"},
	{"delete", "path=Plan.md"}, {"delete", "file=Deep", "permanent=true"}, {"copy", "path=Plan.md", "to=Sub/Goal.md"},
	{"daily:append", "content=x"}, {"property:set", "path=Plan.md", "name=status", "value=done"}, {"property:set", "folder=Sub", "name=status", "value=new"},
	{"property:remove", "path=Sub/Deep.md", "name=status"}, {"task", "path=Sub/Deep.md", "line=5", "done"},
	{"note:replace", "path=A.md", "old=word", "new=term"},
	{"note:set-section", "path=Plan.md", "heading=Plan", "content=x"}, {"folder:delete", "path=Sub"},
	{"folder:rename", "path=Sub", "name=Other"}, {"folder:copy", "path=Sub", "to=Other"},
	{"note:split", "path=Plan.md", "level=1"}, {"rename", "file=Deep", "name=Low"}, {"move", "path=Sub/More/pic.png", "to=pic.png"},
	{"canvas:remove", "path=Board.canvas", "id=b"}, {"bookmark", "file=Plan.md"}, {"unique", "content=x"},
}, changesOfAll...)

// Each read of a change fails, and its second try, or all from it on: it is made as on a sound disk, or not at all, and the
// answer says which; and nothing is said to be missing.
func TestNoFaultOfTheDiskMakesAChangeUntrue(t *testing.T) {
	tried := 0
	for _, words := range changesOfFaults {
		model := faultyVault(t)
		before := model.Texts(true)
		sound := &faultyReads{}
		stdout, _, wantFailure := ask(t, model, badDisk(t, model, true, sound.fail), words...)
		assert.That(t, wantFailure.Code == "", "%q: %v %s", words, wantFailure, stdout)
		if wantFailure.Code != "" {
			continue
		}
		done := model.Texts(true)
		for from, reads := int64(1), sound.count.Load(); from <= reads; from++ {
			for _, last := range []int64{from + 1, math.MaxInt64} {
				tried++
				if tried%testenv.Count(8, 1) != 0 {
					continue
				}
				h := faultyVault(t)
				at := badDisk(t, h, true, (&faultyReads{first: from, last: last}).fail)
				_, facts, failure := ask(t, h, at, words...)
				after := h.Texts(true)
				when := fmt.Sprintf("%q, from %d to %d: %v %v", words, from, last, failure, facts.Notice)
				if failure.Code == "" {
					assert.That(t, maps.Equal(after, done), "%s: %v", when, after)
				} else {
					assert.That(t, maps.Equal(after, before), "%s: %v", when, after)
					assert.That(t, failure.Code != protocol.CodeNotFound, "%s", when)
				}
				at.Close()
			}
		}
	}
}
