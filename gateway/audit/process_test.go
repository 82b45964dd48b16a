package audit

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const childOf = "AUDIT_TEST_CHILD_OF"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childOf); dir != "" {
		child(dir)
		syscall.Exit(0) // os.Exit lets the race detector sleep for a second
	}
	os.Exit(m.Run())
}

// childLimits make a process rotate every few lines.
var childLimits = Limits{FileSize: 20_000, Files: 1 << 20}

// child writes until it is killed, or was asked to write so many lines, and says
// which it was promised.
func child(dir string) {
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

func start(t *testing.T, dir string, env ...string) (cmd *exec.Cmd, said *strings.Builder) {
	t.Helper()
	cmd, said = exec.Command(os.Args[0]), &strings.Builder{}
	cmd.Env = append(append(os.Environ(), childOf+"="+dir), env...)
	cmd.Stdout, cmd.Stderr = said, os.Stderr
	must(t, cmd.Start())
	return cmd, said
}

// confirm fails unless the log is whole and has all that was promised. It
// returns how much that was.
func confirm(t *testing.T, l *Log, said string) (promised int) {
	t.Helper()
	r := verified(t, l)
	if r.Broken != nil {
		t.Fatalf("broken: %v", r.Broken)
	}
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

func TestKilledAtAnyMoment(t *testing.T) {
	kills := 150
	if testing.Short() {
		kills = 15
	}
	promised, gaps, slack := 0, 0, time.Duration(0)
	for lives := 0; lives < kills; {
		l, said := newLog(t, childLimits), ""
		for range min(15, kills-lives) {
			// Two of them, so that one often goes on while the other is killed.
			one, saidOne := start(t, l.place.dir)
			two, saidTwo := start(t, l.place.dir)
			time.Sleep(slack + time.Duration(10_000+rand.IntN(40_000))*time.Microsecond)
			must(t, one.Process.Kill())
			time.Sleep(time.Duration(rand.IntN(3_000)) * time.Microsecond)
			must(t, two.Process.Kill())
			_, _ = one.Wait(), two.Wait()
			if saidOne.Len()+saidTwo.Len() == 0 { // where much is going on, lives must be longer
				slack = min(2*slack+20*time.Millisecond, time.Second)
			}
			said += whole(saidOne) + whole(saidTwo)
			if r := verified(t, l); r.Broken != nil {
				t.Fatalf("broken: %v", r.Broken)
			}
			lives++
		}
		writeAll(t, l, 1, 1)
		promised += confirm(t, l, said)
		gaps += verified(t, l).Gaps
	}
	if promised < kills {
		t.Errorf("only %d lines were promised in %d lives", promised, kills)
	}
	t.Logf("%d lives, two kills each, %d promised lines, %d gaps", kills, promised, gaps)
}

// whole returns the whole lines that a process has said.
func whole(said *strings.Builder) string {
	return said.String()[:strings.LastIndexByte(said.String(), '\n')+1]
}

func TestFourProcessesAtOnce(t *testing.T) {
	l := newLog(t, childLimits)
	const each = 500
	var commands []*exec.Cmd
	var said []*strings.Builder
	for range 4 {
		cmd, out := start(t, l.place.dir, fmt.Sprintf("COUNT=%d", each))
		commands, said = append(commands, cmd), append(said, out)
	}
	for range 10 {
		if r := verified(t, l); r.Broken != nil {
			t.Errorf("meanwhile: %v", r.Broken)
		}
	}
	all := ""
	for i, cmd := range commands {
		must(t, cmd.Wait())
		all += said[i].String()
	}
	if n := confirm(t, l, all); n != 4*each {
		t.Errorf("%d lines, want %d", n, 4*each)
	}
	if r := verified(t, l); r.Lines != 4*each || r.Gaps != 0 || r.Files < 10 {
		t.Errorf("%+v", r)
	}
}
