package vault_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestGrammar(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text"})
	const appendUsage = "Usage: daily:append content=<text> [paneType=tab|split|window] [inline] [open] [heading=<name>] [create-heading] [date=<date>] [offset=<n>]\n"
	h.Steps([]embedded.Turn{
		{"the vault may be named", "vault=Home read path=a.md", answer.ExitDone, "text\n"},
		{"another vault is not here", "vault=Work read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"a vault's name counts with its case", "vault=home read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"no name is no vault", "vault= read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"an unknown id is no vault", "vault=0123456789abcdef read path=a.md", answer.ExitFailed, "Vault not found.\n"},
		{"the vault comes first", "read path=a.md vault=Home", answer.ExitMisuse,
			"Error: Unknown parameter: vault\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"no command", "", answer.ExitMisuse, "Error: No command given.\n" + call.Synopsis + "\n"},
		{"the clipboard is not touched", "read path=a.md --copy", answer.ExitMisuse, "Error: Unknown switch: --copy\n"},
		{"a switch before the command", "--verbose read path=a.md", answer.ExitMisuse, "Error: Unknown switch: --verbose\n"},
		{"a switch without its value", "--stdin", answer.ExitMisuse, "Error: --stdin needs the name of a parameter.\n" + call.Synopsis + "\n"},
		{"an unknown parameter", "read pth=a.md", answer.ExitMisuse,
			"Error: Unknown parameter: pth\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"an unknown flag", "files all", answer.ExitMisuse, "Error: Unknown parameter: all\nUsage: files [folder=<path>] [ext=<extension>] [total]\n"},
		{"no name of a parameter", "read =a.md", answer.ExitMisuse,
			"Error: Unknown parameter: \nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"a repeated parameter", "read path=a.md path=b.md", answer.ExitMisuse, "Error: Parameter given twice: path\n"},
		{"two targets", "read path=a.md file=a", answer.ExitMisuse, "Error: Use file=<name> or path=<path>, not both.\n"},
		{"a flag with the value true", "files total=true", answer.ExitDone, "1\n"},
		{"a flag with another value", "files total=false", answer.ExitMisuse, "Error: Invalid value for total: false. Leave it out or give it alone.\n"},
		{"a parameter without a value", "read path", answer.ExitMisuse,
			"Error: Missing value for parameter: path=<path>\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"an empty value", "read path=", answer.ExitMisuse,
			"Error: Missing value for parameter: path=<path>\nUsage: read [file=<name>] [path=<path>] [frontmatter=true|false]\n"},
		{"a value that is none of the known", "vault info=all", answer.ExitMisuse,
			"Error: Invalid value for info: all. Use name, path, files, folders, size.\n"},
		{"a required parameter that is missing", "daily:append inline", answer.ExitMisuse, "Error: Missing required parameter: content=<text>\n" + appendUsage},
		{"a required parameter that is empty", "daily:append content=", answer.ExitMisuse, "Error: Missing required parameter: content\n"},
	})
}

func TestCommandsThatAreNotHere(t *testing.T) {
	h := embedded.New(t, nil)
	h.Steps([]embedded.Turn{
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
		status, out, stderr := embedded.Called(embedded.HostOf(nil), test.args...)
		assert.Equal(t, status, test.status, "%s: status %d, output %q, stderr %q", test.name, status, out, stderr)
		assert.Equal(t, out, test.want, "%s: status %d, output %q, stderr %q", test.name, status, out, stderr)
		assert.Equal(t, stderr, "", "%s: status %d, output %q, stderr %q", test.name, status, out, stderr)
	}
}

func TestVaultById(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the app's list is elsewhere")
	}
	h := embedded.New(t, map[string]string{"a.md": "text"})
	home := t.TempDir()
	list := `{"vaults":{"00112233445566aa":{"path":"` + h.Dir + `","ts":1},"ffffffffffffffff":{"path":"/nowhere"}},"cli":true}`
	for _, place := range []string{".config/obsidian", ".var/app/md.obsidian.Obsidian/config/obsidian"} {
		folder := filepath.Join(home, place)
		require.NoError(t, errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "obsidian.json"), []byte(list), 0o644)))
		h.Env["HOME"] = home
		h.Expect(answer.ExitDone, "text\n", "vault=00112233445566aa", "read", "path=a.md")
		h.Expect(answer.ExitFailed, "Vault not found.\n", "vault=ffffffffffffffff", "read", "path=a.md")
		h.Expect(answer.ExitFailed, "Vault not found.\n", "vault=0000000000000000", "read", "path=a.md")
		require.NoError(t, os.RemoveAll(folder))
	}
}

func TestHelp(t *testing.T) {
	h := embedded.New(t, nil)
	all := h.Does("help")
	for _, row := range vault.Table() {
		assert.That(t, strings.Contains(all, "\n  "+row.Name), "help does not name %s", row.Name)
	}
	const readBlock = "  read                  Print a note\n" +
		"    file=<name>         - The note by its name, as in a link\n" +
		"    path=<path>         - The note by its path in the vault\n    frontmatter=true|false  - With its properties (default) or without\n"
	h.Steps([]embedded.Turn{
		{"one command", "help read", answer.ExitDone, readBlock},
		{"by the switch behind it", "read path=a.md --help", answer.ExitDone, readBlock},
		{"by the switch in front", "--help read", answer.ExitDone, readBlock},
		{"a command that needs the app", "help hotkeys", answer.ExitFailed, "Error: \"hotkeys\" needs the Obsidian app.\n"},
		{"no command", "help frobnicate", answer.ExitMisuse, "Error: Command \"frobnicate\" not found. It may require a plugin to be enabled.\n"},
		{"a parameter", "help name=read", answer.ExitMisuse, "Error: Unknown parameter: name\nUsage: help [<command>]\n"},
	})
	_, byFlag, _ := h.Run("--help")
	assert.Equal(t, byFlag, all, "--help is not help")
	_, family, _ := h.Run("help", "daily")
	for _, line := range []string{"  daily  ", "  daily:append  ",
		"    content=<text>      - The text to add (required)\n", "    paneType=tab|split|window  - "} {
		assert.That(t, strings.Contains(family, line), "the family lacks %q:\n%s", line, family)
	}
}

func TestVersionIsNotMistakenForTheApp(t *testing.T) {
	status, line, _ := embedded.New(t, nil).Run("version")
	assert.Equal(t, status, answer.ExitDone, "status %d", status)
	assert.That(t, strings.HasPrefix(line, "vaultwicket "), "status %d, %q", status, line)
	assert.That(t, strings.HasSuffix(line, " (embedded)\n"), "status %d, %q", status, line)
}

func TestClockVariable(t *testing.T) {
	h := embedded.New(t, nil)
	h.Env[date.NowVariable] = "yesterday"
	h.Expect(answer.ExitMisuse, "Error: VAULTWICKET_NOW is not a time of the form 2006-01-02T15:04:05Z: \"yesterday\"\n", "daily:path")
	h.Env[date.NowVariable] = "2026-12-31T23:59:59-11:00"
	h.Expect(answer.ExitDone, "2026-12-31.md\n", "daily:path")
	delete(h.Env, date.NowVariable)
	status, path, _ := h.Run("daily:path")
	assert.Equal(t, status, answer.ExitDone, "by the machine's clock")
	assert.Equal(t, len(path), len("2026-12-31.md\n"), "by the machine's clock")
}

func TestFacts(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "text", ".obsidian/daily-notes.json": `{"folder":"D"}`})
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
		{"a switch that cannot be parsed", "--expect 1 read path=a.md",
			`{"code":"bad_value","reason":"Error: --expect needs a hash of 16 hexadecimal digits."}`},
	}
	for _, test := range tests {
		want := ""
		if test.want != "" {
			want = "vaultwicket-facts: " + test.want + "\n"
		}
		_, _, stderr := h.Run(append([]string{"--facts"}, strings.Fields(test.args)...)...)
		stderr = embedded.EntryID.ReplaceAllString(stderr, "ID")
		assert.Equal(t, stderr, want, "%s", test.name)
	}
}

