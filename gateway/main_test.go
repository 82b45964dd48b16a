package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// TestMain is also the two programs that the gateway starts in these tests:
// this binary, called "obsidian" through a link, is the official CLI, and
// called with "vault" it is the embedded one. Both answer from a file of lines
// "ARGS => OUTPUT", where \n stands for a line break and "exit N " in front of
// the output for a status, with a code after it for that of a failure.
func TestMain(m *testing.M) {
	switch {
	case testenv.ProgramName(os.Args[0]) == "obsidian":
		// os.Exit lets the race detector sleep for a second, so none of these calls it.
		syscall.Exit(int(play(filepath.Join(filepath.Dir(os.Args[0]), "answers"), os.Args[1:], os.Stdout).Status))
	case fake.IsEmbedded(os.Args[1:]):
		syscall.Exit(playEmbedded(os.Args[2]))
	}
	testenv.UseMemory()
	testenv.AtOnce(8) // a few wait for seconds, and hold up no other one
	goleak.VerifyTestMain(m)
}

// playEmbedded answers the one call of a process of the embedded program.
func playEmbedded(vault string) int {
	p, err := fake.StartEmbedded(vault, os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	if status, plays := playNotes(vault, p.Request, p); plays {
		p.Reply(protocol.Reply{Status: status})
		return 0
	}
	p.Reply(play(filepath.Join(vault, ".answers"), fake.RequestWords(p.Request), p))
	return 0
}

// play answers one call and keeps what was called along with the answers.
func play(file string, args []string, stdout io.Writer) (reply protocol.Reply) {
	asked := entryIDs.ReplaceAllString(callers.ReplaceAllString(strings.Join(args, " "), ""), "--change ID")
	log, err := os.OpenFile(file+".called", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(log, asked)
		log.Close()
	}
	answers, _ := os.ReadFile(file)
	for line := range strings.Lines(string(answers)) {
		want, output, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		if want != asked {
			continue
		}
		if _, err := fmt.Sscanf(output, "exit %d", &reply.Status); err == nil {
			_, output, _ = strings.Cut(strings.TrimPrefix(output, "exit "), " ")
		}
		if rest, ok := strings.CutPrefix(output, "facts "); ok {
			report, text, _ := strings.Cut(rest, " ")
			output = text
			if err := json.Unmarshal([]byte(report), &reply.Facts); err != nil {
				panic(err)
			}
		}
		if code, rest, found := strings.Cut(output, " "); found && strings.HasPrefix(rest, "Error: ") && code != "stderr" {
			reason, _, _ := strings.Cut(rest, `\n`)
			output = rest
			reply.Failure = protocol.NewFailure(code, "", reason)
		}
		stream := stdout
		if rest, ok := strings.CutPrefix(output, "stderr "); ok {
			stream, output = os.Stderr, rest
		}
		fmt.Fprint(stream, strings.ReplaceAll(output, `\n`, "\n"))
		return reply
	}
	fmt.Fprintf(os.Stderr, "unexpected call %q\n", asked)
	return protocol.Reply{Status: 99}
}

// callers are what the embedded program is told of who asks.
var callers = regexp.MustCompile(`--(caller|batch|addresses) \S+ |--sparing `)

// entryIDs are the ids of the journal in the arguments of the embedded program.
var entryIDs = regexp.MustCompile(`--change \S+`)

// fixture is a gateway with its programs and what they were asked.
type fixture struct {
	t             *testing.T
	folder, vault string
	config        Config
	gateway       *Gateway
	cli           string
}

// newFixture returns a gateway on the named vault "Work" with both programs
// in place, everything open and no one asked.
func newFixture(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, folder: t.TempDir(), vault: filepath.Join(t.TempDir(), "Work")}
	require.NoError(t, os.Mkdir(f.vault, 0o700))
	f.daily(`{"folder": "Täglich"}`) // of which the path is asked for
	self := require.Value(os.Executable())(t)
	f.cli = testenv.SelfAs(t, f.folder, "obsidian")
	f.config = Config{
		Policy: policy.Policy{
			Ceiling: tiers.V3, Mutations: true, Publish: true, UI: true,
			Confirm: policy.ConfirmNever, Asking: policy.AskClient, Secrets: policy.SecretsRedact, MinVersion: tiers.DefaultMinimum,
		},
		Runner: exec.New(exec.Config{CLI: f.cli, Self: self}),
		Vault:  Vault{Name: "Work", Folder: f.vault},
	}
	state := t.TempDir()
	f.config.Getenv = func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	if change != nil {
		change(&f.config)
	}
	f.gateway = New(f.config)
	t.Cleanup(func() { f.gateway.Flush() }) // before the log is removed
	return f
}

// daily writes the settings of the vault for daily notes.
func (f *fixture) daily(settings string) {
	f.t.Helper()
	name := filepath.Join(f.vault, filepath.FromSlash(dailySettings))
	require.NoError(f.t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(f.t, os.WriteFile(name, []byte(settings), 0o600))
}

func (f *fixture) app(answers ...string) *fixture {
	f.t.Helper()
	return f.write(filepath.Join(f.folder, "answers"), answers)
}

func (f *fixture) embedded(answers ...string) *fixture {
	f.t.Helper()
	return f.write(filepath.Join(f.vault, ".answers"), answers)
}

func (f *fixture) write(name string, lines []string) *fixture {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return f
}

// called returns what the programs were asked: the app, then the embedded one.
func (f *fixture) called() (app, embedded []string) {
	read := func(name string) []string {
		content, _ := os.ReadFile(name)
		return strings.FieldsFunc(string(content), func(r rune) bool { return r == '\n' })
	}
	return read(filepath.Join(f.folder, "answers.called")), read(filepath.Join(f.vault, ".answers.called"))
}

// escapedLines is a text as the answers of the fake programs have it.
func escapedLines(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }

// writeNote writes a note that was last changed some time ago.
func writeNote(t *testing.T, vault, path, text string, ago time.Duration) {
	t.Helper()
	name := filepath.Join(vault, path)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	changed := time.Now().Add(-ago)
	require.NoError(t, os.Chtimes(name, changed, changed))
}
