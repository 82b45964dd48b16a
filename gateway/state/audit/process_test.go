package audit

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/long"
	"vaultwicket/tests/programs"
	"vaultwicket/tests/require"
)

const childOf = "AUDIT_TEST_CHILD_OF"

func TestMain(m *testing.M) { programs.Main(m, childOf, child) }

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
		if !ok || there[call] != 1 {
			t.Fatalf("%q was said, and is there %d times", line, there[call])
		}
		promised++
	}
	return promised
}

// maxSaid is how many lines a process says at most before it is killed: what is read
// again is no more where the disk is fast.
const maxSaid = 200

// A log for each fifteen lives: all of it is read again.
func TestKilledAtAnyMoment(t *testing.T) {
	logs, lives, most := long.Count(1, 10), 15, maxSaid
	for n := range logs {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			l, said := newLog(t, childLimits), ""
			for range lives {
				// Two of them, so that one often goes on while the other is killed.
				saidOne, saidTwo := programs.NewSpeech(rand.IntN(most)), programs.NewSpeech(rand.IntN(most))
				one, two := start(t, l.folder.dir, saidOne), start(t, l.folder.dir, saidTwo)
				said += whole(programs.AfterLines(t, one, saidOne)) + whole(programs.AfterLines(t, two, saidTwo))
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
func whole(said string) string {
	return said[:strings.LastIndexByte(said, '\n')+1]
}

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
	assert.That(t, r.Lines == 4*each && r.Gaps == 0 && r.Files >= each/50, "%+v", r)
}
