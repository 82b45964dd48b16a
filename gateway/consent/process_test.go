package consent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const childOf = "APPROVALS_TEST_CHILD_OF"

func TestMain(m *testing.M) { testenv.MainOrChild(m, childOf, child) }

// child does what it is told, a line at a time, and says a line for each.
func child(dir string) {
	d := OpenStore(dir, nil)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var n int
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		_, _ = fmt.Sscan(rest, &n)
		switch verb {
		case "halt": // at the n-th call to the disk from now on
			d.system = &fake.FailingDisk{N: n, Before: func() {
				fmt.Println("halted")
				select {}
			}}
			fmt.Println("ok")
		case "ask":
			q, err := d.Ask(about(byte(n)))
			fmt.Println(report(q.Code, err))
		case "approve":
			q, err := d.Approve(rest)
			fmt.Println(report(q.State.String(), err))
		case "deny":
			q, err := d.Deny(rest)
			fmt.Println(report(q.State.String(), err))
		case "redeem":
			grant, err := redeem(d, about(byte(n)))
			fmt.Println(report(fmt.Sprint("granted ", grant.State == Approved), err))
		}
	}
}

// report returns what a child says: what came out, or the kind of the error.
func report(what string, err error) string {
	var answered *Answered
	var ungranted *Ungranted
	switch {
	case errors.As(err, &answered):
		return "answered"
	case errors.As(err, &ungranted):
		return ungranted.State.String()
	case err != nil:
		return err.Error()
	}
	return what
}

// helper is a child that is running.
type helper struct {
	cmd  *exec.Cmd
	to   io.WriteCloser
	from *bufio.Scanner
}

func startHelper(t *testing.T, dir string) *helper {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childOf+"="+dir)
	cmd.Stderr = os.Stderr
	to := require.Value(cmd.StdinPipe())(t)
	from := require.Value(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	h := &helper{cmd, to, bufio.NewScanner(from)}
	t.Cleanup(h.kill)
	return h
}

func (h *helper) tell(line string) { _, _ = fmt.Fprintln(h.to, line) }

func (h *helper) hear() string {
	h.from.Scan()
	return h.from.Text()
}

func (h *helper) do(line string) string {
	h.tell(line)
	return h.hear()
}

// kill ends the child as kill -9 does.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

func TestEightProcessesAndOneIsGranted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "approvals")
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	var helpers []*helper
	for range 8 {
		helpers = append(helpers, startHelper(t, dir))
	}
	// all tells every process a line at once and counts what they say.
	all := func(line string) map[string]int {
		for _, h := range helpers {
			h.tell(line)
		}
		said := map[string]int{}
		for _, h := range helpers {
			said[h.hear()]++
		}
		return said
	}
	for n := 1; n <= rounds; n++ {
		// All of them ask, and there is one question.
		asked := all(fmt.Sprint("ask ", n))
		require.That(t, len(asked) == 1, "round %d: %v", n, asked)
		for code := range asked {
			// Four say yes and four say no: one answer counts.
			verb, other := "approve ", "deny "
			for i, h := range helpers {
				h.tell([]string{verb, other}[(i+n)%2] + code)
			}
			answers := map[string]int{}
			for _, h := range helpers {
				answers[h.hear()]++
			}
			require.Equal(t, answers["approved"]+answers["denied"], 1, "round %d", n)
			require.Equal(t, answers["answered"], len(helpers)-1, "round %d", n)
			redeemed := all(fmt.Sprint("redeem ", n))
			switch {
			case answers["approved"] == 1 && (redeemed["granted true"] != 1 || redeemed["unasked"] != len(helpers)-1),
				answers["denied"] == 1 && redeemed["denied"] != len(helpers):
				t.Fatalf("round %d: %v, %v", n, answers, redeemed)
			}
		}
	}
}

// A process that works on the store is killed before each of its calls to the
// disk in turn. Of what it said and what is found then, one is a grant at most.
func TestKilledAtEachCallToTheDisk(t *testing.T) {
	calls := storeCalls(t, (*Store).Approve)
	stages := map[string]int{}
	for n := 1; n <= calls+1; n++ {
		dir := filepath.Join(t.TempDir(), "approvals")
		h := startHelper(t, dir)
		h.do(fmt.Sprint("halt ", n))
		stage, granted := "asking", 0
		if code := h.do("ask 1"); code != "halted" {
			stage = "approving"
			if got := h.do("approve " + code); got == "approved" {
				stage = "redeeming"
				if got := h.do("redeem 1"); got == "granted true" {
					stage, granted = "over", 1
				}
			}
		}
		h.kill()
		stages[stage]++
		d := OpenStore(dir, nil)
		_, damaged := listed(t, d)
		assert.Equal(t, len(damaged), 0, "killed at %d: %v", n, damaged)
		grant, err := redeem(d, about(1))
		if grant.State == Approved {
			granted++
		}
		assert.That(t, granted <= 1, "killed at %d, %s: granted %d times, %v", n, stage, granted, err)
		assert.That(t, grant.State != Approved || stage != "asking", "killed at %d, %s: granted %d times, %v", n, stage, granted, err)
		wantUngrantedNow(t, d, n)
		// And it goes on from there.
		q := ask(t, d, by(2)) // the session may still have its first one open
		require.Value(d.Approve(q.Code))(t)
		require.Value(redeem(d, q))(t)
	}
	for _, stage := range []string{"asking", "approving", "redeeming", "over"} {
		assert.That(t, stages[stage] != 0, "never killed while %s: %v", stage, stages)
	}
}

func wantUngrantedNow(t *testing.T, d *Store, n int) {
	t.Helper()
	grant, err := redeem(d, about(1))
	assert.That(t, grant.State != Approved, "killed at %d: granted again, %v", n, err)
}
