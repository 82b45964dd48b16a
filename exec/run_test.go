package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

const goodVersion = "1.12.7 (installer 1.12.7)\n"

var (
	probed = part{Argv: []string{"version"}, Out: []byte(goodVersion)} // the answer to the probe
	readX  = part{Argv: []string{"read", "path=a.md"}, Out: []byte("x\n")}
)

// appRunner returns a Runner and the program that a fake client makes.
func appRunner(t testing.TB, c Config, parts ...part) (*Runner, Program, string) {
	t.Helper()
	path := fakeCLI(t, "obsidian", script{Parts: parts})
	r, p := runnerFor(t, c, path)
	return r, p, path
}

func runnerFor(t testing.TB, c Config, path string) (*Runner, Program) {
	t.Helper()
	c.CLI = path
	r := New(c)
	return r, require.Value(r.App())(t)
}

// embeddedRunner does the same for the embedded program, which is asked for version
// or read path=a.md.
func embeddedRunner(t testing.TB, c Config, s script) (*Runner, Program, string) {
	t.Helper()
	folder := t.TempDir()
	for i := range s.Parts {
		s.Parts[i].Argv = append([]string{"vault", folder}, s.Parts[i].Argv...)
	}
	c.Self = fakeCLI(t, "vaultwicket", s)
	r := New(c)
	return r, require.Value(r.Embedded(folder))(t), c.Self
}

func codeOf(err error) string {
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return ""
}

// failureCode is the code of an answer, "" for a success.
func failureCode(out Outcome) string {
	if out.Failure == nil {
		return ""
	}
	return out.Failure.Code()
}

