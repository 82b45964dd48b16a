package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// readLines returns every line of r, "too long" for one that is.
func readLines(t *testing.T, r *lineReader) []string {
	t.Helper()
	var lines []string
	for {
		line, err := r.next()
		switch {
		case err == nil:
			lines = append(lines, string(line))
		case errors.Is(err, errLongLine):
			lines = append(lines, "too long")
		case errors.Is(err, io.EOF):
			return lines
		default:
			t.Fatal(err)
		}
	}
}

func TestLineReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	r := &lineReader{bufio.NewReaderSize(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), lineBuffer), MaxMessage, func(int) {}}
	line, err := r.next()
	require.Equal(t, string(line), "a")
	require.NoError(t, err)
	_, err = r.next()
	require.That(t, errors.Is(err, broken), "error %v, want %v", err, broken)
}

// endless is size bytes without a newline.
type endless struct{ size int }

func (e *endless) Read(p []byte) (int, error) {
	if e.size == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.size)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.size -= n
	return n, nil
}

// A line that grows waits for pending messages to be answered, but one alone never waits.
func TestALongLineWaitsForPendingMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConn(&Server{}, io.Discard, time.Minute)
		c.ctx = t.Context()
		c.waitForBytes(maxPendingBytes + 1)
		c.bytes = maxPendingBytes - MaxMessage
		c.waitForBytes(MaxMessage)
		c.bytes++
		waited := make(chan bool, 1)
		go func() { c.waitForBytes(MaxMessage); waited <- true }()
		synctest.Wait()
		assert.That(t, len(waited) == 0, "more than the limit is in memory")
		c.update(func() { c.bytes-- })
		<-waited
	})
}

func TestLongLineTakesBoundedMemory(t *testing.T) {
	r := &lineReader{bufio.NewReaderSize(io.MultiReader(&endless{100 << 20}, strings.NewReader("\nok\n")), lineBuffer), MaxMessage, func(int) {}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := readLines(t, r)
	runtime.ReadMemStats(&after)
	require.Equal(t, strings.Join(lines, "|"), "too long|ok")
	// Growing to the limit by doubling allocates a few times the limit in all.
	used := after.TotalAlloc - before.TotalAlloc
	assert.That(t, used <= 8*MaxMessage, "allocated %d bytes for a line of 100 MiB", used)
}

// FuzzLineReader compares the reader with a splitter that keeps everything.
func FuzzLineReader(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "a\nb\n", "a\r\nb", " \n\n x", strings.Repeat("y", 40) + "\nz", "\x00\xff\n\u2028", "\n \t\r\n  a \r\n\n", "\u00a0a\u0085\n",
		strings.Repeat("y", 24) + "\n" + strings.Repeat("y", 25) + "\nok", strings.Repeat(" ", 25) + "\nok", "ok\n" + strings.Repeat("x", 100),
	} {
		f.Add([]byte(seed), uint8(1))
		f.Add([]byte(seed), uint8(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, chunk uint8) {
		const limit = 24
		r := &lineReader{bufio.NewReaderSize(&chunks{data, int(chunk)%20 + 1}, 16), limit, func(int) {}}
		got := readLines(t, r)
		var want []string
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			text := strings.Trim(string(line), " \t\r")
			switch {
			case len(line) > limit:
				want = append(want, "too long")
			case text != "":
				want = append(want, text)
			}
		}
		assert.Equal(t, strings.Join(got, "\n"), strings.Join(want, "\n"))
		assert.Equal(t, len(got), len(want))
	})
}

// chunks hands out data in pieces of at most size bytes.
type chunks struct {
	data []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.data)
	c.data = c.data[n:]
	return n, nil
}
