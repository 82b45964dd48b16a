package changes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// conditionalWrites is how many the two gateways of the test try together.
var conditionalWrites = testenv.Count(500, 1000)

// Two gateways append to one note, each on the condition that it is the one that
// was read, while a foreign editor writes it as editors do. In the end
//
//   - every line whose write was answered with ok is there exactly once,
//   - no line whose write was answered with conflict is there,
//   - every line of the editor is there exactly once,
//   - and nothing else is.
//
// Two systems that know nothing of each other cannot do better than this: between
// the last look of one and its rename the other may write. What is lost in there
// has to be told from what we lose, so the editor is one that loses nothing by
// itself. It does not rename its file over the note but exchanges the two, which
// is as atomic and leaves it with what stood there at that very moment. Where that
// is not what it had read, it has overwritten another writer, and puts the lines back,
// as editors do that merge. So no loss of a gateway's line is the editor's.
//
// The other way round, a gateway may rename over a version of the editor that it
// had no time to see. The editor knows: it looks again once another version is
// than its own. The lines that are in it were read by the gateway that wrote it,
// and from then on they must not be lost; others were lost in the moment between
// our last look and our rename, and are written again. That may happen to few
// versions: a gateway that did not look right before the rename would overwrite
// one in four.
func TestTwoGatewaysAndAnEditorWriteOneNote(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	folder := t.TempDir()
	vault := filepath.Join(folder, "Vault")
	note := filepath.Join(vault, "Log.md")
	harness.WriteFile(t, note, []byte(logHead+"\n"))
	e := &editor{note: note, random: rand.New(rand.NewPCG(3, 7)), seen: map[string]time.Time{}}
	if err := e.canExchange(folder); err != nil {
		t.Skipf("no exchange of two files here: %v", err)
	}
	var left atomic.Int64
	left.Store(int64(conditionalWrites))
	writers := []*writer{{name: "one", left: &left}, {name: "two", left: &left}}
	var writing, editing sync.WaitGroup
	for _, w := range writers {
		w.through = harness.OpenSession(t, vault, folder) // one home: the journal is the lock
		writing.Go(func() { w.err = w.write() })
	}
	stop := make(chan struct{})
	editing.Go(func() { e.err = e.edit(stop) })
	writing.Wait()
	close(stop)
	editing.Wait()
	for _, err := range []error{writers[0].err, writers[1].err, e.err} {
		require.NoError(t, err)
	}
	judgeLog(t, note, writers, e)
}

// judgeLog counts the lines of the note.
func judgeLog(t *testing.T, note string, writers []*writer, e *editor) {
	t.Helper()
	text := require.Value(os.ReadFile(note))(t)
	there := map[string]int{}
	for line := range strings.Lines(string(text)) {
		there[strings.TrimSuffix(line, "\n")]++
	}
	expect := func(lines []string, least, most int, what string) {
		for _, line := range lines {
			n := there[line]
			assert.That(t, n >= least, "%q, %s, is there %d times", line, what, n)
			assert.That(t, n <= most, "%q, %s, is there %d times", line, what, n)
			delete(there, line)
		}
	}
	done := 0
	refused := 0
	putBack := 0
	for _, w := range writers {
		expect(w.done, 1, 1, "written by a gateway")
		for i, line := range w.refused {
			// For some microseconds a line that is taken back can be read, and the editor may have kept it.
			seen, isSeen := e.seen[line]
			if isSeen && seen.Before(w.refusedAt[i]) {
				expect([]string{line}, 0, 1, "answered with conflict, and read by the editor before that")
				putBack++
				continue
			}
			expect([]string{line}, 0, 0, "answered with conflict")
		}
		done = done + len(w.done)
		refused = refused + len(w.refused)
	}
	expect(e.done, 1, 1, "written by the editor")
	assert.That(t, putBack <= refused/100, "the editor put back %d lines that a gateway took back", putBack)
	expect([]string{logHead}, 1, 1, "the head")
	for line := range there {
		t.Errorf("no one wrote %q", line)
	}
	t.Logf("%d writes: %d done (%d and %d), %d conflicts", done+refused, done, len(writers[0].done), len(writers[1].done), refused)
	t.Logf("%d lines of the editor: %d times it overwrote a gateway and put the lines back, %d times a gateway overwrote it unseen",
		len(e.done), e.merged, e.overwritten)
	if done+refused != conditionalWrites || done < conditionalWrites/10 || refused < conditionalWrites/50 || len(e.done) < conditionalWrites/100 {
		t.Errorf("too little happened to mean anything")
	}
	assert.That(t, e.overwritten*6 <= len(e.done), "a gateway overwrote %d of %d lines of the editor", e.overwritten, len(e.done))
}

const logHead = "# Log"

// writer appends lines through one gateway. Every attempt has a line of its own.
type writer struct {
	name    string
	left    *atomic.Int64
	through *harness.StdioServer
	err     error
	// The lines by what was answered: ok, or conflict.
	done, refused []string
	refusedAt     []time.Time // when each of these was answered
}

