package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist/day"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/resident"
	"github.com/vaultwicket/vaultwicket/tests/asking"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// saturday is the day on which these tests take place. Its offset is the time
// zone, so the machine's own plays no part.
const saturday = "2026-11-21T09:05:07+02:00"

// testVault is a vault in a folder of its own, called Home, with the program's
// surroundings.
type testVault struct {
	t     testing.TB
	dir   string
	env   map[string]string
	stdin string
	// readOnly leaves out the switch that lets a command change something.
	readOnly bool
	// later is how much later than now it is for the age of files: a file is
	// kept in mind once it has been left alone for a while.
	later time.Duration
}

func build(t testing.TB, files map[string]string) *testVault {
	t.Helper()
	h := &testVault{t: t, dir: filepath.Join(t.TempDir(), "Home"), env: map[string]string{day.NowVariable: saturday, "XDG_STATE_HOME": t.TempDir()}}
	require.NoError(t, os.Mkdir(h.dir, 0o755))
	for path, text := range files {
		h.put(path, text)
	}
	return h
}

func (h *testVault) file(path string) string { return filepath.Join(h.dir, filepath.FromSlash(path)) }

func (h *testVault) put(path, text string) {
	h.t.Helper()
	full := h.file(path)
	require.NoError(h.t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)))
}

func (h *testVault) remove(path string) {
	h.t.Helper()
	require.NoError(h.t, os.Remove(h.file(path)))
}

// get returns the text of a note, or "(missing)".
func (h *testVault) get(path string) string {
	text, err := os.ReadFile(h.file(path))
	if err != nil {
		return "(missing)"
	}
	return string(text)
}

// hostOf is what one process of the program keeps that has variables.
func hostOf(env map[string]string) *call.Host {
	return call.NewHost(func(name string) string { return env[name] }, nil)
}

// called has such a process answer a command line, in which there may be the switches of package asking.
func called(at *call.Host, words ...string) (status int, stdout, stderr string) {
	return asked(context.Background(), at, "", words)
}

func asked(ctx context.Context, at *call.Host, stdin string, words []string) (status int, stdout, stderr string) {
	var out, messages bytes.Buffer
	p := process{args: words, stdin: strings.NewReader(stdin), stdout: &out, stderr: &messages}
	if len(words) == 0 {
		status = p.byHand(ctx, at)
		return status, out.String(), messages.String()
	}
	set, rest := asking.Split(words[1:])
	var ofGateway protocol.Request
	if set(&ofGateway); reflect.DeepEqual(ofGateway, protocol.Request{}) {
		status = p.byHand(ctx, at)
		return status, out.String(), messages.String()
	}
	line, err := call.ParseLine(append(words[:1:1], rest...))
	if err != nil && ofGateway.Ask == protocol.AskCommand {
		status = p.byHand(ctx, at)
		return status, out.String(), messages.String()
	}
	set(&line.Request)
	reply := perform(at, words[0], resident.Call{Ctx: ctx, Request: line.Request, Input: p.stdin, Output: &out})
	p.report(reply, line.Want.Facts)
	return int(reply.Status), out.String(), messages.String()
}

// cutReport separates what --facts prints from the end of standard error.
func cutReport(stderr string) (rest string, facts protocol.Facts, failure protocol.Failure) {
	lines := strings.TrimSuffix(stderr, "\n")
	start := strings.LastIndexByte(lines, '\n') + 1
	var report struct {
		protocol.Facts
		protocol.Failure
	}
	text, found := strings.CutPrefix(lines[start:], "vaultwicket-facts: ")
	if !found || json.Unmarshal([]byte(text), &report) != nil {
		return stderr, facts, failure
	}
	return stderr[:start], report.Facts, report.Failure
}

// host is what one process of the program keeps.
func (h *testVault) host() *call.Host {
	at := hostOf(h.env)
	at.Now = func() time.Time { return time.Now().Add(h.later) }
	at.Pause = func(context.Context, time.Duration) {} // no one else changes notes meanwhile
	return at
}

