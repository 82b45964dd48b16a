package audit

import (
	"errors"
	"fmt"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/faults"
	"vaultwicket/tests/require"
)

// TestEveryFault lets each call that changes the disk fail once, or for good, in
// a log that begins, goes on, rotates or repairs. No line that was promised is
// lost, none that was refused stays if the disk lets it be taken back, and
// nothing breaks.
func TestEveryFault(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for name, begin := range map[string]func(*testing.T, *Log){
			"a new log":   func(*testing.T, *Log) {},
			"a log":       func(t *testing.T, l *Log) { writeAll(t, l, 1, 2) },
			"a torn log":  func(t *testing.T, l *Log) { writeAll(t, l, 1, 2); tear(t, l) },
			"a full file": func(t *testing.T, l *Log) { writeAll(t, l, 1, 4) },
			"full files":  func(t *testing.T, l *Log) { writeAll(t, l, 1, 12) },
		} {
			t.Run(fmt.Sprintf("%s, killed %v", name, killed), func(t *testing.T) { everyFault(t, begin, killed) })
		}
	}
}

func tear(t *testing.T, l *Log) {
	data := readFile(t, l, currentFile)
	writeFile(t, l, currentFile, append(data, data[:200]...))
}

func everyFault(t *testing.T, begin func(*testing.T, *Log), killed bool) {
	for n := 1; ; n++ {
		require.That(t, n <= 100, "it never succeeded")
		l := newLog(t, Limits{FileSize: 2600, Files: 3})
		begin(t, l)
		require.NoError(t, l.Close())
		sys := &faults.System{N: n, Lasting: killed}
		l = again(t, l)
		l.sys = sys
		promised, refused := map[string]bool{}, map[string]bool{}
		for i := 100; i < 103; i++ {
			line := sample(i)
			err := l.Write(line, true)
			var typed *Unusable
			if err != nil && (!errors.As(err, &typed) || !errors.Is(err, faults.Err)) {
				t.Errorf("call %d: %v", n, err)
			}
			if err == nil {
				promised[line.Call] = true
			} else {
				refused[line.Call] = true
			}
		}
		check := func(when string) {
			t.Helper()
			r := verified(t, l)
			require.That(t, r.Broken == nil, "call %d failed%s: %v", n, when, r.Broken)
			there := map[string]bool{}
			for _, line := range listed(t, l, Filter{}) {
				there[line.Call] = true
			}
			for call := range promised {
				assert.That(t, there[call], "call %d failed%s: %s is lost", n, when, call)
			}
			for call := range refused {
				assert.That(t, !there[call] || killed, "call %d failed%s: %s is there", n, when, call)
			}
		}
		check("")
		next := again(t, l)
		writeAll(t, next, 200, 200)
		check(", and another process goes on")
		if sys.Calls < n {
			return
		}
	}
}

// TestEveryFaultOfAnOpenLog has each call of a line fail in a log that knows its files. The line that was refused is not there, and those after it are.
func TestEveryFaultOfAnOpenLog(t *testing.T) {
	for n, ended := 1, false; !ended; n++ {
		l, sys := newLog(t, Limits{}), &faults.System{}
		l.sys = sys
		writeAll(t, l, 1, 1)
		writeAll(t, l, 2, 3)
		next := 4
		sys.Calls, sys.N = 0, n
		err := l.Write(sample(next), true)
		ended = sys.Calls < n
		if ended != (err == nil) || err != nil && !errors.Is(err, faults.Err) {
			t.Fatalf("call %d: %v", n, err)
		}
		sys.N = 0
		writeAll(t, l, next+1, next+2)
		lines := next + 1
		if ended {
			lines++
			assert.That(t, n > 3, "%d calls: a durable line is written, made durable and noted in the head", n-1)
		}
		wantWhole(t, l, lines)
	}
}
