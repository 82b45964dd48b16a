package change_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// The states of a change of two notes, as docs/vault.md has them. The model is explored with every event before every step, alone
// and in pairs; each path is gone by the program, too, and both have to end in the same way.

// note is a note in the model.
type note struct {
	text     string // old, new, or foreign for one that another program rewrote
	appended bool   // by another program
}

func (n note) String() string {
	if n.appended {
		return n.text + "+"
	}
	return n.text
}

// modelled is a change of two notes in the model.
type modelled struct {
	notes  [2]note
	made   int    // steps that were made
	ended  int    // the step before which it was over
	answer string // ok, not or partly
}

// The steps of the change, each a call that changes the disk, from 1 on.
const (
	stageFirst = 1 + iota
	stageSecond
	exchangeFirst
	exchangeSecond
	makeDurable
	lastStep = makeDurable
)

// An event comes before a step.
type event struct {
	step int
	what string
	note int // of another program
}

// The events. A kill ends the process without a word; a full disk refuses one call.
const (
	kill    = "kill"
	full    = "full disk"
	rewrite = "rewrite"
	extend  = "append"
)

// run goes through the model.
func (m *modelled) run(events []event) {
	m.notes, m.answer = [2]note{{text: "old"}, {text: "old"}}, "ok"
	for step := stageFirst; step <= lastStep; step++ {
		m.ended = step
		stops := ""
		for _, e := range events {
			switch {
			case e.step != step:
			case e.what == rewrite:
				m.notes[e.note] = note{text: "foreign"}
			case e.what == extend:
				m.notes[e.note].appended = true
			default:
				stops = e.what
			}
		}
		switch {
		case stops == kill && step > exchangeFirst: // the commit has begun
			m.settle(true)
			return
		case stops != "":
			m.settle(false)
			return
		}
		i := step - exchangeFirst
		if i != 0 && i != 1 {
			continue
		}
		if m.notes[i].text == "foreign" {
			m.settle(false)
			return
		}
		m.notes[i].text = "new"
		m.made++
	}
}

// isPath reports whether events are a path of the model: they come before its end, and two of one kind are for two notes.
func (m *modelled) isPath(events []event) bool {
	for i, e := range events {
		if e.step > m.ended {
			return false
		}
		for _, other := range events[:i] {
			bothStop := (e.what == kill || e.what == full) && (other.what == kill || other.what == full)
			bothWrite := (e.what == rewrite || e.what == extend) && (other.what == rewrite || other.what == extend)
			if bothStop || bothWrite && e.note == other.note {
				return false
			}
		}
	}
	return true
}

// settle completes the change or takes it back.
func (m *modelled) settle(forward bool) {
	canComplete := true
	for i := m.made; i < 2; i++ {
		canComplete = canComplete && m.notes[i].text != "foreign"
	}
	canTakeBack := true
	for i := range m.made {
		canTakeBack = canTakeBack && m.notes[i].text != "foreign"
	}
	switch {
	case canComplete && (forward || !canTakeBack):
		for i := m.made; i < 2; i++ {
			m.notes[i].text = "new"
		}
		m.answer = "ok"
	case canTakeBack:
		for i := range m.made {
			m.notes[i].text = "old"
		}
		m.answer = "not"
	default:
		m.answer = "partly"
	}
}

func TestTheStatesOfAChange(t *testing.T) {
	var single []event
	for step := stageFirst; step <= lastStep; step++ {
		single = append(single, event{step, full, 0})
		if step > stageSecond { // while several notes are staged, a process has several threads
			single = append(single, event{step, kill, 0})
		}
		for i := range 2 {
			single = append(single, event{step, rewrite, i}, event{step, extend, i})
		}
	}
	paths := [][]event{nil}
	for i, e := range single {
		paths = append(paths, []event{e})
		for _, other := range single[i+1:] {
			paths = append(paths, []event{e, other})
		}
	}
	every := testenv.Count(6, 1)
	if testing.Short() {
		every = 30
	}
	ends := map[string]int{}
	for n, events := range paths {
		var m modelled
		if m.run(events); !m.isPath(events) {
			continue
		}
		ends[m.answer]++
		if n%every != 0 && len(events) == 2 && m.answer != "partly" {
			continue
		}
		goPath(t, events, m)
	}
	t.Logf("%d paths, which end in %v", len(paths), ends)
	assert.That(t, ends["ok"] > 0, "ends: %v", ends)
	assert.That(t, ends["not"] > 0, "ends: %v", ends)
	assert.That(t, ends["partly"] > 0, "ends: %v", ends)
}

