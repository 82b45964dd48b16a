package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// fakeObsidian is the official CLI as scripts know it: this test binary, run
// again. It reads ~/obsidian.fake, a list of calls in the order in which they
// must come:
//
//	$ vault=Work daily:path
//	> Daily/2026-11-21.md
//
// "$" is the argument list (joined by blanks), ">" a line of standard output,
// "!" one of standard error, "?" the exit status. A call that does not come
// next is answered on standard error with status 99, and what was called is
// kept in ~/obsidian.called for the script to compare.
func fakeObsidian() {
	home := os.Getenv("HOME")
	args := strings.Join(os.Args[1:], " ")
	called := filepath.Join(home, "obsidian.called")
	before, _ := os.ReadFile(called)
	if err := os.WriteFile(called, append(before, args+"\n"...), 0o600); err != nil {
		die(err)
	}
	script, err := os.ReadFile(filepath.Join(home, "obsidian.fake"))
	if err != nil {
		die(err)
	}
	call, ok := nthCall(string(script), strings.Count(string(before), "\n"))
	if !ok || call.args != args {
		die(fmt.Errorf("fake obsidian: called with %q, want %q", args, call.args))
	}
	fmt.Fprint(os.Stdout, call.stdout)
	fmt.Fprint(os.Stderr, call.stderr)
	syscall.Exit(call.status) // os.Exit lets the race detector sleep for a second
}

func die(err error) {
	fmt.Fprintln(os.Stderr, err)
	syscall.Exit(99)
}

// fakeCall is one call of the fake and its answer.
type fakeCall struct {
	args, stdout, stderr string
	status               int
}

func nthCall(script string, n int) (fakeCall, bool) {
	calls := parseFake(script)
	if n >= len(calls) {
		return fakeCall{}, false
	}
	return calls[n], true
}

func parseFake(script string) []fakeCall {
	var calls []fakeCall
	for line := range strings.Lines(script) {
		text := strings.TrimPrefix(strings.TrimSuffix(line[1:], "\n"), " ")
		if line[0] == '$' {
			calls = append(calls, fakeCall{args: text})
			continue
		}
		if len(calls) == 0 {
			continue
		}
		last := &calls[len(calls)-1]
		switch line[0] {
		case '>':
			last.stdout += text + "\n"
		case '!':
			last.stderr += text + "\n"
		case '?':
			last.status, _ = strconv.Atoi(text)
		}
	}
	return calls
}