func TestRunAnswersOfTheApp(t *testing.T) {
	t.Parallel()
	read := []string{"read", "path=a.md"}
	tests := []struct {
		name                 string
		parts                []part
		call                 string
		params               params
		stdout, failure, err string
	}{
		{"a note is printed as it is", []part{probed, {Argv: read, Out: []byte("# A\n")}}, "read", params{"path": "a.md"}, "# A\n", "", ""},
		{"a note may begin like an error",
			[]part{probed, {Argv: read, Out: []byte("Error: File \"b.md\" not found.\n")}}, "read",
			params{"path": "a.md"}, "Error: File \"b.md\" not found.\n", "", ""},
		{"an error comes with status 0", []part{probed, {Argv: read, Out: []byte("Error: File \"a.md\" not found.\n")}},
			"read", params{"path": "a.md"}, "Error: File \"a.md\" not found.\n", "not_found", ""},
		{"version needs no probe", []part{probed}, "version", nil, goodVersion, "", ""},
		{"the app is closed", []part{{Argv: []string{"version"}, Err: []byte(textNotRunning + "\n"), Exit: 1}}, "read",
			params{"path": "a.md"}, "", "", "app_not_running"},
		{"the app is closed after the probe", []part{probed, {Argv: read, Err: []byte(textNotRunning + "\n"), Exit: 1}},
			"read", params{"path": "a.md"}, "", "", "app_not_running"},
		{"the CLI is switched off", []part{{Argv: []string{"version"}, Out: []byte(textDisabled + "\n")}}, "read",
			params{"path": "a.md"}, "", "", "cli_disabled"},
		{"no vault is open", []part{{Argv: []string{"version"}, Out: []byte("\nVault not found.\n")}}, "read",
			params{"path": "a.md"}, "", "", "vault_not_found"},
		{"the app is too old", []part{{Argv: []string{"version"}, Out: []byte("1.12.6 (installer 1.12.4)\n")}}, "read",
			params{"path": "a.md"}, "", "", "cli_too_old"},
		{"another program of that name",
			[]part{{Argv: []string{"version"}, Out: []byte("obsidian theme tool v3\n")},
				{Argv: []string{"version"}, Out: []byte("obsidian theme tool v3\n")}}, "read", params{"path": "a.md"}, "",
			"", "cli_unsuitable"},
		{"a client that says nothing", []part{{Argv: []string{"version"}}}, "read", params{"path": "a.md"}, "", "", "cli_unsuitable"},
		{"a client that aborts", []part{{Argv: []string{"version"}, Exit: 134}}, "read", params{"path": "a.md"}, "", "", "cli_crashed"},
		{"noise on both streams", []part{probed, {Argv: read, Out: []byte(noise1 + "x\n"), Err: []byte(noise1)}},
			"read", params{"path": "a.md"}, "x\n", "", ""},
		{"a cold start is asked again once",
			[]part{probed, {Argv: read, Out: []byte(cold("read", tailPlugin))}, {Argv: read, Out: []byte("x\n")}},
			"read", params{"path": "a.md"}, "x\n", "", ""},
		{"a cold start that lasts", []part{probed, {Argv: read, Out: []byte(cold("read", tailPlugin))},
			{Argv: read, Out: []byte(cold("read", tailPlugin))}}, "read", params{"path": "a.md"},
			cold("read", tailPlugin), "", "vault_starting"},
		{"a cold start that turns silent",
			[]part{probed, {Argv: read, Out: []byte(cold("read", tailPlugin))}, {Argv: read}}, "read",
			params{"path": "a.md"}, "", "", "vault_starting"},
		{"a plugin that is off", []part{probed,
			{Argv: []string{"templates"}, Out: []byte(cold("templates", tailPlugin))},
			{Argv: []string{"templates"}, Out: []byte(cold("templates", tailPlugin))}}, "templates", nil,
			cold("templates", tailPlugin), "cli_error", ""},
		{"a vault that fills while it is asked",
			[]part{probed, {Argv: []string{"templates"}, Out: []byte(cold("templates", " Did you mean: a, b?"))},
				{Argv: []string{"templates"}, Out: []byte(cold("templates", tailPlugin))}}, "templates", nil,
			cold("templates", tailPlugin), "", "vault_starting"},
		{"a cold start of the probe",
			[]part{{Argv: []string{"version"}, Out: []byte(cold("version", tailPlugin))}, probed,
				{Argv: read, Out: []byte("x\n")}}, "read", params{"path": "a.md"}, "x\n", "", ""},
		{"a cold start of the probe that lasts",
			[]part{{Argv: []string{"version"}, Out: []byte(cold("version", tailPlugin))},
				{Argv: []string{"version"}, Out: []byte(cold("version", tailPlugin))}}, "read", params{"path": "a.md"}, "",
			"", "vault_starting"},
		{"an empty answer is not asked again", []part{probed, {Argv: read}}, "read", params{"path": "a.md"}, "", "empty_output", ""},
		{"a write is never asked again",
			[]part{probed, {Argv: []string{"delete", "path=a.md"}, Out: []byte("Error: ENOENT: x\n")}}, "delete",
			params{"path": "a.md"}, "Error: ENOENT: x\n", "outcome_unknown", ""},
		{"bytes that are no text", []part{probed, {Argv: read, Out: []byte("a\xffb\xc3\n")}}, "read", params{"path": "a.md"}, "a\xffb\xc3\n", "", ""},
		{"an unknown status", []part{probed, {Argv: read, Exit: 3}}, "read", params{"path": "a.md"}, "", "cli_error", ""},
		{"a stdout that is closed early", []part{probed, {Argv: read, Out: []byte("x\n"), Do: "close"}}, "read", params{"path": "a.md"}, "x\n", "", ""},
		{"a crash", []part{probed, {Argv: read, Out: []byte("x"), Do: "crash"}}, "read", params{"path": "a.md"}, "x", "", "cli_crashed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.name == "a client that aborts" {
				t.Skip("no status tells that there")
			}
			r, p, _ := appRunner(t, Config{}, tt.parts...)
			out, err := r.Run(t.Context(), mustPermit(tt.call, tt.params), p)
			if codeOf(err) != tt.err || failureCode(out) != tt.failure || out.Stdout != tt.stdout {
				t.Errorf("stdout %q, failure %v, error %v; want %q, %q, %q", out.Stdout, out.Failure, err, tt.stdout, tt.failure, tt.err)
			}
			assert.That(t, err == nil || hintOf(err) != "", "no hint with %v", err)
		})
	}
}

func hintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