// callOf returns the number of the call that makes a step: a text that is appended before has the note staged once more, and one
// that comes with the exchange has that taken back, too.
func callOf(step int, events []event) int {
	const restaged, exchangedBack = 2, 2
	call := step
	for _, e := range events {
		exchange := exchangeFirst + e.note
		switch {
		case e.what != extend || step < exchange:
		case e.step < exchange:
			call += restaged
		case e.step == exchange && step > exchange:
			call += restaged + exchangedBack
		}
	}
	return call
}

// goPath has the program go a path, and compares where it ends.
func goPath(t *testing.T, events []event, want modelled) {
	t.Helper()
	h := embedded.New(t, map[string]string{"a.md": "is x\n", "b.md": "is x\n", "c.md": "other\n"})
	names := []string{"a.md", "b.md"}
	at := h.Host()
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(t)
	step := 0
	v.Disk.Interpose(func(string) error {
		step++
		// A second caller reads whole notes at any moment, and waits for nothing.
		reader := h.Host()
		status, out, _ := embedded.Called(reader, h.Dir, "read", "path=c.md")
		reader.Close()
		require.Equal(t, status, answer.ExitDone, "another caller gets %q", out)
		require.Equal(t, out, "other\n", "another caller gets %q", out)
		var stops error
		isKilled := false
		for _, e := range events {
			if callOf(e.step, events) != step {
				continue
			}
			path := h.File(names[e.note])
			switch e.what {
			case rewrite:
				require.NoError(t, errors.Join(os.WriteFile(path+".new", []byte(foreignText), 0o600), os.Rename(path+".new", path)))
			case extend:
				file := require.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
				_, err := file.WriteString(foreignText)
				require.NoError(t, errors.Join(err, file.Close()))
			case full:
				stops = os.ErrDeadlineExceeded
			case kill:
				isKilled = true
			}
		}
		if isKilled {
			runtime.Goexit()
		}
		return stops
	})
	said, isKilled := answer.Reply{}, true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		said = vault.Respond(v, protocol.Request{Command: "vault:replace", Args: []string{"old=x", "new=y"}, Write: protocol.Write{Allowed: true}}, nil)
		isKilled = false
	}()
	<-ended
	at.Close()
	h.Does("version") // whatever is broken off is settled
	for i, name := range names {
		text := h.Get(name)
		got := note{text: "foreign", appended: strings.HasSuffix(text, foreignText)}
		switch strings.TrimSuffix(text, foreignText) {
		case "is x\n":
			got.text = "old"
		case "is y\n":
			got.text = "new"
		default:
			got.appended = want.notes[i].appended && strings.Contains(text, foreignText)
		}
		assert.Equal(t, fmt.Sprint(got), fmt.Sprint(want.notes[i]), "%v: %s is %q", events, name, text)
	}
	left := require.Value(filepath.Glob(filepath.Join(h.Dir, ".vaultwicket-*")))(t)
	assert.Equal(t, len(left), 0, "%v: temporary files", events)
	if isKilled {
		return
	}
	got := "not"
	if said.Status == answer.ExitDone {
		got = "ok"
	} else if said.Kind.Code == protocol.CodePartlyApplied {
		got = "partly"
	}
	assert.Equal(t, got, want.answer, "%v: the answer %q", events, said.Text())
}
