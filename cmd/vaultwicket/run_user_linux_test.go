package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/consent"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// openTerminal returns both ends of a terminal.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number := require.Value(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	program = require.Value(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { program.Close() })
	return person, program
}

func TestAPersonIsAskedAtATerminal(t *testing.T) {
	person, program := openTerminal(t)
	require.That(t, terminal.IsTerminal(program), "a terminal is not taken for one")
	asker := func(std terminal.Streams) consent.Asker {
		return (&user{std: std, progress: terminal.StartProgress(terminal.NewMessages(std.Err), "delete", "")}).asker()
	}
	if asker(terminal.Streams{In: program, Err: &strings.Builder{}}) != nil || asker(terminal.Streams{In: strings.NewReader(""), Err: program}) != nil {
		t.Error("a user is asked who does not see the question, or cannot answer")
	}
	ask := asker(terminal.Streams{In: program, Err: program})
	for _, test := range []struct {
		typed string
		want  consent.Reply
	}{{"yes\n", consent.Yes}, {"no\n", consent.No}, {"folder\n", consent.No}, {"\x04", consent.No}, {"y\n", consent.Yes}} {
		require.Value(person.WriteString(test.typed))(t)
		assert.Equal(t, ask(t.Context(), consent.Question{Text: "Allow it?"}), test.want, "%q is answered with", test.typed)
	}
}