func cold(command, tail string) string {
	return `Error: Command "` + command + `" not found.` + tail + "\n"
}

func TestProbeIsAskedOnce(t *testing.T) {
	r, p, _ := appRunner(t, Config{}, probed, readX, readX, readX)
	together(3, func() {
		out, err := r.Run(t.Context(), reads("a.md"), p)
		require.NoError(t, err)
		assert.Equal(t, out.Stdout, "x\n")
	})
}

func TestProbeIsAskedAgain(t *testing.T) {
	ask := func(t *testing.T, r *Runner, p Program, want string) {
		t.Helper()
		_, err := r.Run(t.Context(), reads("a.md"), p)
		require.Equal(t, codeOf(err), want)
		require.That(t, want != "" || err == nil, "%v, want %q", err, want)
	}
	t.Run("after the app was closed", func(t *testing.T) {
		closed := part{Argv: readX.Argv, Err: []byte(textNotRunning + "\n"), Exit: 1}
		r, p, _ := appRunner(t, Config{}, probed, closed, probed, readX)
		ask(t, r, p, CodeNotRunning)
		ask(t, r, p, "")
	})
	t.Run("after the file was replaced", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("the client is a shell script")
		}
		path := filepath.Join(t.TempDir(), "obsidian")
		write := func(version string) {
			writeProgram(t, path, "#!/bin/sh\n[ $1 = version ] && echo '"+version+"' || echo x\n")
		}
		write("1.12.7")
		r, p := runnerFor(t, Config{}, path)
		ask(t, r, p, "")
		write("1.12.6 (installer 1.12.6)")
		ask(t, r, p, CodeTooOld)
		require.NoError(t, os.Chmod(path, 0o777))
		ask(t, r, p, CodeUnsuitable)
		os.Remove(path)
		ask(t, r, p, CodeNotFound)
	})
}

// writeProgram replaces a program as an installer does: a new file takes the
// name of the old one.
func writeProgram(t testing.TB, path, text string) {
	t.Helper()
	testenv.WriteProgram(t, path+".new", []byte(text))
	require.NoError(t, os.Rename(path+".new", path))
}

func TestOldInstallerIsANotice(t *testing.T) {
	old := part{Argv: []string{"version"}, Out: []byte("1.12.7 (installer 1.12.4)\n")}
	r, p, _ := appRunner(t, Config{}, old, readX, readX)
	for i, want := range []int{1, 0} {
		out, err := r.Run(t.Context(), reads("a.md"), p)
		require.Equal(t, err, nil, "call %d: %v, notices %q", i, err, out.Notices)
		assert.Equal(t, len(out.Notices), want, "call %d: %v, notices %q", i, err, out.Notices)
	}
}

func TestNothingIsRunUnjudged(t *testing.T) {
	r, p, _ := appRunner(t, Config{})
	_, err := r.Run(t.Context(), policy.Permit{}, p)
	assert.ErrorIs(t, err, ErrNoPermit, "zero permit")
	out, err := r.Run(t.Context(), mustPermit("version", nil), Program{})
	assert.ErrorIs(t, err, ErrNoProgram, "zero program: %v, status %d", err, out.ExitCode)
	assert.Equal(t, out.ExitCode, process.NoExit, "zero program: %v, status %d", err, out.ExitCode)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err = r.Run(ctx, mustPermit("version", nil), p)
	assert.Equal(t, codeOf(err), CodeCancelled, "ended context: %v, status %d", err, out.ExitCode)
	assert.Equal(t, out.ExitCode, process.NoExit, "ended context: %v, status %d", err, out.ExitCode)
}

// failing is what the embedded program reports when it fails.
func failing(code string) protocol.Failure {
	return protocol.Failure{Code: code, Hint: "do something", Reason: "Error: Some reason."}
}

