package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// A change of many is disturbed in all ways at once: see TestAChangeOfManyIsWholeHoweverItIsDisturbed.

// Variables of the drawn disturbances: how many, from which seed on, and how many loops keep the machine busy.
const (
	disturbancesVariable = "VAULTWICKET_DISTURBANCES"
	seedVariable         = "VAULTWICKET_SEED"
	busyVariable         = "VAULTWICKET_BUSY"
)

// calls are the operations of a change: one call, or an atomic batch of several.
type calls [][]string

// disturbed is a change that is disturbed, after one that is not.
type disturbed struct {
	name           string
	before, change calls
	// start, old and done are the vault before both, and before and after the change.
	start, old, done map[string]string
	took             time.Duration
}

func one(words ...string) calls { return calls{words} }

// changesOfMany are the changes of many files of one call or batch on the vault of fillSmall.
var changesOfMany = []calls{
	one("tag:rename", "name=t", "to=u"), one("vault:replace", "old=word", "new=term"), one("rename", "path=hub.md", "name=Hub"),
	one("move", "files=P/n1.md\nP/n2.md\nlong.md", "to=Far/Away/"), one("folder:create", "path=Made/Deep"), one("folder:rename", "path=P", "name=Q"),
	one("folder:move", "path=P", "to=Far/"), one("folder:copy", "path=P", "to=Copy"), one("folder:delete", "path=P"),
	one("note:merge", "path=hub.md", "into=long.md"), one("note:split", "path=long.md", "level=1"),
	one("note:extract", "path=long.md", "heading=H3", "to=New/H3.md"),
	one("property:set", "name=p", "value=5", "folder=P"), one("delete", "path=hub.md", "permanent"),
	{
		{"append", "path=P/n1.md", "content=added"}, {"rename", "path=hub.md", "name=Hub"}, {"delete", "path=P/n2.md", "permanent"},
		{"create", "path=New/Deep/x.md", "content=x"}, {"vault:replace", "old=word", "new=term"},
	},
}

// allDisturbed are these changes, and the undo of each.
func allDisturbed() (all []*disturbed) {
	for _, change := range changesOfMany {
		name := change[0][0]
		if len(change) > 1 {
			name = "batch"
		}
		all = append(all, &disturbed{name: name, change: change}, &disturbed{name: "undo of " + name, before: change, change: one("undo")})
	}
	return all
}

const smallNotes = 12

func fillSmall(t *testing.T, vault string) {
	t.Helper()
	for n := range smallNotes {
		harness.WriteFile(t, filepath.Join(vault, "P", strings.Repeat("D/", n%3), fmt.Sprintf("n%d.md", n)),
			fmt.Appendf(nil, "#t word %d\n[[hub]] [[n%d]]\n", n, (n+1)%smallNotes))
	}
	harness.WriteFile(t, filepath.Join(vault, "P", "n1.md"), []byte("#t word [[hub]] [[n3]]\n"))
	harness.WriteFile(t, filepath.Join(vault, "P", "n2.md"), []byte("#t word [[hub]] ![[n1]]\n"))
	var sections strings.Builder
	for n := range 5 {
		fmt.Fprintf(&sections, "# H%d\nword [[hub]]\n", n)
	}
	harness.WriteFile(t, filepath.Join(vault, "long.md"), []byte(sections.String()))
	harness.WriteFile(t, filepath.Join(vault, "hub.md"), []byte("word #t\n"))
	harness.WriteFile(t, filepath.Join(vault, besideNote), []byte("nothing\n"))
	harness.WriteFile(t, filepath.Join(vault, "P", "b.canvas"),
		[]byte(`{"nodes":[{"id":"a","type":"file","file":"hub.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}`))
	harness.WriteFile(t, filepath.Join(vault, ".obsidian", "app.json"), []byte(`{"alwaysUpdateLinks":true,"trashOption":"local"}`))
}