// brokenPipe refuses everything, as a reader that has gone does.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAReaderThatIsGoneIsAFailure(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": strings.Repeat("long ", 100_000)})
	var messages bytes.Buffer
	p := vault.Process{Args: []string{h.Dir, "--facts", "read", "path=a.md"}, Stdout: brokenPipe{}, Stderr: &messages}
	assert.Equal(t, p.Run(context.Background(), embedded.HostOf(h.Env)), answer.ExitFailed, "status")
	want := `vaultwicket-facts: {"code":"cli_error","reason":"Error: reading stopped: broken pipe"}` + "\n"
	assert.Equal(t, messages.String(), want, "stderr %q, want", &messages)
}

func FuzzArgs(f *testing.F) {
	for _, seed := range []string{
		"files", "read\x00path=a.md", "--stdin\x00content\x00daily:append", "vault=Home\x00daily:append\x00content=x\x00inline",
		"--facts\x00random:read\x00folder=/", "help\x00daily", "read\x00file=../a", "daily:prepend\x00content=\\n",
		"note:replace\x00path=a.md\x00old=t\x00new=x",
		"note:insert\x00daily\x00lines=1\x00position=after\x00content=x",
		"note:set-section\x00file=a\x00block=^b\x00content=x", "append\x00path=a.md\x00heading=H\x00content=x",
		"task\x00ref=a.md:1\x00status=/", "property:set\x00path=a.md\x00name=k\x00value=1,2\x00type=list", "property:remove\x00path=a.md\x00name=k",
		"folder\x00path=b/", "\x00", "--help",
	} {
		f.Add(seed, "stdin")
	}
	h := embedded.New(f, map[string]string{"a.md": "text", "b/c.md": "", ".obsidian/app.json": "SECRET"})
	f.Fuzz(func(t *testing.T, words, stdin string) {
		h.Stdin = stdin
		status, stdout, stderr := h.Run(strings.Split(words, "\x00")...)
		assert.That(t, status == answer.ExitDone || status == answer.ExitFailed || status == answer.ExitMisuse, "status %d", status)
		assert.That(t, !strings.Contains(stdout, "SECRET") || strings.Contains(words+stdin, "SECRET"), "%q showed a hidden file", words)
		assert.That(t, stderr == "" || strings.HasPrefix(stderr, "vaultwicket-facts: "), "%q wrote %q to stderr", words, stderr)
	})
}