func TestEmbeddedProgram(t *testing.T) {
	read := []string{"--facts", "read", "path=a.md"}
	version := []string{"--facts", "version"}
	tests := []struct {
		name                 string
		part                 part
		call                 string
		params               params
		stdout, failure, err string
	}{
		{"status 0 is believed", part{Argv: read, Out: []byte("Error: File \"a.md\" not found.\n")}, "read",
			params{"path": "a.md"}, "Error: File \"a.md\" not found.\n", "", ""},
		{"status 1 is believed", part{Argv: read, Out: []byte("Error: File \"a.md\" not found.\n"),
			Reply: protocol.Reply{Failure: failing("not_found")}, Exit: 1}, "read", params{"path": "a.md"},
			"Error: File \"a.md\" not found.\n", "not_found", ""},
		{"a text without a code has none", part{Argv: read, Out: []byte("Error: File \"a.md\" not found.\n"), Exit: 1},
			"read", params{"path": "a.md"}, "Error: File \"a.md\" not found.\n", "cli_error", ""},
		{"the code counts and not the text",
			part{Argv: read, Out: []byte("Vault not found.\n"), Reply: protocol.Reply{Failure: failing("conflict")},
				Exit: 1}, "read", params{"path": "a.md"}, "Vault not found.\n", "conflict", ""},
		{"a code on standard output is text", part{Argv: read, Out: []byte(`{"code":"conflict"}`), Exit: 1}, "read",
			params{"path": "a.md"}, `{"code":"conflict"}`, "cli_error", ""},
		{"a code with status 0 is none", part{Argv: read, Reply: protocol.Reply{Failure: failing("conflict")}}, "read", params{"path": "a.md"}, "", "", ""},
		{"an empty note is a note", part{Argv: read}, "read", params{"path": "a.md"}, "", "", ""},
		{"what only the app can do",
			part{Argv: version, Out: []byte("Error: \"version\" needs the Obsidian app.\n"),
				Reply: protocol.Reply{Failure: failing("needs_app")}, Exit: 1}, "version", nil,
			"Error: \"version\" needs the Obsidian app.\n", "needs_app", ""},
		{"another vault", part{Argv: read, Out: []byte("Vault not found.\n"),
			Reply: protocol.Reply{Failure: failing("vault_not_found")}, Exit: 1}, "read", params{"path": "a.md"},
			"Vault not found.\n", "", "vault_not_found"},
		{"a wrong request", part{Argv: read, Out: []byte("no such switch\n"),
			Reply: protocol.Reply{Failure: failing("bad_value")}, Exit: 2}, "read", params{"path": "a.md"},
			"no such switch\n", "bad_value", ""},
		{"a command it does not have", part{Argv: version, Out: []byte(cold("version", tailPlugin)), Exit: 1},
			"version", nil, cold("version", tailPlugin), "cli_error", ""},
		{"a panic", part{Argv: read, Reply: protocol.Reply{Panic: "panic: x\n\ngoroutine 1\n"}, Exit: 2}, "read",
			params{"path": "a.md"}, "", "", "cli_crashed"},
		{"the end of the program without a reply", part{Argv: read, Out: []byte("half"), Do: dies}, "read", params{"path": "a.md"}, "half", "", "cli_crashed"},
		{"a thread that cannot be made",
			part{Argv: read,
				Err: []byte("runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f m=4 sigcode=0\n"),
				Do:  dies, Exit: 2}, "read", params{"path": "a.md"}, "", "", "cli_crashed"},
		{"noise is no noise here", part{Argv: read, Out: []byte(noise1)}, "read", params{"path": "a.md"}, noise1, "", ""},
		{"an empty line is left alone", part{Argv: read, Out: []byte("\nx\n")}, "read", params{"path": "a.md"}, "\nx\n", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{tt.part}})
			out, err := r.Run(t.Context(), mustPermit(tt.call, tt.params), p)
			if codeOf(err) != tt.err || failureCode(out) != tt.failure || out.Stdout != tt.stdout {
				t.Errorf("stdout %q, failure %v, error %v; want %q, %q, %q", out.Stdout, out.Failure, err, tt.stdout, tt.failure, tt.err)
			}
		})
	}
}

