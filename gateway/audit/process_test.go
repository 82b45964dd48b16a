package audit

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const childOf = "AUDIT_TEST_CHILD_OF"

func TestMain(m *testing.M) {
	if os.Getenv(childOf) != "" {
		testenv.MainOrChild(m, childOf, child)
	}
	testenv.UseMemory()
	testenv.AtOnce(16) // nearly all of the time the tests of the export wait for it
	goleak.VerifyTestMain(m)
}

// childLimits make a process rotate every few lines.
var childLimits = Limits{FileSize: 20_000, Files: 1 << 20}

// parts are what a child does if PART names one of them.
var parts = map[string]func(*Log){}

// child writes until it is killed, or was asked to write so many lines, and says
// which it was promised.
func child(dir string) {
	if part := parts[os.Getenv("PART")]; part != nil {
		part(Open(dir, Limits{}))
		return
	}
	l := Open(dir, childLimits)
	count := 1 << 30
	_, _ = fmt.Sscan(os.Getenv("COUNT"), &count)
	limitFiles(os.Getenv("LARGEST"))
	out := bufio.NewWriter(os.Stdout)
	for i := range count {
		line := sample(i)
		line.Call = fmt.Sprintf("%d-%d", os.Getpid(), i)
		err := l.Write(line, i%50 == 0)
		if err == nil {
			fmt.Fprintf(out, "wrote %s\n", line.Call)
		} else {
			fmt.Fprintf(out, "error %v\n", err)
		}
		out.Flush()
	}
}

func start(t *testing.T, dir string, said io.Writer, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childOf+"="+dir), env...)
	cmd.Stdout, cmd.Stderr = said, os.Stderr
	require.NoError(t, cmd.Start())
	return cmd
}

// confirm fails unless the log is whole and has all that was promised. It
// returns how much that was.
func confirm(t *testing.T, l *Log, said string) (promised int) {
	t.Helper()
	r := verified(t, l)
	require.That(t, r.Broken == nil, "broken: %v", r.Broken)
	there := map[string]int{}
	for _, line := range listed(t, l, Filter{}) {
		there[line.Call]++
	}
	for line := range strings.Lines(said) {
		if !strings.HasSuffix(line, "\n") {
			continue // it was killed while it said so
		}
		call, ok := strings.CutPrefix(strings.TrimSpace(line), "wrote ")
		require.That(t, ok, "%q was said, and is there %d times", line, there[call])
		require.Equal(t, there[call], 1, "%q was said, and is there %d times", line, there[call])
		promised++
	}
	return promised
}

// maxSaid is how many lines a process says at most before it is killed: what is read
// again is no more where the disk is fast.
const maxSaid = 200

// A log for each fifteen lives: all of it is read again.
func TestKilledAtAnyMoment(t *testing.T) {
	logs, lives, most := testenv.Count(1, 10), 15, maxSaid
	for n := range logs {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			l, said := newLog(t, childLimits), ""
			for range lives {
				// Two of them, so that one often goes on while the other is killed.
				saidOne, saidTwo := testenv.NewOutput(rand.IntN(most)), testenv.NewOutput(rand.IntN(most))
				one, two := start(t, l.folder.dir, saidOne), start(t, l.folder.dir, saidTwo)
				said += whole(testenv.KillAfterLines(t, one, saidOne)) + whole(testenv.KillAfterLines(t, two, saidTwo))
				r := verified(t, l)
				require.That(t, r.Broken == nil, "broken: %v", r.Broken)
			}
			writeAll(t, l, 1, 1)
			promised := confirm(t, l, said)
			assert.That(t, promised >= lives, "only %d lines were promised in %d lives", promised, lives)
			t.Logf("%d lives, two kills each, %d promised lines, %d gaps", lives, promised, verified(t, l).Gaps)
		})
	}
}

// whole returns the whole lines that a process has said.
func whole(said string) string { return said[:strings.LastIndexByte(said, '\n')+1] }