func (w *writer) write() error {
	for {
		n := w.left.Add(-1)
		if n < 0 {
			return nil
		}
		read, err := w.read()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("- gateway %s, %d", w.name, n)
		said, err := w.through.Ask(map[string]any{
			"command": "append", "params": map[string]string{"path": "Log.md", "content": line + "\n"}, "expectHash": read.Hash,
		})
		switch {
		case err != nil:
			return err
		case said.OK && (said.Change == nil || said.Change.Before != read.Hash):
			return fmt.Errorf("append to the note with the hash %s: %+v", read.Hash, said.Change)
		case said.OK:
			w.done = append(w.done, line)
		case harness.CodeOf(said) == "conflict":
			w.refused = append(w.refused, line)
			w.refusedAt = append(w.refusedAt, time.Now())
		default:
			return fmt.Errorf("append: %+v", said.Error)
		}
	}
}

// read reads the note, which is there at every moment.
func (w *writer) read() (gateway.Result, error) {
	said, err := w.through.Ask(map[string]any{"command": "read", "params": map[string]string{"path": "Log.md"}})
	if err == nil && !said.OK {
		err = fmt.Errorf("read: %+v", said.Error)
	}
	return said, err
}

// editor writes lines of its own at the start of the note.
type editor struct {
	note                string
	random              *rand.Rand
	err                 error
	done                []string
	merged, overwritten int
	seen                map[string]time.Time // lines of others that it has read or overwritten, and when first
}

// see notes which lines a text has.
func (e *editor) see(text string) {
	now := time.Now()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if _, isKnown := e.seen[line]; !isKnown {
			e.seen[line] = now
		}
	}
}

// pause is up to how long it waits before it writes again: about as long as a
// write of a gateway takes, so that it comes at every moment of one.
const pause = 20 * time.Millisecond

func (e *editor) edit(stop <-chan struct{}) error {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return nil
		case <-time.After(time.Duration(e.random.Int64N(int64(pause)))):
		}
		if err := e.add(fmt.Sprintf("- editor, %d", n), stop); err != nil {
			return err
		}
	}
}

// add writes a line until it is in a version that another writer has written, or
// no one else writes any more. The same applies to the lines that it put back.
func (e *editor) add(line string, stop <-chan struct{}) error {
	text := ""
	for {
		var err error
		if text, err = e.put(line, text); err != nil {
			return err
		}
		now, err := e.behind(text, stop)
		if err != nil {
			return err
		}
		if united(now, text) == now {
			e.done = append(e.done, line)
			return nil
		}
		e.overwritten++
	}
}

// behind waits for another version than text.
func (e *editor) behind(text string, stop <-chan struct{}) (string, error) {
	for {
		now, err := os.ReadFile(e.note)
		if err != nil || string(now) != text {
			return string(now), err
		}
		select {
		case <-stop:
			return text, nil
		case <-time.After(time.Millisecond):
		}
	}
}

// put writes a line, and what of an earlier text of its own is gone, and puts back
// what it has overwritten. It returns the text that it leaves.
func (e *editor) put(line, earlier string) (string, error) {
	read, err := os.ReadFile(e.note)
	if err != nil {
		return "", err
	}
	e.see(string(read))
	expected, text := string(read), united(inserted(string(read), line), earlier)
	for {
		stood, err := e.exchange(text)
		if err != nil || stood == expected {
			return text, err
		}
		e.see(stood)
		e.merged++
		expected, text = text, united(text, stood)
		if text == expected {
			return text, nil // what it has overwritten was a part of it
		}
	}
}

// exchange puts text in the place of the note and returns what stood there at
// that moment.
func (e *editor) exchange(text string) (stood string, err error) {
	temp := filepath.Join(filepath.Dir(e.note), ".editor")
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return "", err
	}
	if err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, e.note, unix.RENAME_EXCHANGE); err != nil {
		return "", err
	}
	old, err := os.ReadFile(temp)
	return string(old), errors.Join(err, os.Remove(temp))
}

// canExchange tries it on two files of a folder.
func (e *editor) canExchange(folder string) error {
	a, b := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	defer os.Remove(a)
	defer os.Remove(b)
	return errors.Join(os.WriteFile(a, nil, 0o600), os.WriteFile(b, nil, 0o600),
		unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE))
}

// inserted is a note with a line below its head.
func inserted(text, line string) string {
	if hasLine(text, line) {
		return text
	}
	return strings.Replace(text, logHead+"\n", logHead+"\n"+line+"\n", 1)
}

// united is text with the lines of another one that it lacks.
func united(text, other string) string {
	for line := range strings.Lines(other) {
		if !hasLine(text, strings.TrimSuffix(line, "\n")) {
			text += line
		}
	}
	return text
}

func hasLine(text, line string) bool { return strings.Contains("\n"+text, "\n"+line+"\n") }