// run calls the program on the vault.
func (h *testVault) run(args ...string) (status int, stdout, stderr string) {
	words := append([]string{h.dir}, args...)
	if len(args) > 0 && args[0] == call.StatusSwitch {
		var out bytes.Buffer
		status = process{args: words, stdout: &out}.run(context.Background(), h.host())
		return status, out.String(), ""
	}
	if !h.readOnly {
		words = append([]string{h.dir, call.WriteSwitch}, args...)
	}
	at := h.host()
	defer at.Close()
	return asked(context.Background(), at, h.stdin, words)
}

// expect calls the program and compares its exit status and output.
func (h *testVault) expect(status int, stdout string, args ...string) {
	h.t.Helper()
	gotStatus, got, stderr := h.run(args...)
	assert.That(h.t, gotStatus == status && got == stdout, "%q: status %d, output %q; want %d, %q", args, gotStatus, got, status, stdout)
	assert.Equal(h.t, stderr, "", "%q: stderr", args)
}

// expectPrefix compares the exit status, and the beginning of the output.
func (h *testVault) expectPrefix(status int, beginning string, args ...string) {
	h.t.Helper()
	gotStatus, got, _ := h.run(args...)
	assert.That(h.t, gotStatus == status && strings.HasPrefix(got, beginning), "%q: status %d, output %q; want %d, %q …", args, gotStatus, got, status, beginning)
}

// does calls the program, which has to succeed, and returns what it prints.
func (h *testVault) does(args ...string) string {
	h.t.Helper()
	status, out, stderr := h.run(args...)
	require.That(h.t, status == answer.ExitDone, "%q: status %d, %q, stderr %q", args, status, out, stderr)
	return out
}

// shownPlan is what a call would change.
type shownPlan struct {
	Loses, Digest string
	Files         []struct {
		Path           string
		Added, Removed int
		Lines          []struct{ Text string }
	}
}

func (h *testVault) plan(args ...string) (p shownPlan) {
	h.t.Helper()
	require.NoError(h.t, json.Unmarshal([]byte(h.does(append([]string{call.PlanSwitch}, args...)...)), &p))
	return p
}

func (p shownPlan) paths() (paths []string) {
	for _, file := range p.Files {
		paths = append(paths, file.Path)
	}
	return paths
}

// turn is one call in a table: the arguments are separated by blanks.
type turn struct {
	name, args string
	status     int
	want       string
}

func (h *testVault) steps(steps []turn) {
	h.t.Helper()
	for _, s := range steps {
		h.t.(*testing.T).Run(s.name, func(t *testing.T) {
			inner := &testVault{t: t, dir: h.dir, env: h.env, stdin: h.stdin}
			inner.expect(s.status, s.want, strings.Fields(s.args)...)
		})
	}
}