func TestFourProcessesAtOnce(t *testing.T) {
	l := newLog(t, childLimits)
	each := 500
	if testing.Short() {
		each = 100
	}
	var commands []*exec.Cmd
	var said []*strings.Builder
	for range 4 {
		out := &strings.Builder{}
		commands, said = append(commands, start(t, l.folder.dir, out, fmt.Sprintf("COUNT=%d", each))), append(said, out)
	}
	for range 10 {
		r := verified(t, l)
		assert.That(t, r.Broken == nil, "meanwhile: %v", r.Broken)
	}
	all := ""
	for i, cmd := range commands {
		require.NoError(t, cmd.Wait())
		all += said[i].String()
	}
	n := confirm(t, l, all)
	assert.That(t, n == 4*each, "%d lines, want %d", n, 4*each)
	r := verified(t, l)
	assert.Equal(t, r.Lines, 4*each)
	assert.Equal(t, r.Gaps, 0)
	assert.That(t, r.Files >= each/50, "%+v", r)
}

func decision(call string) Line {
	return Line{Kind: "decision", Call: call, Decision: "allow", Command: "read"}
}

func end(call string) Line { return Line{Kind: "end", Call: call, Command: "read"} }

// written are the lines of a log by kind and call.
func written(t *testing.T, state string) (kinds []string) {
	t.Helper()
	for line, err := range Lines(t.Context(), state, Filter{}) {
		require.NoError(t, err)
		kinds = append(kinds, line.Kind+" "+line.Call)
	}
	return kinds
}

// The decision of a call that takes long is in the log before its end, and the end after
// it; that of a short one comes with its end.
func TestTheDecisionOfALongReadDoesNotWaitForItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		logs := OpenLogs(state)
		first := logs.Hold(decision("first"))
		time.Sleep(maxHold / 2)
		long, short := logs.Hold(decision("long")), logs.Hold(decision("short"))
		assert.That(t, short.End(end("short")), "a short call has its decision in the log before its end")
		time.Sleep(maxHold/2 - time.Nanosecond)
		synctest.Wait()
		got, want := written(t, state), []string{"decision short", "end short"}
		assert.EqualSlices(t, got, want)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		time.Sleep(maxHold / 2)
		synctest.Wait()
		want = []string{"decision first", "decision long", "decision short", "end short"} // by their times
		assert.EqualSlices(t, slices.Sorted(slices.Values(written(t, state))), want)
		for _, d := range []*heldDecision{first, long} {
			assert.That(t, !d.End(end(d.line.Call)), "a decision is written twice")
		}
		time.Sleep(time.Hour)
		again := logs.Hold(decision("again")) // the timer had stopped
		time.Sleep(maxHold)
		synctest.Wait()
		assert.That(t, !again.End(end("again")), "the decision of a later call waits for its end")
	})
}

// Each line is in the log once, whichever comes first.
func TestNoDecisionIsLostOrWrittenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		logs := OpenLogs(state)
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				call := fmt.Sprint(i)
				d := logs.Hold(decision(call))
				time.Sleep(time.Duration(i%3) * maxHold)
				if !d.End(end(call)) {
					_ = logs.Write(end(call), Buffered)
				}
			})
		}
		all.Wait()
		got := written(t, state)
		slices.Sort(got)
		n, different := len(got), len(slices.Compact(got))
		assert.Equal(t, n, 120, "%d lines, %d of them different, want 120", n, different)
		assert.Equal(t, different, 120, "%d lines, %d of them different, want 120", n, different)
	})
}

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
	*fake.FailingDisk
	promised []string
}

// leave has another process write three lines until it is killed at its call of that
// number.
func leave(t *testing.T, l *Log, n, call int) killedSystem {
	t.Helper()
	other := again(t, l)
	s := killedSystem{FailingDisk: &fake.FailingDisk{N: call, Lasting: true}}
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
	head := require.Value(os.OpenFile(l.folder.file(headFile), os.O_WRONLY, 0))(t)
	require.Value(head.Write(text))(t)
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
			assert.That(t, l.Write(sample(6), Buffered) != nil, "the file was written to")
		})
	}
}