// A process for one call has to be our own program, in the same version and for the same vault.
func TestAProcessThatIsNotTheEmbeddedProgram(t *testing.T) {
	read := []string{"--facts", "read", "path=a.md"}
	for do, reason := range map[string]string{
		"worker of another version": fmt.Sprintf("speaks version %d of the worker's protocol, not %d",
			protocol.Version+1, protocol.Version), "worker of another folder": "is not the worker that was started",
	} {
		r, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{{Argv: read, Do: do, Out: []byte("text")}}})
		out, err := r.Run(t.Context(), reads("a.md"), p)
		assert.Equal(t, codeOf(err), CodeUnsuitable, "%s", do)
		assert.Contains(t, err.Error(), reason, "%s", do)
		assert.Equal(t, out.Stdout, "", "%s", do)
	}
	r, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{{Argv: read, Out: []byte("half"), Do: "garbage"}}})
	out, err := r.Run(t.Context(), reads("a.md"), p)
	assert.Equal(t, codeOf(err), CodeCrashed, "garbage in an answer")
	assert.Equal(t, out.Stdout, "half", "garbage in an answer")
	if runtime.GOOS == "windows" {
		return // the program below is a script
	}
	path := filepath.Join(t.TempDir(), "embedded")
	writeProgram(t, path, "#!/bin/sh\necho 'Error: Unknown switch: --once'; exit 2\n")
	r = New(Config{Self: path})
	p = require.Value(r.Embedded(t.TempDir()))(t)
	out, err = r.Run(t.Context(), reads("a.md"), p)
	assert.Equal(t, codeOf(err), CodeUnsuitable, "another program")
	assert.Equal(t, out.Stdout, "", "another program")
}

// The answer counts of a process that has replied and is stopped at the limit of the call, while it keeps what it has read.
func TestAReplyCountsWhenItsProcessIsStopped(t *testing.T) {
	read := []string{"--facts", "read", "path=a.md"}
	r, p, _ := embeddedRunner(t, Config{Timeout: 3 * time.Second}, script{Parts: []part{{Argv: read, Out: []byte("text"), Do: stays}}})
	out, err := r.Run(t.Context(), reads("a.md"), p)
	require.NoError(t, err)
	assert.Equal(t, out.Stdout, "text")
	assert.Equal(t, out.ExitCode, 0)
}

// An answer of a process for one call may have any length, and arrives in pieces.
func TestALongAnswerOfOneCall(t *testing.T) {
	text := strings.Repeat("a line of it\n", 2*protocol.MaxChunk/13)
	r, p, _ := embeddedRunner(t, Config{},
		script{Parts: []part{{Argv: []string{"--facts", "read", "path=a.md"}, Out: []byte(text),
			Reply: protocol.Reply{Facts: protocol.Facts{Path: "a.md", Notice: "a notice"}}}}})
	out, err := r.Run(t.Context(), reads("a.md"), p)
	require.Equal(t, err, nil, "%d bytes of %d", len(out.Stdout), len(text))
	require.Equal(t, out.Stdout, text, "%d bytes of %d", len(out.Stdout), len(text))
	require.That(t, !out.Cut, "%d bytes of %d, %q, %v", len(out.Stdout), len(text), out.Notices, err)
	require.Equal(t, out.Path, "a.md", "%d bytes of %d", len(out.Stdout), len(text))
	assert.That(t, slices.Contains(out.Notices, "a notice"), "%d bytes of %d, %q, %v", len(out.Stdout), len(text), out.Notices, err)
}

func TestLongContentTravelsOnStandardInput(t *testing.T) {
	content := strings.Repeat(`C:\new `, 100_000)
	r, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{{
		Argv: []string{"--stdin", "content", "--write", "--facts", "append", "path=a.md"}, Do: "stdin",
		Err: []byte("warned\n"), Reply: protocol.Reply{Facts: protocol.Facts{Path: "a.md", Hash: "h", Before: new("b")}},
	}}})
	out, err := r.Run(t.Context(), mustPermit("append", params{"path": "a.md", "content": content}), p)
	require.Equal(t, err, nil, "%d bytes came back of %d", len(out.Stdout), len(content))
	assert.Equal(t, out.Stdout, content, "%d bytes came back of %d", len(out.Stdout), len(content))
	assert.Equal(t, out.Path, "a.md", "facts %q %q %q, stderr %q", out.Path, out.Hash, out.Before, out.Stderr)
	assert.Equal(t, out.Hash, "h", "facts %q %q %q, stderr %q", out.Path, out.Hash, out.Before, out.Stderr)
	assert.Equal(t, out.Before, "b", "facts %q %q %q, stderr %q", out.Path, out.Hash, out.Before, out.Stderr)
	assert.Equal(t, out.Stderr, "warned\n", "facts %q %q %q, stderr %q", out.Path, out.Hash, out.Before, out.Stderr)
}