func TestGrammar(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text"})
	const appendUsage = "Usage: daily:append content=<text> [paneType=tab|split|window] [inline] [open] [heading=<name>] [create-heading]\n"
	h.steps([]turn{
		{"the vault may be named", "vault=Home read path=a.md", answer.ExitDone, "text\n"},
		{"another vault is not here", "vault=Work read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"a vault's name counts with its case", "vault=home read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"no name is no vault", "vault= read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"an unknown id is no vault", "vault=0123456789abcdef read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"the vault comes first", "read path=a.md vault=Home", answer.ExitMisuse, "Error: Unknown parameter: vault\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"no command", "", answer.ExitMisuse, "Error: No command given.\n" + call.Synopsis + "\n"},
		{"the clipboard is not touched", "read path=a.md --copy", answer.ExitMisuse, "Error: Unknown switch: --copy\n"},
		{"a switch before the command", "--verbose read path=a.md", answer.ExitMisuse, "Error: Unknown switch: --verbose\n"},
		{"a switch without its value", "--stdin", answer.ExitMisuse, "Error: --stdin needs the name of a parameter.\n" + call.Synopsis + "\n"},
		{"an unknown parameter", "read pth=a.md", answer.ExitMisuse, "Error: Unknown parameter: pth\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"an unknown flag", "files all", answer.ExitMisuse, "Error: Unknown parameter: all\nUsage: files [folder=<path>] [ext=<extension>] [total]\n"},
		{"no name of a parameter", "read =a.md", answer.ExitMisuse, "Error: Unknown parameter: \nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"a repeated parameter", "read path=a.md path=b.md", answer.ExitMisuse, "Error: Parameter given twice: path\n"},
		{"two targets", "read path=a.md file=a", answer.ExitMisuse, "Error: Use file=<name> or path=<path>, not both.\n"},
		{"a flag with the value true", "files total=true", answer.ExitDone, "1\n"},
		{"a flag with another value", "files total=false", answer.ExitMisuse, "Error: Invalid value for total: false. Leave it out or give it alone.\n"},
		{"a parameter without a value", "read path", answer.ExitMisuse, "Error: Missing value for parameter: path=<path>\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"an empty value", "read path=", answer.ExitMisuse, "Error: Missing value for parameter: path=<path>\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"a value that is none of the known", "vault info=all", answer.ExitMisuse, "Error: Invalid value for info: all. Use name, path, files, folders, size.\n"},
		{"a required parameter that is missing", "daily:append inline", answer.ExitMisuse, "Error: Missing required parameter: content=<text>\n" + appendUsage},
		{"a required parameter that is empty", "daily:append content=", answer.ExitMisuse, "Error: Missing required parameter: content\n"},
	})
}

func TestCommandsThatAreNotHere(t *testing.T) {
	h := build(t, nil)
	h.steps([]turn{
		{"one that needs the app", "hotkeys verbose", answer.ExitFailed, "Error: \"hotkeys\" needs the Obsidian app.\n"},
		{"its parameters do not matter", "eval nonsense", answer.ExitFailed, "Error: \"eval\" needs the Obsidian app.\n"},
		{"nothing near", "frobnicate", answer.ExitMisuse, "Error: Command \"frobnicate\" not found. It may require a plugin to be enabled.\n"},
		{"something near", "dialy:read", answer.ExitMisuse, "Error: Command \"dialy:read\" not found. Did you mean: daily:read?\n"},
		{"a part of a name", "enable", answer.ExitMisuse, "Error: Command \"enable\" not found. Did you mean: plugin:enable, snippet:enable?\n"},
		{"a path is no command", "a/b.md", answer.ExitMisuse, "Error: Command \"a/b.md\" not found. It may require a plugin to be enabled.\n"},
	})
}

func TestFolderArgument(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, test := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"none", nil, answer.ExitMisuse, "Error: No folder given.\n" + call.Synopsis + "\n"},
		{"empty", []string{"", "files"}, answer.ExitMisuse, "Error: No folder given.\n" + call.Synopsis + "\n"},
		{"a switch", []string{"--facts", "files"}, answer.ExitMisuse, "Error: No folder given.\n" + call.Synopsis + "\n"},
		{"missing", []string{file + "x", "files"}, answer.ExitFailed, "Vault not found.\n"},
		{"a file", []string{file, "files"}, answer.ExitFailed, "Vault not found.\n"},
	} {
		status, out, stderr := called(hostOf(nil), test.args...)
		assert.That(t, status == test.status && out == test.want && stderr == "", "%s: status %d, output %q, stderr %q", test.name, status, out, stderr)
	}
}

func TestVaultById(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the app's list is elsewhere")
	}
	h := build(t, map[string]string{"a.md": "text"})
	home := t.TempDir()
	list := `{"vaults":{"00112233445566aa":{"path":"` + h.dir + `","ts":1},"ffffffffffffffff":{"path":"/nowhere"}},"cli":true}`
	for _, place := range []string{".config/obsidian", ".var/app/md.obsidian.Obsidian/config/obsidian"} {
		folder := filepath.Join(home, place)
		require.NoError(t, errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(list), 0o644)))
		h.env["HOME"] = home
		h.expect(answer.ExitDone, "text\n", "vault=00112233445566aa", "read", "path=a.md")
		h.expect(answer.ExitFailed, "Vault not found.\n", "vault=ffffffffffffffff", "read", "path=a.md")
		h.expect(answer.ExitFailed, "Vault not found.\n", "vault=0000000000000000", "read", "path=a.md")
		require.NoError(t, os.RemoveAll(folder))
	}
}

