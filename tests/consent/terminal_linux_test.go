package consent

import (
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"vaultwicket/gateway"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

// atTerminal runs the binary in a terminal of its own, at which a user types, and
// returns what is shown there.
func atTerminal(t *testing.T, env []string, typed string, args ...string) (shown string, err error) {
	t.Helper()
	program := osexec.Command(rig.Binary, args...)
	program.Env = env
	user := rig.StartAtTerminal(t, program)
	if _, err := user.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(rig.Deadline, func() { program.Process.Kill() })
	defer watchdog.Stop()
	var all strings.Builder
	_, _ = io.Copy(&all, user) // ends with an error when the last of the program has gone
	return all.String(), program.Wait()
}

// Without a terminal there is no approval, whatever is on standard input.
func TestApproveRefusesWithoutATerminal(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, nil)
	o.Gateway.Do(t.Context(), gateway.Request{Command: "delete", Words: []string{"path=root.md"}, Caller: "me"})
	approve := osexec.Command(rig.Binary, "approve", o.Waiting()[0].Code)
	approve.Env = append(os.Environ(), "XDG_STATE_HOME="+o.State)
	approve.Stdin = strings.NewReader("yes\nyes\n")
	approve.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // away from the terminal of the tests
	out, err := approve.CombinedOutput()
	assert.That(t, approve.ProcessState.ExitCode() == 3 && strings.Contains(string(out), "error: approve requires a terminal"), "%v\n%s", err, out)
	waiting := o.Waiting()
	assert.That(t, len(waiting) == 1, "%d questions wait", len(waiting))
}

// A client that shows no forms is told of the terminal, in both protocols, and the
// yes that is given there is good for the same call of the same server once.
func TestTheTerminalAnswersForAClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		for _, can := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
			o := rig.NewHarness(t, nil)
			s := openSession(o, modern, can)
			var first gateway.Result
			o.Refusing(can, "unconfirmed", func() string {
				s.call(deleteIt, "")
				first = s.next().Result.StructuredContent
				return rig.CodeOf(first)
			})
			waiting := o.Waiting()
			if len(waiting) != 1 || strings.Contains(first.Error.Hint+first.Error.Message, waiting[0].Code) {
				t.Fatalf("%d questions wait, and the answer is %+v", len(waiting), first.Error)
			}
			for _, typed := range []string{"no\n", "yes\n"} {
				shown, err := atTerminal(t, s.Process.Env, typed, "approve", waiting[0].Code)
				require.That(t, (err == nil) == (typed == "yes\n") && strings.Contains(shown, `removes: "Inbox/a.md"`), "%q at the terminal: %v\n%s", typed, err, shown)
			}
			other := openSession(o, modern, can)
			o.Refusing("of another server", "unconfirmed", func() string {
				other.call(deleteIt, "")
				return rig.CodeOf(other.next().Result.StructuredContent)
			})
			s.call(deleteIt, "")
			got := s.next().Result.StructuredContent
			assert.That(t, got.OK && o.Read("Inbox/a.md") == "", "%s: %+v", can, got)
			o.Write("Inbox/a.md", "one\n")
			o.Refusing("again", "unconfirmed", func() string {
				s.call(deleteIt, "")
				return rig.CodeOf(s.next().Result.StructuredContent)
			})
		}
	}
}