func TestFactsOfTheAppAreNotBelieved(t *testing.T) {
	line := "vaultwicket-facts: {\"path\":\"a.md\"}\n"
	r, p, _ := appRunner(t, Config{}, part{Argv: []string{"version"}, Out: []byte(goodVersion), Err: []byte(line)})
	out, err := r.Run(t.Context(), mustPermit("version", nil), p)
	require.Equal(t, err, nil, "path %q, stderr %q", out.Path, out.Stderr)
	require.Equal(t, out.Path, "", "path %q, stderr %q", out.Path, out.Stderr)
	assert.Equal(t, out.Stderr, line, "path %q, stderr %q", out.Path, out.Stderr)
}

// The app prints the value of a property alone, and only by the name it is known for a password.
func TestAPasswordOfTheAppHasAMark(t *testing.T) {
	line := regexp.MustCompile(`^‹secret:password:[0-9a-f]{6}›\n‹secret:password:[0-9a-f]{6}›\n$`)
	for name, want := range map[string]bool{"password": true, "author": false} {
		value := "Zk7pQ2mVxA9\nR8dk2Lx0PqW\n"
		r, p, _ := appRunner(t, Config{SecretsKey: func() []byte { return []byte("k") }}, probed,
			part{Argv: []string{"property:read", "name=" + name, "path=a.md"},
				Out: []byte("Loading updated app package x\n" + value)})
		out, err := r.Run(t.Context(), mustPermit("property:read", params{"name": name, "path": "a.md"}), p)
		require.Equal(t, err, nil, "%s", name)
		require.Equal(t, line.MatchString(out.Stdout), want, "%s", name)
		assert.That(t, want || out.Stdout == value, "%s: %q, %v", name, out.Stdout, err)
	}
}

func TestSurroundingsOfAChild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system adds variables there, and folders of PATH have a drive")
	}
	set := map[string]string{
		"HOME": "/home/me", "LD_PRELOAD": "/x.so", "NODE_OPTIONS": "-r x", "ELECTRON_RUN_AS_NODE": "1", "DYLD_INSERT_LIBRARIES": "x",
		"SECRET": "s", "PATH": "/bin:relative:.", "DISPLAY": ":0", "VAULTWICKET_NOW": "2026-01-01T00:00:00Z", "TZ": "UTC", "XDG_RUNTIME_DIR": "/run/user/1",
	}
	config := Config{Getenv: func(name string) string { return set[name] }, SecretsKey: func() []byte { return []byte("k") }}
	t.Run("app", func(t *testing.T) {
		r, p, _ := appRunner(t, config, probed, part{Argv: []string{"help"}, Do: "surroundings"})
		out, err := r.Run(t.Context(), mustPermit("help", nil), p)
		want := "/ HOME=/home/me XDG_RUNTIME_DIR=/run/user/1 DISPLAY=:0 PATH=/bin\n"
		require.NoError(t, err)
		assert.Equal(t, out.Stdout, want)
	})
	t.Run("embedded", func(t *testing.T) {
		r, p, _ := embeddedRunner(t, config, script{Parts: []part{{Argv: []string{"--facts", "version"}, Do: "surroundings"}}})
		out, err := r.Run(t.Context(), mustPermit("version", nil), p)
		if want := "/ HOME=/home/me XDG_RUNTIME_DIR=/run/user/1 VAULTWICKET_NOW=2026-01-01T00:00:00Z TZ=UTC VAULTWICKET_GATEWAY=" +
			strconv.Itoa(os.Getpid()) + " VAULTWICKET_REDACT=redact:6b VAULTWICKET_LIFELINE=3\n"; err != nil ||
			out.Stdout != want {
			t.Errorf("%q, %v; want %q", out.Stdout, err, want)
		}
	})
}