func TestHelp(t *testing.T) {
	h := build(t, nil)
	all := h.does("help")
	for _, row := range table() {
		assert.That(t, strings.Contains(all, "\n  "+row.Name), "help does not name %s", row.Name)
	}
	const readBlock = "  read                  Print a note\n" +
		"    file=<name>         - The note by its name, as in a link\n" +
		"    path=<path>         - The note by its path in the vault\n    frontmatter=true|false  - With its properties (default) or without\n"
	h.steps([]turn{
		{"one command", "help read", answer.ExitDone, readBlock},
		{"by the switch behind it", "read path=a.md --help", answer.ExitDone, readBlock},
		{"by the switch in front", "--help read", answer.ExitDone, readBlock},
		{"a command that needs the app", "help hotkeys", answer.ExitFailed, "Error: \"hotkeys\" needs the Obsidian app.\n"},
		{"no command", "help frobnicate", answer.ExitMisuse, "Error: Command \"frobnicate\" not found. It may require a plugin to be enabled.\n"},
		{"a parameter", "help name=read", answer.ExitMisuse, "Error: Unknown parameter: name\nUsage: help [<command>]\n"},
	})
	_, byFlag, _ := h.run("--help")
	assert.Equal(t, byFlag, all, "--help is not help")
	_, family, _ := h.run("help", "daily")
	for _, line := range []string{"  daily  ", "  daily:append  ", "    content=<text>      - The text to add (required)\n", "    paneType=tab|split|window  - "} {
		assert.That(t, strings.Contains(family, line), "the family lacks %q:\n%s", line, family)
	}
}

func TestVersionIsNotMistakenForTheApp(t *testing.T) {
	status, line, _ := build(t, nil).run("version")
	assert.That(t, status == answer.ExitDone && strings.HasPrefix(line, "vaultwicket ") && strings.HasSuffix(line, " (embedded)\n"), "status %d, %q", status, line)
}

func TestClockVariable(t *testing.T) {
	h := build(t, nil)
	h.env[day.NowVariable] = "yesterday"
	h.expect(answer.ExitMisuse, "Error: VAULTWICKET_NOW is not a time of the form 2006-01-02T15:04:05Z: \"yesterday\"\n", "daily:path")
	h.env[day.NowVariable] = "2026-12-31T23:59:59-11:00"
	h.expect(answer.ExitDone, "2026-12-31.md\n", "daily:path")
	delete(h.env, day.NowVariable)
	status, path, _ := h.run("daily:path")
	assert.That(t, status == answer.ExitDone && len(path) == len("2026-12-31.md\n"), "by the machine's clock: %d, %q", status, path)
}

// entryID is the id of an entry of the journal.
var entryID = regexp.MustCompile(`\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{4}`)