// wholeTree is all that is in a vault, also in its trash: the texts of files, and "" for folders.
func wholeTree(t *testing.T, vault string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(vault, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(vault, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	require.NoError(t, err)
	return all
}

// restoreTree makes a vault what it was, and writes only what differs.
func restoreTree(t *testing.T, vault string, want map[string]string) {
	t.Helper()
	now := wholeTree(t, vault)
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(now))) {
		if _, there := want[path]; !there {
			require.NoError(t, os.Remove(filepath.Join(vault, path)))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if text, there := now[path]; there && text == want[path] {
			continue
		}
		if strings.HasSuffix(path, "/") {
			require.NoError(t, os.MkdirAll(filepath.Join(vault, path), 0o755))
			continue
		}
		harness.WriteFile(t, filepath.Join(vault, path), []byte(want[path]))
	}
}

// answered is what a call was answered.
type answeredCall struct {
	code         string // "ok", that of an error, or "none" without an answer
	text         string
	made, unmade []string
	moved        []string // those of made that are only moved
	// Of a failed command or the operations of a failed batch, how many tell a change, and how many that nothing is left of
	// theirs. What is made in part has a change, with which it is undone, and does not count.
	changes, undone int
}

func answeredBy(ok bool, err *failure.Error) answeredCall {
	switch {
	case ok:
		return answeredCall{code: "ok"}
	case err == nil:
		return answeredCall{code: "error"}
	}
	return answeredCall{code: err.Code, text: err.Error(), made: err.Made, unmade: err.NotMade, moved: err.Moved}
}

// answeredCommand is what a single command was answered.
func answeredCommand(result gateway.Result) answeredCall {
	answer := answeredBy(result.OK, result.Error)
	if !result.OK && result.Change != nil && answer.code != failure.CodePartlyApplied {
		answer.changes = 1
	}
	return answer
}

// answeredBatch is what a batch was answered.
func answeredBatch(result gateway.BatchResult) answeredCall {
	answer := firstAnswered(result)
	if result.OK {
		return answer
	}
	for _, o := range result.Results {
		if o.Result != nil && o.Result.Change != nil {
			answer.changes++
		}
		if o.Undone != nil && *o.Undone {
			answer.undone++
		}
	}
	return answer
}

// firstAnswered is the error of the batch, or of its operations.
func firstAnswered(result gateway.BatchResult) answeredCall {
	if result.OK || result.Error != nil {
		return answeredBy(result.OK, result.Error)
	}
	for _, o := range result.Results {
		if o.Result != nil && o.Result.Error != nil {
			return answeredBy(false, o.Result.Error)
		}
	}
	return answeredCall{code: "error", text: fmt.Sprintf("%+v", result.Summary)}
}

// changer is a gateway: in this process, or a server.
type changer struct {
	do  func(ctx context.Context, c calls) answeredCall
	pid int // of the process whose child the worker is
	end func()
}

func changerHere(t *testing.T, folder string, timeout time.Duration) changer {
	t.Helper()
	g, end := manyGateway(t, folder, timeout)
	return changer{pid: os.Getpid(), end: end, do: func(ctx context.Context, c calls) answeredCall {
		if len(c) == 1 {
			return answeredCommand(g.Do(ctx, gateway.Request{Command: c[0][0], Words: c[0][1:]}))
		}
		batch := gateway.Batch{Atomic: true}
		for i, words := range c {
			batch.Operations = append(batch.Operations, harness.Operation(fmt.Sprint("o", i), words[0], words[1:]...))
		}
		return answeredBatch(g.DoBatch(ctx, batch))
	}}
}

func changerApart(t *testing.T, folder string) changer {
	t.Helper()
	env := []string{"HOME=" + folder, "XDG_STATE_HOME=" + filepath.Join(folder, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(folder, "cache"), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
	s := harness.StartSessionWith(t, env, append(harness.EverythingEnabled(filepath.Join(folder, "Vault")), "--secrets=allow", "--toolsets=all")...)
	return changer{pid: s.Process.Process.Pid, end: func() {}, do: func(_ context.Context, c calls) answeredCall {
		var operations []map[string]any
		for i, words := range c {
			params := map[string]any{}
			for _, word := range words[1:] {
				key, value, isText := strings.Cut(word, "=")
				params[key] = true
				if isText {
					params[key] = value
				}
			}
			operations = append(operations, map[string]any{"clientId": fmt.Sprint("o", i), "command": words[0], "params": params})
		}
		tool, arguments := "obsidianBatch", map[string]any{"operations": operations, "atomic": true}
		if len(c) == 1 {
			tool = "obsidianCli"
			arguments = map[string]any{"command": c[0][0], "params": operations[0]["params"]}
		}
		line, err := s.Exchange("tools/call", map[string]any{"name": tool, "arguments": arguments})
		if err != nil {
			return answeredCall{code: "none"}
		}
		var message struct {
			Result struct{ StructuredContent json.RawMessage }
			Error  struct{ Message string }
		}
		require.NoError(t, json.Unmarshal(line, &message))
		if message.Error.Message == "the server stopped before it could answer" { // it does not say what was made
			return answeredCall{code: "none"}
		}
		require.That(t, len(message.Result.StructuredContent) > 0, "%q is answered by %s", c, line)
		if len(c) > 1 {
			var result gateway.BatchResult
			require.NoError(t, json.Unmarshal(message.Result.StructuredContent, &result))
			return answeredBatch(result)
		}
		var result gateway.Result
		require.NoError(t, json.Unmarshal(message.Result.StructuredContent, &result))
		return answeredCommand(result)
	}}
}

// The disturbances, and how often each is drawn.
var disturbances = []struct {
	name string
	n    int
}{
	{"kill worker", 5}, {"kill gateway", 2}, {"kill both", 2}, {"end gateway", 1}, {"stop worker", 2}, {"time", 3},
	{"1s", 1}, {"cancel", 2}, {"full disk", 4}, {"append", 3},
}

// disturber draws disturbances of one vault.
type disturber struct {
	t      *testing.T
	folder string
	vault  string
	random *rand.Rand
	counts map[string]map[string]int // of answers, by disturbance
	kinds  map[string]int            // of changes
	lines  int                       // of other programs that were written
	lost   int                       // of these, the ones that are nowhere
	beside int                       // lines of another gateway that were told as written
	failed int
	isFew  bool // the disk can be full
}

// maxFailed is how many failures are told.
const maxFailed = 20

// TestAChangeOfManyIsWholeHoweverItIsDisturbed draws kills of the worker, of the gateway and of both, stops, time limits, cancels,
// full disks and texts that another program appends, over all changes of many files, on a busy machine. After the next call every note
// is as it was or as it was to be, all of them alike; nothing else is left; and the answer is true of that.
func TestAChangeOfManyIsWholeHoweverItIsDisturbed(t *testing.T) {
	tries := numberOf(disturbancesVariable, testenv.Count(60, 5000))
	if testing.Short() {
		tries = 20
	}
	folder := testenv.MemoryFolder(t)
	d := &disturber{
		t: t, folder: folder, vault: filepath.Join(folder, "Vault"), counts: map[string]map[string]int{}, kinds: map[string]int{},
		random: rand.New(rand.NewPCG(uint64(numberOf(seedVariable, 1)), 7)),
	}
	if syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=48m,mode=0700") == nil {
		d.isFew = true
		t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	}
	defer keepBusy(numberOf(busyVariable, testenv.Count(0, 2)))()
	all := allDisturbed()
	for _, c := range all {
		d.learn(c)
	}
	made := 0
	for made < tries && d.failed < maxFailed {
		d.disturb(made, all[d.random.IntN(len(all))])
		made++
	}
	for _, disturbance := range disturbances {
		total := 0
		for _, count := range d.counts[disturbance.name] {
			total += count
		}
		t.Logf("%-12s %5d: %v", disturbance.name, total, d.counts[disturbance.name])
	}
	t.Logf("%d tries over %v", made, d.kinds)
	t.Logf("%d lines of another gateway", d.beside)
	t.Logf("%d lines of another program, of which %d were written into a file that was being replaced or removed", d.lines, d.lost)
}

func numberOf(variable string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return usual
}

// keepBusy has some loops run until it is told to end.
func keepBusy(loops int) (end func()) {
	var isOver atomic.Bool
	for range loops {
		go func() {
			for !isOver.Load() {
			}
		}()
	}
	return func() { isOver.Store(true) }
}

// learn notes what a change makes of the vault when nothing disturbs it.
func (d *disturber) learn(c *disturbed) {
	t := d.t
	require.NoError(t, os.RemoveAll(d.vault))
	fillSmall(t, d.vault)
	c.start = wholeTree(t, d.vault)
	g := changerHere(t, d.folder, 0)
	defer g.end()
	g.do(t.Context(), one("orphans", "total")) // so that the worker knows the vault
	if c.before != nil {
		got := g.do(t.Context(), c.before)
		require.That(t, got.code == "ok", "%q: %+v", c.before, got)
	}
	c.old = wholeTree(t, d.vault)
	begun := time.Now()
	got := g.do(t.Context(), c.change)
	c.took = time.Since(begun)
	require.That(t, got.code == "ok", "%q: %+v", c.change, got)
	c.done = wholeTree(t, d.vault)
	require.That(t, !maps.Equal(c.old, c.done), "%q changes nothing", c.change)
}

func (d *disturber) draw() string {
	total := 0
	for _, one := range disturbances {
		total += one.n
	}
	at := d.random.IntN(total)
	for _, one := range disturbances {
		if at -= one.n; at < 0 {
			if one.name == "full disk" && !d.isFew {
				return "kill worker"
			}
			return one.name
		}
	}
	return ""
}

// disturb has one change disturbed.
func (d *disturber) disturb(n int, c *disturbed) {
	t := d.t
	way := d.draw()
	isBeside := d.random.IntN(3) == 0 // another gateway changes a note of its own meanwhile
	isApart := way == "kill gateway" || way == "kill both" || way == "end gateway"
	appends := 0
	if way == "append" || d.random.IntN(5) == 0 {
		appends = 1 + d.random.IntN(2)
	}
	moment := time.Duration(d.random.Int64N(int64(c.took) + 1))
	if n%20 == 0 { // else the journal stays, and the next call finds it as long as it is
		require.NoError(t, os.RemoveAll(filepath.Join(d.folder, "state")))
	}
	restoreTree(t, d.vault, c.start)
	var g changer
	isOver := false
	t.Run(strconv.Itoa(n), func(t *testing.T) {
		if isApart {
			g = changerApart(t, d.folder)
		} else {
			g = changerHere(t, d.folder, 0)
		}
		defer func() { g.end() }()
		if c.before != nil {
			got := g.do(t.Context(), c.before)
			require.That(t, got.code == "ok", "before: %q: %+v", c.before, got)
		} else {
			g.do(t.Context(), one("orphans", "total")) // so that there is a worker, which knows the vault
		}
		if way == "time" || way == "1s" {
			g.end()
			timeout := time.Second
			if way == "time" {
				timeout = moment + time.Millisecond
			}
			g = changerHere(t, d.folder, timeout)
		}
		endBeside := func() []string { return nil }
		if isBeside {
			endBeside = d.writeBeside(t)
		}
		answer := d.run(t, g, c, way, moment, appends)
		beside := endBeside()
		when := fmt.Sprintf("%d: %s %q, %s after %v, %d lines: %s %s", n, c.name, c.change, way, moment, appends, answer.code, answer.text)
		d.settled(t, when, c, answer, appends, beside)
		if d.counts[way] == nil {
			d.counts[way] = map[string]int{}
		}
		d.counts[way][answer.code]++
		d.kinds[c.name]++
		isOver = !t.Failed()
	})
	if !isOver {
		d.failed++
	}
}

// run makes the change, and disturbs it at a moment.
func (d *disturber) run(t *testing.T, g changer, c *disturbed, way string, moment time.Duration, appends int) answeredCall {
	ballast := filepath.Join(d.folder, "ballast")
	if way == "full disk" {
		d.fillDisk(t, ballast)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	workers := harness.WorkersOf(t, g.pid) // none of a gateway with a limit, which starts one for the change
	ended := make(chan answeredCall, 1)
	go func() { ended <- g.do(ctx, c.change) }()
	signal := func(what syscall.Signal, pids ...int) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, what)
		}
	}
	time.Sleep(moment) // the disturbance comes at a random moment of the change
	switch way {
	case "kill worker":
		signal(syscall.SIGKILL, workers...)
	case "kill gateway":
		signal(syscall.SIGKILL, g.pid)
	case "kill both":
		signal(syscall.SIGKILL, append(workers, g.pid)...)
	case "end gateway":
		signal(syscall.SIGTERM, g.pid)
	case "stop worker":
		signal(syscall.SIGSTOP, workers...)
		time.Sleep(time.Duration(d.random.IntN(60)) * time.Millisecond) // a short interruption
		d.append(t, appends)
		appends = 0
		signal(syscall.SIGCONT, workers...)
	case "1s":
		workers = harness.WorkersOf(t, g.pid)
		signal(syscall.SIGSTOP, workers...)
		time.Sleep(time.Duration(900+d.random.IntN(300)) * time.Millisecond) // about a second
		signal(syscall.SIGCONT, workers...)
	case "cancel":
		cancel()
	}
	d.append(t, appends)
	answer := <-ended
	_ = os.Remove(ballast)
	return answer
}