func TestCommandStartsNothing(t *testing.T) {
	folder := t.TempDir()
	self := filepath.Join(folder, "self")
	r := New(Config{Self: self})
	p := require.Value(r.Embedded(folder))(t)
	got, err := p.Command(mustPermit("append", params{"path": "a.md", "content": `\n`}).Call())
	want := []string{"vault", folder, "--stdin", "content", "--write", "--facts", "append", "path=a.md"}
	require.NoError(t, err)
	require.Equal(t, got.Path, self)
	require.EqualSlices(t, got.Args, want)
	require.Equal(t, got.Stdin, `\n`)
	assert.Equal(t, got.StdinParam, "content")
	_, err = (Program{backend: appBackend}).Command(mustPermit("append", params{"path": "a.md", "content": `\n`}).Call())
	assert.Equal(t, codeOf(err), "content_unsafe", "unsafe content for the app: %v", err)
	for _, folder := range []string{"", filepath.Join(folder, "missing"), "/etc/hostname"} {
		_, err := r.Embedded(folder)
		assert.Equal(t, codeOf(err), CodeVaultNotFound, "folder %q: %v", folder, err)
	}
}

func TestQueueOfTheApp(t *testing.T) {
	t.Parallel()
	calls := 50
	if testenv.ProgramsStartSlowly() {
		calls = 8
	}
	path := fakeCLI(t, "obsidian", script{Any: true, Parts: []part{{Argv: []string{"version"}, Out: []byte(goodVersion), Do: "alone"}}})
	r, p := runnerFor(t, Config{Timeout: time.Minute}, path)
	together(calls, func() {
		out, err := r.Run(t.Context(), mustPermit("version", nil), p)
		require.NoError(t, err)
		assert.Equal(t, out.ExitCode, 0)
	})
	runs := logged(path)
	assert.That(t, len(runs) == calls, "%d runs", len(runs))
}

func TestTheQueueOfTheAppHoldsForRepeatedCalls(t *testing.T) {
	const calls = 8
	read := part{Argv: []string{"read", "path=a.md"}, Out: []byte(cold("read", tailPlugin)), Do: "alone"}
	path := fakeCLI(t, "obsidian", script{Any: true, Parts: []part{{Argv: []string{"version"}, Out: []byte(goodVersion), Do: "alone"}, read}})
	r, p := runnerFor(t, Config{Timeout: time.Minute}, path)
	together(calls, func() {
		out, err := r.Run(t.Context(), reads("a.md"), p)
		assert.Equal(t, codeOf(err), "vault_starting", "status %d", out.ExitCode)
		assert.Equal(t, out.ExitCode, 0, "status %d", out.ExitCode)
	})
	reads := 0
	for _, run := range logged(path) {
		if strings.Contains(run, "a.md") {
			reads++
		}
	}
	assert.That(t, reads == 2*calls, "%d runs", reads)
}

func TestEmbeddedRunsInParallel(t *testing.T) {
	const calls = 4
	r, p, _ := embeddedRunner(t, Config{Timeout: 30 * time.Second},
		script{Any: true, Parts: []part{{Argv: []string{"--facts", "version"}, Do: "meet", Number: calls}}})
	together(calls, func() {
		out, err := r.Run(t.Context(), mustPermit("version", nil), p)
		require.NoError(t, err)
		assert.Equal(t, out.ExitCode, 0)
	})
}

func TestAProgramThatIsNoObsidianIsNamed(t *testing.T) {
	says := part{Argv: []string{"version"}, Out: []byte("obsidian theme tool v3\n")}
	r, p := runnerFor(t, Config{}, fakeCLI(t, "obsidian", script{Parts: []part{says, says}}))
	_, err := r.Run(t.Context(), mustPermit("version", nil), p)
	var away *Unavailable
	if !errors.As(err, &away) || !strings.Contains(away.Error(), `"obsidian theme tool v3" in place of its version`) ||
		!strings.Contains(away.Hint(), "set cli to the full path") {
		t.Errorf("%v", err)
	}
}