func TestFacts(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text", ".obsidian/daily-notes.json": `{"folder":"D"}`})
	const text, empty = "982d9e3eb996f559", "e3b0c44298fc1c14"
	tests := []struct{ name, args, want string }{
		{"a read", "read path=a.md", `{"path":"a.md","hash":"` + text + `"}`},
		{"a name", "file file=A", `{"path":"a.md","hash":"` + text + `"}`},
		{"a note by chance", "random", `{"path":"a.md","hash":"` + text + `"}`},
		{"a text by chance", "random:read", `{"path":"a.md","hash":"` + text + `"}`},
		{"a path where nothing is", "daily:path", `{"path":"D/2026-11-21.md","hash":""}`},
		{"a note that is made", "daily", `{"path":"D/2026-11-21.md","hash":"` + empty + `","before":"","change":"ID"}`},
		{"a note that was there", "daily", `{"path":"D/2026-11-21.md","hash":"` + empty + `"}`},
		{"a write", "daily:append content=text", `{"path":"D/2026-11-21.md","hash":"` + text + `","before":"` + empty + `","change":"ID","added":1}`},
		{"a listing concerns no one note", "files", ""},
		{"a failed call", "read path=b.md", `{"code":"not_found","hint":"` + answer.NotFound.Hint + `","reason":"Error: File \"b.md\" not found."}`},
		{"a wrong call", "read path=", `{"code":"bad_value","reason":"Error: Missing value for parameter: path=\u003cpath\u003e"}`},
		{"a switch that cannot be parsed", "--expect 1 read path=a.md", `{"code":"bad_value","reason":"Error: --expect needs a hash of 16 hexadecimal digits."}`},
	}
	for _, test := range tests {
		want := ""
		if test.want != "" {
			want = "vaultwicket-facts: " + test.want + "\n"
		}
		_, _, stderr := h.run(append([]string{"--facts"}, strings.Fields(test.args)...)...)
		stderr = entryID.ReplaceAllString(stderr, "ID")
		assert.Equal(t, stderr, want, "%s", test.name)
	}
}

// brokenPipe refuses everything, as a reader that has gone does.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAReaderThatIsGoneIsAFailure(t *testing.T) {
	h := build(t, map[string]string{"a.md": strings.Repeat("long ", 100_000)})
	var messages bytes.Buffer
	status := process{args: []string{h.dir, "--facts", "read", "path=a.md"}, stdout: brokenPipe{}, stderr: &messages}.run(context.Background(), hostOf(h.env))
	assert.Equal(t, status, answer.ExitFailed, "status")
	want := `vaultwicket-facts: {"code":"cli_error","reason":"Error: reading stopped: broken pipe"}` + "\n"
	assert.Equal(t, messages.String(), want, "stderr %q, want", &messages)
}

func FuzzArgs(f *testing.F) {
	for _, seed := range []string{
		"files", "read\x00path=a.md", "--stdin\x00content\x00daily:append", "vault=Home\x00daily:append\x00content=x\x00inline",
		"--facts\x00random:read\x00folder=/", "help\x00daily", "read\x00file=../a", "daily:prepend\x00content=\\n", "note:replace\x00path=a.md\x00old=t\x00new=x",
		"note:insert\x00daily\x00lines=1\x00position=after\x00content=x", "note:set-section\x00file=a\x00block=^b\x00content=x", "append\x00path=a.md\x00heading=H\x00content=x",
		"task\x00ref=a.md:1\x00status=/", "property:set\x00path=a.md\x00name=k\x00value=1,2\x00type=list", "property:remove\x00path=a.md\x00name=k",
		"folder\x00path=b/", "\x00", "--help",
	} {
		f.Add(seed, "stdin")
	}
	h := build(f, map[string]string{"a.md": "text", "b/c.md": "", ".obsidian/app.json": "SECRET"})
	f.Fuzz(func(t *testing.T, words, stdin string) {
		h.stdin = stdin
		status, stdout, stderr := h.run(strings.Split(words, "\x00")...)
		assert.That(t, status == answer.ExitDone || status == answer.ExitFailed || status == answer.ExitMisuse, "status %d", status)
		assert.That(t, !strings.Contains(stdout, "SECRET") || strings.Contains(words+stdin, "SECRET"), "%q showed a hidden file", words)
		assert.That(t, stderr == "" || strings.HasPrefix(stderr, "vaultwicket-facts: "), "%q wrote %q to stderr", words, stderr)
	})
}
