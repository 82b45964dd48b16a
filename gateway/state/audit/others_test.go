package audit

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/faults"
	"vaultwicket/tests/require"
)

// TestWhateverAnotherProcessDoesIsSeen has another process do its work and be killed at
// each of its calls that change the disk. The next lines of a process that knows its
// file from before all that follow what is there.
func TestWhateverAnotherProcessDoesIsSeen(t *testing.T) {
	for name, test := range map[string]struct {
		lines    int // in files of five, before the other process writes three
		begin    func(*testing.T, *Log)
		isBroken bool
	}{
		"it writes":                           {1, func(*testing.T, *Log) {}, false},
		"it rotates":                          {3, func(*testing.T, *Log) {}, false},
		"it rotates, and removes the oldest":  {23, func(*testing.T, *Log) {}, false},
		"it repairs a line that was cut off":  {1, tear, false},
		"it repairs, and rotates":             {3, tear, false},
		"it finds a head that is out of date": {1, forgetLine, false},
		"it finds a rotation half done":       {3, func(t *testing.T, l *Log) { leave(t, l, 4, 3) }, false},
		"it finds no head":                    {1, remove(headFile), true},
		"it finds no file":                    {1, remove(currentFile), true},
		"it finds a file that was cut":        {1, func(t *testing.T, l *Log) { require.NoError(t, os.Truncate(l.folder.file(currentFile), 600)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			for call, ended := 1, false; !ended; call++ {
				require.That(t, call <= 100, "it never succeeded")
				ended = afterAnother(t, test.lines, call, test.begin, test.isBroken)
			}
		})
	}
}

// afterAnother writes lines, has another process begin and write until it is killed at a
// call, and writes two lines more. It reports whether the other process came to its end.
func afterAnother(t *testing.T, lines, call int, begin func(*testing.T, *Log), isBroken bool) (ended bool) {
	t.Helper()
	l := newLog(t, Limits{FileSize: 3250, Files: 4})
	writeAll(t, l, 1, lines)
	writeAll(t, l, lines+1, lines+2)
	next := lines + 3
	begin(t, l)
	other := leave(t, l, 100, call)
	before := verified(t, l)
	writeAll(t, l, next, next+1)
	after := verified(t, l)
	isWhole := after.Broken == nil && after.Torn == 0 && after.Last >= before.Last+2 && after.Last <= before.Last+3
	if !isBroken && (before.Broken != nil || !isWhole) {
		t.Fatalf("call %d: %+v, %v; before it wrote %+v, %v", call, after, after.Broken, before, before.Broken)
	}
	count := map[string]int{}
	for _, line := range listedAnyhow(t, l, Filter{}) {
		count[line.Call]++
	}
	for _, name := range append(other.promised, fmt.Sprintf("call-%d", next), fmt.Sprintf("call-%d", next+1)) {
		require.Equal(t, count[name], 1, "call %d: %s is there, times", call, name)
	}
	return other.Calls < call
}

// killedSystem is one in which a process was killed, with what it promised before.
type killedSystem struct {
	*faults.System
	promised []string
}

// leave has another process write three lines until it is killed at its call of that
// number.
func leave(t *testing.T, l *Log, n, call int) killedSystem {
	t.Helper()
	other := again(t, l)
	s := killedSystem{System: &faults.System{N: call, Lasting: true}}
	other.sys = s
	for i := range 3 {
		if line := sample(n + i); other.Write(line, i == 1) == nil {
			s.promised = append(s.promised, line.Call)
		}
	}
	_ = other.Close()
	return s
}

// forgetLine leaves the log as a process does that is killed before it writes the head.
func forgetLine(t *testing.T, l *Log) {
	t.Helper()
	text := readFile(t, l, headFile)
	other := again(t, l)
	writeAll(t, other, 90, 90)
	require.NoError(t, other.Close())
	head, err := os.OpenFile(l.folder.file(headFile), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = head.Write(text)
	require.NoError(t, err)
	require.NoError(t, head.Close())
}

// TestLogsThatTakeTurns: lines of three processes, of which each knows the
// file from before the others wrote.
func TestLogsThatTakeTurns(t *testing.T) {
	l := newLog(t, Limits{})
	logs := []*Log{l, again(t, l), again(t, l)}
	for i, l := range logs {
		writeAll(t, l, 2*i+1, 2*i+2)
	}
	writeAll(t, l, 7, 8)
	next := 9
	for _, l := range logs {
		writeAll(t, l, next, next+1)
		next += 2
	}
	for ; next <= 400; next++ {
		writeAll(t, logs[next*next%7%3], next, next)
	}
	wantWhole(t, l, 400)
}

// What only the system tells of the open file is asked for each line.
func TestWhatIsChangedByHandIsSeen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not bits there")
	}
	for name, change := range map[string]func(name string) error{
		"accessible to others": func(name string) error { return os.Chmod(name, 0o644) },
		"a second name":        func(name string) error { return os.Link(name, t.TempDir()+"/second") },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t, Limits{})
			writeAll(t, l, 1, 3)
			writeAll(t, l, 4, 5)
			require.NoError(t, change(l.folder.file(currentFile)))
			assert.That(t, l.Write(sample(6), false) != nil, "the file was written to")
		})
	}
}