// besideNote is a note that no change is about.
const besideNote = "Beside/own.md"

// writeBeside has another gateway append to a note of its own until it is told to end. It returns the lines that were told as written.
func (d *disturber) writeBeside(t *testing.T) (end func() (lines []string)) {
	g, endGateway := manyGateway(t, d.folder, 0)
	g.Do(t.Context(), gateway.Request{Command: "read", Words: []string{"path=" + besideNote}, Caller: "beside"}) // so that it has a worker
	stop := make(chan struct{})
	ended := make(chan []string, 1)
	go func() {
		var told []string
		for n := 0; ; n++ {
			select {
			case <-stop:
				ended <- told
				return
			default:
			}
			line := fmt.Sprintf("<line %d>", n)
			if g.Do(t.Context(), gateway.Request{Command: "append", Words: []string{"path=" + besideNote, "content=" + line}, Caller: "beside"}).OK {
				told = append(told, line)
			}
		}
	}()
	return func() []string {
		close(stop)
		defer endGateway()
		return <-ended
	}
}

// fillDisk leaves some pages of the disk free: from none to what a change takes.
func (d *disturber) fillDisk(t *testing.T, ballast string) {
	var facts syscall.Statfs_t
	require.NoError(t, syscall.Statfs(d.folder, &facts))
	leave := int64(d.random.IntN(1 << d.random.IntN(7)))
	file := require.Value(os.Create(ballast))(t)
	defer file.Close()
	if size := (int64(facts.Bfree) - leave) * facts.Bsize; size > 0 {
		_ = syscall.Fallocate(int(file.Fd()), 0, 0, size)
	}
}

