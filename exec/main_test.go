package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// TestMain plays a client when a file next to the name it was called by says so:
// the environment of a child is an allowlist, so it cannot tell it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asleep {
		d, _ := time.ParseDuration(os.Args[2])
		time.Sleep(d) // what it is started for
		return
	}
	if text, err := os.ReadFile(os.Args[0] + ".fake"); err == nil {
		syscall.Exit(play(text)) // os.Exit lets the race detector sleep for a second
	}
	testenv.UseMemory()
	testenv.AtOnce(8)
	goleak.VerifyTestMain(m)
}

// part is what a fake client does in one run. It is strict: a run that nothing
// was written for ends with status 99 and is reported by the test, and so is a
// part that was never played.
type part struct {
	Argv     []string
	Out, Err []byte
	Exit     int
	Do       string
	Number   int64 // of bytes or of parties
	// Reply is that of the embedded program, besides its status, and Told its progress.
	Reply protocol.Reply
	Told  []protocol.Progress
}

type script struct {
	Parts []part
	// Any lets every run play the part with its arguments, any number of times.
	Any bool
}

const unplanned = 99

func play(text []byte) int {
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		return unplanned
	}
	args, out, embedded := os.Args[1:], io.Writer(os.Stdout), (*fake.Embedded)(nil)
	if fake.IsEmbedded(args) {
		var err error
		if embedded, err = fake.StartEmbeddedAs(s.greeting(args[1]), os.Stdin, os.Stdout); err != nil {
			return unplanned
		}
		out, args = embedded, append(args[:2:2], fake.RequestWords(embedded.Request)...)
	}
	runs := len(logged(os.Args[0]))
	line, _ := json.Marshal(args)
	appendTo(os.Args[0]+".log", string(line)+"\n")
	for i, p := range s.Parts {
		if (s.Any || i == runs) && slices.Equal(p.Argv, args) {
			_, _ = out.Write(p.Out)
			os.Stderr.Write(p.Err)
			if embedded == nil {
				p.act(out, os.Stdin)
				return p.Exit
			}
			for _, count := range p.Told {
				embedded.Tell(count)
			}
			p.act(out, strings.NewReader(embedded.Input))
			if p.Do != dies {
				p.Reply.Status = uint8(p.Exit)
				embedded.Reply(p.Reply)
			}
			if p.Do == stays {
				hang()
			}
			return p.Exit
		}
	}
	return unplanned
}

// greeting is that of the embedded program that answers one call for a folder.
func (s script) greeting(folder string) protocol.Hello {
	greeting := protocol.Hello{Version: protocol.Version, PID: uint32(os.Getpid()), Folder: folder}
	switch s.Parts[0].Do {
	case "worker of another version":
		greeting.Version++
	case "worker of another folder":
		greeting.Folder += "x"
	}
	return greeting
}

// stays is what the embedded program does that has replied and does not end.
const stays = "stay"

// dies is what the embedded program does that ends without a reply.
const dies = "die"

func (p part) act(out io.Writer, in io.Reader) {
	self := os.Args[0]
	switch p.Do {
	case "hang":
		mark(self, os.Getpid())
		hang()
	case "ignore":
		signal.Ignore(syscall.SIGTERM)
		mark(self, os.Getpid())
		hang()
	case "slow":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		mark(self, os.Getpid())
		<-asked
		fmt.Fprint(out, "bye")
	case "holder", "app":
		c := sleeper(time.Minute)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if c.Start() != nil {
			syscall.Exit(unplanned)
		}
		mark(self, c.Process.Pid)
		if p.Do == "app" {
			hang()
		}
	case "orphan": // a process that no one waits for
		c := sleeper(0)
		if c.Start() != nil {
			syscall.Exit(unplanned)
		}
		appendTo(self+".orphans", fmt.Sprintln(c.Process.Pid))
	case "flood-out":
		_, _ = io.CopyN(out, ones{}, p.Number)
	case "flood-err":
		_, _ = io.CopyN(os.Stderr, ones{}, p.Number)
	case "crash":
		if runtime.GOOS == "windows" {
			syscall.Exit(int(0xC0000005)) // an access violation
		}
		kill(os.Getpid())
		hang()
	case "close":
		os.Stdout.Close()
	case "meet":
		meet(self, int(p.Number))
	case "alone":
		if os.Mkdir(self+".busy", 0o700) != nil {
			syscall.Exit(unplanned)
		}
		time.Sleep(time.Millisecond) // gives an overlap something to overlap with
		os.Remove(self + ".busy")
	case "stdin":
		_, _ = io.Copy(out, in)
	case "surroundings":
		dir, _ := os.Getwd()
		fmt.Fprintln(out, dir, strings.Join(os.Environ(), " "))
	case "lifeline":
		mark(self, os.Getpid())
		_, _ = io.Copy(io.Discard, os.NewFile(3, "lifeline"))
		appendTo(self+".ended", "yes")
	case "gateway":
		gateway(string(p.Argv[0]))
	case "garbage":
		os.Stdout.WriteString(strings.Repeat("garbage ", 100))
	case "worker", "worker of another version", "worker of another folder", "no worker", "silent worker", "worker that ignores SIGTERM", "worker that stays",
		"worker that waits to begin":
		if !fake.IsEmbedded(os.Args[1:]) {
			playWorker(p.Do, os.Args[2])
		}
	}
}

