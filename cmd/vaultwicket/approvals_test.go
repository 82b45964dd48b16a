package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// withApprovals returns a world with a home of its own, and the approvals in it.
func withApprovals(t *testing.T) (std terminal.Streams, out, errs *strings.Builder, d *consent.Store) {
	t.Helper()
	home := t.TempDir()
	out, errs = &strings.Builder{}, &strings.Builder{}
	std = terminal.Streams{In: strings.NewReader(""), Out: out, Err: errs, Lookup: func(name string) (string, bool) {
		return home, name == "XDG_STATE_HOME"
	}}
	state := private.StateFolder(std.Getenv, "")
	require.That(t, private.EnsureFolder(state), "no state folder")
	return std, out, errs, consent.OpenStore(consent.Folder(state), time.Now)
}

// runApproval runs a subcommand and returns its exit status.
func runApproval(t *testing.T, name string, std terminal.Streams, args ...string) int {
	t.Helper()
	subcommands := map[string]func(context.Context, terminal.Streams, []string) error{"approvals": listApprovals, "approve": approve, "deny": deny}
	return terminal.PrintError(std.Err, subcommands[name](t.Context(), std, args))
}

func storedQuestion(session string) consent.StoredQuestion {
	return consent.StoredQuestion{
		Session: session, Client: `evil", session "mine`, Vault: "Notes", Command: "delete",
		Text: "Allow \"delete\"?\n│ AAAA-BBBB  asked 1s ago", Digest: consent.Digest{1},
	}
}

// A text or a name that a client has chosen is nowhere where a code is.
func TestNoTextPosesAsAQuestion(t *testing.T) {
	std, out, errs, d := withApprovals(t)
	q := require.Value(d.Ask(storedQuestion("theirs")))(t)
	status := runApproval(t, "approvals", std)
	require.That(t, status == terminal.ExitDone && errs.Len() <= 0, "status %d, %s", status, errs)
	for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		assert.That(t, (i == 0) == strings.HasPrefix(line, q.Code+"  asked ") && (i <= 0 || strings.HasPrefix(line, "  ")), "line %d is %q", i, line)
	}
	assert.That(t, strings.Contains(out.String(), `client "evil\", session \"mine", session "theirs"`), "got %s", out)
}

func TestAnAnswerIsForOneQuestion(t *testing.T) {
	std, out, errs, d := withApprovals(t)
	first := require.Value(d.Ask(storedQuestion("first")))(t)
	second := require.Value(d.Ask(storedQuestion("second")))(t)
	person := &atConsole{}
	std.Console = person.open("yes\n")
	status := runApproval(t, "approve", std, strings.ToLower(bareCode(first.Code)))
	require.That(t, status == terminal.ExitDone, "status %d, %s", status, errs)
	if !strings.HasPrefix(out.String(), "approved "+first.Code+": delete in Notes, once, until ") || !strings.Contains(person.seen.String(), first.Text) || errs.Len() > 0 {
		t.Errorf("got %s\n%s\n%s", out, errs, &person.seen)
	}
	status = runApproval(t, "deny", std, second.Code)
	require.That(t, status == terminal.ExitDone, "status %d, %s", status, errs)
	for session, granted := range map[string]bool{"first": true, "second": false} {
		grant, err := d.Redeem("Notes", consent.Digest{1}, consent.CallDigest{}, session)
		if (grant.State == consent.Approved) != granted || (err == nil) != granted {
			t.Errorf("%s is granted %v, %v", session, (grant.State == consent.Approved), err)
		}
	}
	for _, name := range []string{"approve", "deny"} {
		for _, code := range []string{first.Code, second.Code, "ZZZZ-ZZZZ", "../../x", ""} {
			assert.Equal(t, runApproval(t, name, std, code), terminal.ExitFailed, "%s %q ends with", name, code)
		}
	}
}

// atConsole is a person at the terminal of a process.
type atConsole struct {
	io.Reader
	seen strings.Builder
}

func (c *atConsole) Write(p []byte) (int, error) { return c.seen.Write(p) }
func (c *atConsole) Close() error                { return nil }

// open returns what opens the terminal at which a user types.
func (c *atConsole) open(typed string) func() (io.ReadWriteCloser, error) {
	return func() (io.ReadWriteCloser, error) {
		c.Reader = strings.NewReader(typed)
		return c, nil
	}
}

// A yes on standard input is none, and neither is anything but a yes at the
// terminal. There is no switch in place of one.
func TestApproveNeedsATerminal(t *testing.T) {
	std, out, errs, d := withApprovals(t)
	q := require.Value(d.Ask(storedQuestion("mine")))(t)
	refused := func(what string, want int, args ...string) {
		t.Helper()
		errs.Reset()
		std.In = strings.NewReader("yes\nyes\n")
		status := runApproval(t, "approve", std, args...)
		assert.That(t, status == want && out.Len() <= 0, "%s: status %d, want %d: %s%s", what, status, want, out, errs)
		grant, err := d.Redeem("Notes", consent.Digest{1}, consent.CallDigest{}, "mine")
		require.That(t, grant.State != consent.Approved && err != nil, "%s: it is approved", what)
	}
	refused("no terminal", terminal.ExitDenied, q.Code)
	assert.That(t, strings.Contains(errs.String(), "error: approve requires a terminal"), "got %s", errs)
	refused("a switch", terminal.ExitInvalid, "--yes", q.Code)
	for _, typed := range []string{"", "no\n", "yes", "\n"} {
		std.Console = (&atConsole{}).open(typed)
		refused("typed "+typed, terminal.ExitDenied, q.Code)
	}
	std.Console = (&atConsole{}).open("yes\n")
	status := runApproval(t, "approve", std, q.Code)
	assert.That(t, status == terminal.ExitDone, "status %d: %s", status, errs)
}