// append appends lines to notes, wherever they are at this moment.
func (d *disturber) append(t *testing.T, lines int) {
	for range lines {
		var notes []string
		_ = filepath.WalkDir(d.vault, func(path string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") && !strings.Contains(path, "/.") && !strings.HasSuffix(path, besideNote) {
				notes = append(notes, path)
			}
			return nil
		})
		if len(notes) == 0 {
			continue
		}
		file, err := os.OpenFile(notes[d.random.IntN(len(notes))], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		if _, err := file.WriteString(foreignLine); err == nil {
			d.lines++
		}
		file.Close()
	}
}

// settled makes the next call, and compares what is there then with what may be.
func (d *disturber) settled(t *testing.T, when string, c *disturbed, answer answeredCall, appends int, beside []string) {
	next := changerHere(t, d.folder, 0)
	defer next.end()
	got := next.do(t.Context(), one("files", "total"))
	require.That(t, got.code == "ok", "%s: the next call: %+v", when, got)
	now := wholeTree(t, d.vault)
	found := 0
	for path, text := range now {
		found += strings.Count(text, foreignLine)
		now[path] = strings.ReplaceAll(text, foreignLine, "")
		assert.That(t, !strings.Contains(path, ".vaultwicket-"), "%s: %s is left", when, path)
	}
	for _, line := range beside {
		assert.Equal(t, strings.Count(now[besideNote], line), 1, "%s: %q, which another gateway told as written, in %q", when, line, now[besideNote])
	}
	d.beside += len(beside)
	now[besideNote] = c.old[besideNote]
	if appends > 0 && found < appends {
		d.lost += appends - found
	}
	isOld := maps.Equal(now, c.old)
	isDone := maps.Equal(now, c.done)
	assert.That(t, answer.changes == 0 || isDone, "%s: %d operations tell a change: %.600q", when, answer.changes, differ(now, c.done, ""))
	assert.That(t, answer.undone == 0 || isOld, "%s: %d operations are told to be undone: %.600q", when, answer.undone, differ(now, c.old, ""))
	switch answer.code {
	case "ok":
		assert.That(t, isDone, "%s: not as it was to be: %.600q", when, differ(now, c.done, ""))
	case "none":
		assert.That(t, isOld || isDone, "%s: neither as it was %.400q nor as it was to be %.400q", when, differ(now, c.old, ""), differ(now, c.done, ""))
	case failure.CodePartlyApplied:
		assert.That(t, appends > 0, "%s: no other program wrote anything", when)
		for _, path := range answer.made {
			if slices.Contains(answer.moved, path) {
				isOld := slices.Contains(slices.Collect(maps.Values(c.old)), now[path])
				assert.That(t, isOld, "%s: %s is said to be moved, and has the text %q", when, path, now[path])
				continue
			}
			assert.Equal(t, now[path], c.done[path], "%s: made %s", when, path)
		}
		for _, path := range answer.unmade {
			assert.Equal(t, now[path], c.old[path], "%s: not made %s", when, path)
		}
	case failure.CodeUnknown:
		t.Errorf("%s: the outcome is unknown", when)
	default:
		assert.That(t, isOld, "%s: not as it was: %.600q", when, differ(now, c.old, ""))
	}
}
