package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// crowd is many clients at once, and what they have in common.
type crowd struct {
	t       *testing.T
	vault   string
	config  mcpserver.Config
	runner  *exec.Runner
	foreign atomic.Pointer[keptPage]

	mu            sync.Mutex
	done, refused []string // lines of the common log, by what was answered
}

// keptPage is a cursor that one of them has.
type keptPage struct{ owner, cursor string }

// notesOfEach are how many notes each client has in a folder of its own: several
// pages of a listing.
const notesOfEach = 40

// gather makes the vault for so many clients, and a gateway in this process whose
// programs are the built binary.
func gather(t *testing.T, clients int) *crowd {
	t.Helper()
	c := &crowd{t: t, vault: filepath.Join(t.TempDir(), "Vault")}
	for i := range clients {
		name := clientName(i)
		harness.WriteFile(t, filepath.Join(c.vault, name+".md"), []byte("I am "+name+"\n"))
		for n := range notesOfEach {
			harness.WriteFile(t, filepath.Join(c.vault, name, fmt.Sprintf("A note of %s, number %02d.md", name, n)), nil)
		}
	}
	harness.WriteFile(t, filepath.Join(c.vault, "Log.md"), []byte("# Log\n"))
	state := t.TempDir()
	getenv := func(name string) string {
		return map[string]string{"XDG_STATE_HOME": state, "XDG_CACHE_HOME": state, "HOME": state}[name]
	}
	c.runner = exec.New(exec.Config{Self: harness.Binary, Resident: true, Timeout: 50 * time.Second, Getenv: getenv})
	c.config = mcpserver.Config{
		Version: "1.2.3", MaxOutput: 1 << 10, Grace: harness.Deadline,
		Gateway: gateway.New(gateway.Config{
			Policy: policy.Policy{Ceiling: tiers.V1, Mutations: true, Confirm: policy.ConfirmNever, MinVersion: tiers.DefaultMinimum},
			Vault:  gateway.Vault{Folder: c.vault}, Runner: c.runner, Backend: gateway.Embedded, Session: "crowd", Getenv: getenv,
			Limits: admission.Limits{Parallel: 8},
		}),
	}
	return c
}

func clientName(i int) string { return fmt.Sprintf("client %03d", i) }

// descriptors returns how many are open, 0 where that cannot be known. Those of an
// audit log are left out: a gateway keeps both parts open as long as there is the gateway.
func descriptors() (n int) {
	open, _ := os.ReadDir("/proc/self/fd") // only Linux has it
	for _, entry := range open {
		if name, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && !strings.Contains(name, "/vaultwicket/audit") {
			n++
		}
	}
	return n
}

// afterwards checks that goroutines and descriptors are back at what they were
// when it was called.
func afterwards(t *testing.T) (check func()) {
	t.Helper()
	warmUpProcess(t)
	before, goroutines := descriptors(), goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		assert.Await(harness.Deadline, func() bool { return goleak.Find(goroutines) == nil })
		goleak.VerifyNone(t, goroutines)
		assert.Await(harness.Deadline, func() bool { return descriptors() <= before })
		left := descriptors()
		assert.That(t, left <= before, "%d descriptors are open, %d were", left, before)
	}
}

// warmUpProcess has this process open what it opens once: the poller of the network,
// and the pipe by which children see its end.
func warmUpProcess(t *testing.T) {
	t.Helper()
	l := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	l.Close()
	runner := exec.New(exec.Config{Self: harness.Binary, Resident: true})
	defer runner.Close()
	g := gateway.New(gateway.Config{Policy: policy.Policy{Ceiling: tiers.V0, MinVersion: tiers.DefaultMinimum},
		Vault: gateway.Vault{Folder: t.TempDir()}, Runner: runner, Backend: gateway.Embedded})
	got := g.Do(t.Context(), gateway.Request{Command: "version"})
	require.That(t, got.OK, "%v", got.Error)
}

// asker sends a request and returns the answer with its id.
type asker interface {
	Ask(ctx context.Context, method string, params any) (harness.Answer, error)
}

// client is one of a crowd. All it does has its name in it, so that an answer that
// is another's is known.
type client struct {
	shared bool // has one session together with others
	asker
	*crowd
	name   string
	random *rand.Rand
	lines  int    // that were written into its own note
	cursor string // of an answer that is kept for it
}

func (c *crowd) client(i int, by asker) *client {
	return &client{asker: by, crowd: c, name: clientName(i), random: rand.New(rand.NewPCG(uint64(i), 5))}
}

// call calls a tool and reads its result into one.
func (c *client) call(tool string, arguments map[string]any, result any) error {
	answer, err := c.Ask(c.t.Context(), "tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err == nil && answer.Error != nil {
		err = fmt.Errorf("%+v", *answer.Error)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Result.StructuredContent, result)
}