// sleeper is a process that does nothing for a while.
func sleeper(d time.Duration) *osexec.Cmd {
	if runtime.GOOS != "windows" {
		return osexec.Command("/bin/sleep", fmt.Sprint(d.Seconds()))
	}
	return osexec.Command(os.Args[0], asleep, d.String())
}

// asleep is the first argument of a sleeper that is this binary.
const asleep = "sleep for"

// gateway plays a gateway that runs a client and is killed meanwhile.
func gateway(client string) {
	r := New(Config{CLI: client, Self: client, Timeout: time.Hour})
	p, err := r.App()
	if strings.Contains(client, "embedded") {
		p, err = r.Embedded(filepath.Dir(client))
	}
	if err != nil {
		syscall.Exit(unplanned)
	}
	_, _ = r.Run(context.Background(), mustPermit("version", nil), p)
}

type ones struct{}

func (ones) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	return len(p), nil
}

func appendTo(path, text string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		_, _ = f.WriteString(text)
		f.Close()
	}
}

func logged(client string) []string {
	text, _ := os.ReadFile(client + ".log")
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[:strings.Count(string(text), "\n")]
}

// mark tells the test that the client is where it should be.
func mark(self string, pid int) {
	_ = os.WriteFile(self+".tmp", []byte(strconv.Itoa(pid)), 0o600)
	_ = os.Rename(self+".tmp", self+".mark")
}

func meet(self string, parties int) {
	_ = os.WriteFile(fmt.Sprintf("%s.party.%d", self, os.Getpid()), nil, 0o600)
	isComplete := func() bool {
		here, _ := filepath.Glob(self + ".party.*")
		return len(here) >= parties
	}
	if assert.Await(20*time.Second, isComplete) {
		return
	}
	syscall.Exit(unplanned)
}

// fakeCLI makes a client of the given name that plays parts, and checks in the end
// that each was played.
func fakeCLI(t testing.TB, name string, s script) string {
	t.Helper()
	path := testenv.SelfAs(t, t.TempDir(), name)
	text, _ := json.Marshal(s)
	require.NoError(t, os.WriteFile(path+".fake", text, 0o600))
	t.Cleanup(func() { checkPlayed(t, path, s) })
	return path
}

func checkPlayed(t testing.TB, path string, s script) {
	runs := logged(path)
	assert.That(t, s.Any || len(runs) == len(s.Parts), "the fake client has %d parts and was run %d times: %v", len(s.Parts), len(runs), runs)
	for i, run := range runs {
		planned := slices.ContainsFunc(s.Parts, func(p part) bool {
			line, _ := json.Marshal(p.Argv)
			return string(line) == run
		})
		assert.That(t, planned, "run %d of the fake client was not planned: %s", i, run)
	}
	for _, p := range s.Parts {
		line, _ := json.Marshal(p.Argv)
		assert.That(t, slices.Contains(runs, string(line)), "a part of the fake client was never played: %s", line)
	}
}

// marked waits until the client has made its mark and returns the process it
// names.
func marked(t testing.TB, path string) int {
	t.Helper()
	var pid int
	within(t, 20*time.Second, "mark of the client", func() bool {
		text, err := os.ReadFile(path + ".mark")
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(text))
		return err == nil
	})
	return pid
}

// within waits for an event with a deadline.
func within(t testing.TB, limit time.Duration, what string, happened func() bool) {
	t.Helper()
	require.Within(t, limit, what, happened)
}

// hang waits until the test kills the process: one in which every goroutine waits for another would end by itself.
func hang() {
	time.Sleep(time.Hour) // longer than any test
}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // it may be gone already
	}
}

// everything grants what the table does not restrict.
var everything = policy.Policy{
	Ceiling: tiers.V3, Mutations: true, Publish: true, UI: true,
	Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum,
}

func mustPermit(name string, params map[string]string) policy.Permit {
	given := allowlist.Params{}
	for key, value := range params {
		given[key] = allowlist.Text(value)
	}
	call, err := allowlist.Parse(name, given)
	if err != nil {
		panic(err)
	}
	permit, err := everything.Decide(call, policy.ClearFacts(time.Now())).Permit()
	if err != nil {
		panic(err)
	}
	return permit
}

type params = map[string]string

// noise1 is two lines that an app newer than its installer prints in front of answers.
const noise1 = "2026-05-04 13:56:24 Loading updated app package /home/me/.config/obsidian/obsidian-1.12.7.asar\n" +
	"Your Obsidian installer is out of date. Please download the latest installer from the website.\n"
