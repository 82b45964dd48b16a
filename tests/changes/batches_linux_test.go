package changes

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// failingBatches are atomic batches of [fillMany] whose fourth operation fails, by the first words of their changes.
var failingBatches = [][]string{
	{"append path=P/n1.md content=x", "append path=P/n2.md content=y", "create path=New/a.md content=z", "read path=gone.md"},
	{"rename path=hub.md name=Hub", "append path=long.md content=x", "property:set path=P/n3.md name=p value=5", "append path=P/n4.md content=x"},
	{"tag:rename name=t to=u", "move path=P/n5.md to=Far/n5.md", "delete path=P/n6.md", "rename path=gone.md name=Other"},
	{"folder:rename path=P name=Q", "create path=New/b.md content=x", "append path=New/b.md content=y", "create path=hub.md content=x"},
	{"vault:replace old=word new=term", "prepend path=hub.md content=x", "note:split path=long.md level=1", "delete path=gone.md"},
	{"append path=P/n7.md content=x", "append path=P/n7.md content=y", "delete path=P/n7.md", "append path=P/n7.md content=z"},
}

// otherWriter writes to a note of its own until it is told to stop, and counts the lines that it was told are there.
type otherWriter struct {
	note  string // below the vault
	lines atomic.Int64
	write func(line string) error
}

func (w *otherWriter) run(t *testing.T, stop <-chan struct{}) {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-stop:
			return
		case <-pace.C:
		}
		if err := w.write(fmt.Sprintf("%s %d", w.note, w.lines.Load())); err != nil {
			t.Errorf("%s: %v", w.note, err)
			return
		}
		w.lines.Add(1)
	}
}

// TestFailingBatchesAreWholeBesideWriters has atomic batches fail at their fourth operation while five others write to
// other notes: two of the same server, two of another one, and a program that knows of neither. Nothing is left of a
// batch, its answer says so, and every line of the others is there once.
func TestFailingBatchesAreWholeBesideWriters(t *testing.T) {
	folder := testenv.MemoryFolder(t)
	vault := filepath.Join(folder, "Vault")
	fillMany(t, vault)
	first, endFirst := manyGateway(t, folder, 0)
	defer endFirst()
	second, endSecond := manyGateway(t, folder, 0)
	defer endSecond()
	var writers []*otherWriter
	for i := range 5 {
		w := &otherWriter{note: fmt.Sprintf("W/w%d.md", i)}
		harness.WriteFile(t, filepath.Join(vault, w.note), nil)
		through := []*gateway.Gateway{first, first, second, second, nil}[i]
		w.write = func(line string) error { return appendLine(filepath.Join(vault, w.note), line) }
		if through != nil {
			w.write = func(line string) error {
				got := through.Do(t.Context(), gateway.Request{Command: "append", Words: []string{"path=" + w.note, "content=" + line}, Caller: w.note})
				if !got.OK {
					return fmt.Errorf("%q: %w", line, got.Error)
				}
				return nil
			}
		}
		writers = append(writers, w)
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(stop)
		running.Wait()
	})
	defer end() // also where the test is given up: the writers need the gateways
	for _, w := range writers {
		running.Go(func() { w.run(t, stop) })
	}
	outcomes := map[string]int{}
	before := everything(t, vault, "W")
	for n := range testenv.Count(24, 1000) {
		var batch gateway.Batch
		batch.Atomic, batch.Caller = true, "batches"
		kind := failingBatches[n%len(failingBatches)]
		for i, words := range kind {
			fields := strings.Fields(words)
			o := harness.Operation(fmt.Sprint("c", i), fields[0], fields[1:]...)
			if words == "append path=P/n4.md content=x" {
				o.ExpectHash = "0123456789abcdef"
			}
			batch.Operations = append(batch.Operations, o)
		}
		got := first.DoBatch(t.Context(), batch)
		last := ""
		for _, done := range got.Results {
			if done.Result != nil && done.Result.Error != nil {
				last = done.ClientID + " " + done.Result.Error.Code
			}
		}
		outcomes[fmt.Sprintf("%q: %s", kind[0], last)]++
		isFailed := got.Error == nil && got.Summary.OK == 3 && got.Summary.Error == 1
		isBack := got.Summary.Undone == 3 && got.Summary.NotUndone == 0
		now := everything(t, vault, "W")
		isWhole := maps.Equal(now, before)
		if !isFailed || !isBack || !isWhole {
			t.Errorf("batch %d of %q: %s\nleft: %q", n, kind, describe(got), differ(now, before, ""))
			break
		}
	}
	end()
	lines := int64(0)
	for _, w := range writers {
		text := string(require.Value(os.ReadFile(filepath.Join(vault, w.note)))(t))
		found := map[string]int{}
		for line := range strings.SplitSeq(text, "\n") {
			found[line]++
		}
		for i := range w.lines.Load() {
			line := fmt.Sprintf("%s %d", w.note, i)
			assert.That(t, found[line] == 1, "the line %q is there %d times", line, found[line])
		}
		lines += w.lines.Load()
	}
	t.Logf("%v; %d lines of the others", outcomes, lines)
}

// appendLine appends as an editor does that knows of no one else.
func appendLine(name, line string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(line + "\n")
	return err
}

func describe(b gateway.BatchResult) string {
	var said []string
	for _, done := range b.Results {
		text := done.ClientID + " " + done.Status
		if done.Result != nil && done.Result.Error != nil {
			text += " " + done.Result.Error.Error()
		}
		if done.Undone != nil {
			text += fmt.Sprint(" undone ", *done.Undone)
		}
		said = append(said, text+" "+done.Notice)
	}
	return fmt.Sprintf("%v %s", b.Error, strings.Join(said, "; "))
}