// result calls the tool of all commands.
func (c *client) result(command string, params map[string]any, more ...any) (r gateway.Result, err error) {
	arguments := map[string]any{"command": command, "params": params}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	err = c.call("obsidianCli", arguments, &r)
	return r, err
}

// wrong is an answer that is not what it should be.
func wrong(got gateway.Result, want string) error {
	return fmt.Errorf("%s: %+v, %q, want %s", got.Command, got.Error, got.Stdout, want)
}

// readOwn reads the note of the client, which has what it wrote and no more.
func (c *client) readOwn() error {
	got, err := c.result("read", map[string]any{"path": c.name + ".md"})
	want := "I am " + c.name + "\n" + harness.Repeat(c.lines, "- "+c.name+", line %d\n")
	if err == nil && (!got.OK || strings.TrimSuffix(got.Stdout, "\n") != strings.TrimSuffix(want, "\n")) {
		return wrong(got, want)
	}
	return err
}

// writeOwn adds a line to it, on the condition that it is as it was read.
func (c *client) writeOwn() error {
	read, err := c.result("read", map[string]any{"path": c.name + ".md"})
	if err != nil || !read.OK {
		return fmt.Errorf("%+v, %w", read.Error, err)
	}
	got, err := c.result("append", map[string]any{"path": c.name + ".md", "content": fmt.Sprintf("- %s, line %d\n", c.name, c.lines)}, "expectHash", read.Hash)
	switch {
	case err != nil:
		return err
	case harness.CodeOf(got) == "outcome_unknown":
		return c.lookUp(fmt.Sprintf("- %s, line %d", c.name, c.lines), c.name+".md", func() { c.lines++ }, func() {})
	case !got.OK || got.Change == nil || got.Change.Before != read.Hash:
		return wrong(got, "a change of "+read.Hash)
	}
	c.lines++
	return nil
}

// lookUp is for a write of which the server does not know what came of it, because
// another call has cost it the worker: the hint says to read the note.
func (c *client) lookUp(line, path string, done, undone func()) error {
	text, err := os.ReadFile(filepath.Join(c.vault, path))
	switch {
	case err != nil:
		return err
	case strings.Contains("\n"+string(text), "\n"+line+"\n"):
		done()
	default:
		undone()
	}
	return nil
}

// writeLog tries to add a line to the note that all write.
func (c *client) writeLog() error {
	line := fmt.Sprintf("- %s wrote %x", c.name, c.random.Uint64())
	read, err := c.result("read", map[string]any{"path": "Log.md"})
	if err != nil || !read.OK {
		return fmt.Errorf("%+v, %w", read.Error, err)
	}
	got, err := c.result("append", map[string]any{"path": "Log.md", "content": line + "\n"}, "expectHash", read.Hash)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	done, refused := func() { c.done = append(c.done, line) }, func() { c.refused = append(c.refused, line) }
	switch harness.CodeOf(got) {
	case "":
		done()
	case "conflict":
		refused()
	case "outcome_unknown":
		return c.lookUp(line, "Log.md", done, refused)
	default:
		return wrong(got, "ok or conflict")
	}
	return nil
}

// list lists the notes of the client page by page.
func (c *client) list() error { return c.again(c.listed) }

// mostListings is how often a listing is begun anew in a shared session, of which the
// server keeps the last few answers.
const mostListings = 100

// errNotKept is that the rest of an answer had to make room for others.
var errNotKept = errors.New(gateway.ErrPageGone.Error())

// again lists until the answer is kept as long as it is needed.
func (c *client) again(list func() error) (err error) {
	for range mostListings {
		if err = list(); !c.shared || !errors.Is(err, errNotKept) {
			break
		}
	}
	return err
}

func (c *client) listed() error {
	got, err := c.result("files", map[string]any{"folder": c.name})
	text := got.Stdout
	for err == nil && got.OK && got.Truncated != nil && got.Truncated.Cursor != "" {
		c.cursor = got.Truncated.Cursor
		c.foreign.Store(&keptPage{c.name, c.cursor})
		got, err = c.result("files", nil, "cursor", c.cursor)
		text += got.Stdout
	}
	if err == nil && got.Error != nil && got.Error.Message == errNotKept.Error() {
		return errNotKept
	}
	if err != nil || !got.OK {
		return fmt.Errorf("%+v, %w", got.Error, err)
	}
	want := harness.Repeat(notesOfEach, c.name+"/A note of "+c.name+", number %02d.md\n")
	if text != want || len(got.Notices) > 0 {
		return wrong(gateway.Result{Command: "files", Stdout: text, Notices: got.Notices}, want)
	}
	return nil
}

// resource reads the rest of the last listing, the help and the status.
func (c *client) resource() error { return c.again(c.readResources) }

func (c *client) readResources() error {
	if err := c.listed(); err != nil {
		return err
	}
	for uri, want := range map[string]string{
		"vaultwicket://output/" + c.cursor: c.name + "/A note of " + c.name,
		"vaultwicket://help/append":        "append content= [file= path=", "vaultwicket://status": `"enabled":true`,
	} {
		answer, err := c.Ask(c.t.Context(), "resources/read", map[string]any{"uri": uri})
		if err == nil && answer.Error != nil && strings.Contains(answer.Error.Message, errNotKept.Error()) {
			return errNotKept
		}
		if err != nil || len(answer.Result.Contents) != 1 || !strings.Contains(answer.Result.Contents[0].Text, want) {
			return fmt.Errorf("%s: %+v, %w", uri, answer, err)
		}
	}
	return nil
}

func (c *client) prompt() error {
	answer, err := c.Ask(c.t.Context(), "prompts/get", map[string]any{"name": "surprise-me", "arguments": map[string]string{"count": "3"}})
	if err == nil && len(answer.Result.Messages) != 1 {
		err = fmt.Errorf("%+v", answer)
	}
	return err
}

// batch reads the note of the client twice, and finds it with what is in it.
func (c *client) batch() error {
	var got gateway.BatchResult
	path := map[string]any{"path": c.name + ".md"}
	err := c.call("obsidianBatch", map[string]any{"operations": []map[string]any{
		{"clientId": "a", "command": "read", "params": path}, {"clientId": "b", "command": "files", "params": map[string]any{"folder": c.name, "total": true}},
		{"clientId": "c", "command": "read", "params": map[string]any{"path": map[string]string{"from": "a", "field": "path"}}},
	}}, &got)
	if err != nil {
		return err
	}
	if text := fmt.Sprintf("%+v", got); !got.OK || len(got.Results) != 3 {
		return fmt.Errorf("%s", text)
	}
	for i, want := range []string{"I am " + c.name + "\n", fmt.Sprint(notesOfEach) + "\n", "I am " + c.name + "\n"} {
		if r := got.Results[i].Result; r == nil || !strings.HasPrefix(r.Stdout, want) {
			return fmt.Errorf("operation %d: %+v", i, r)
		}
	}
	return nil
}

// mistake sends what is wrong; the answer names it.
func (c *client) mistake() error {
	name := strings.ReplaceAll(c.name, " ", "-")
	got, err := c.result(name, nil)
	if err == nil && (harness.CodeOf(got) != "unknown_command" || !strings.Contains(got.Error.Message, name)) {
		return wrong(got, "unknown_command")
	}
	if err != nil {
		return err
	}
	if got, err = c.result("read", map[string]any{"path": c.name + "/none.md"}); err == nil &&
		(harness.CodeOf(got) != "not_found" || !strings.Contains(got.Error.Message, c.name)) {
		return wrong(got, "not_found")
	}
	return err
}

// acts are what every client does, whatever the way to the server.
var acts = map[string]func(*client) error{
	"read": (*client).readOwn, "write": (*client).writeOwn, "log": (*client).writeLog, "list": (*client).list,
	"resource": (*client).resource, "prompt": (*client).prompt, "batch": (*client).batch, "mistake": (*client).mistake,
}

// act does some things one after the other, each kind once before any of them comes
// again.
func (c *client) act(times int, all map[string]func(*client) error) {
	var names []string
	for range times {
		if len(names) == 0 {
			names = slices.Sorted(maps.Keys(all))
			c.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		}
		if err := all[names[0]](c); err != nil {
			c.t.Errorf("%s, %s: %v", c.name, names[0], err)
			return
		}
		names = names[1:]
	}
}

// judge looks at what was written: each line whose write was answered with ok is
// there once, and nothing else is.
func (c *crowd) judge(clients []*client) {
	c.t.Helper()
	for _, one := range clients {
		text, err := os.ReadFile(filepath.Join(c.vault, one.name+".md"))
		want := "I am " + one.name + "\n" + harness.Repeat(one.lines, "- "+one.name+", line %d\n")
		require.Equal(c.t, err, nil, "%s has written %d lines, and there is %q", one.name, one.lines, text)
		assert.Equal(c.t, string(text), want, "%s has written %d lines, and there is %q", one.name, one.lines, text)
	}
	text := require.Value(os.ReadFile(filepath.Join(c.vault, "Log.md")))(c.t)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:]
	slices.Sort(lines)
	slices.Sort(c.done)
	assert.That(c.t, slices.Equal(lines, c.done), "%d lines were written, and there are %d", len(c.done), len(lines))
	for _, line := range c.refused {
		assert.That(c.t, !slices.Contains(lines, line), "%q was answered with conflict, and is there", line)
	}
	c.t.Logf("%d clients; of the common note %d writes were done, %d refused", len(clients), len(c.done), len(c.refused))
	assert.That(c.t, len(c.done) != 0, "no one could write")
}
