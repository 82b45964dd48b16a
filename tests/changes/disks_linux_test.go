package changes

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// badDisk is the program of tests/programs/baddisk: a folder, shown through a file system that fails when it is told so.
type badDisk struct {
	t       *testing.T
	files   string // the folder itself
	in      io.WriteCloser
	answers *bufio.Reader
}

// mountBadDisk shows folder/files as a folder beside it.
func mountBadDisk(t *testing.T, folder, name string) *badDisk {
	t.Helper()
	if file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("this machine has no FUSE: %v", err)
	} else {
		file.Close()
	}
	program := filepath.Join(t.TempDir(), "baddisk")
	require.NoError(t, harness.Build("github.com/vaultwicket/vaultwicket/tests/programs/baddisk", program))
	d := &badDisk{t: t, files: filepath.Join(folder, "files")}
	mounted := filepath.Join(folder, name)
	require.NoError(t, os.Mkdir(d.files, 0o700))
	require.NoError(t, os.Mkdir(mounted, 0o700))
	run := osexec.Command(program, d.files, mounted)
	run.Stderr = os.Stderr
	d.in = require.Value(run.StdinPipe())(t)
	d.answers = bufio.NewReader(require.Value(run.StdoutPipe())(t))
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		d.in.Close()
		assert.NoError(t, run.Wait())
	})
	if line, _ := d.answers.ReadString('\n'); line != "mounted\n" {
		t.Skipf("this user cannot mount a file system: %q", line)
	}
	return d
}

// fill writes so many notes with a text into a folder of it.
func (d *badDisk) fill(notes int, folder, text string) {
	d.t.Helper()
	for n := range notes {
		harness.WriteFile(d.t, filepath.Join(d.files, folder, fmt.Sprintf("n%d.md", n)), []byte(text))
	}
}

// tell gives the file system a command, and returns its answer.
func (d *badDisk) tell(format string, args ...any) string {
	d.t.Helper()
	_, err := fmt.Fprintf(d.in, format+"\n", args...)
	require.NoError(d.t, err)
	return strings.TrimSpace(require.Value(d.answers.ReadString('\n'))(d.t))
}

// The limits of calls. A busy machine needs seconds for a batch through FUSE; on a disk with faults a call may end early.
const (
	onGoodDisk = 5 * time.Minute
	onBadDisk  = 0 // the default
)

// diskFault is a way in which a disk fails, as [badDisk.tell] is told it.
type diskFault struct{ errno, operations string }

var diskFaults = []diskFault{
	{"EIO", "lookup"}, {"EIO", "getattr"}, {"EIO", "open"}, {"EIO", "read"}, {"EIO", "opendir"}, {"EIO", "readdir"}, {"EIO", "statfs"}, {"EIO", "fsyncdir"},
	{"EIO", "setattr"}, {"EIO", "mkdir"}, {"EIO", "unlink"}, {"EIO", "rmdir"}, {"EIO", "rename"}, {"EIO", "link"},
	{"EIO", "create"}, {"EIO", "write"}, {"EIO", "flush"}, {"EIO", "fsync"},
	{"EIO", "all"}, {"EIO", "changing"}, {"ENOSPC", "create,write,mkdir,link"}, {"EROFS", "changing"}, {"20ms", "changing"}, {"20ms", "all"},
}

// TestAnswersAreTrueOfABadDisk makes changes of many files on a disk that begins to fail at some operation: once, some
// times, or until it is healed. An answer is true of what is on the disk. After the disk is healed and the next call, all
// notes are as they were or as they were to be, and nothing else is left.
func TestAnswersAreTrueOfABadDisk(t *testing.T) {
	tries := testenv.Count(24, 1200)
	random := rand.New(rand.NewPCG(8, 9))
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "Vault")
	old, done := make([]map[string]string, len(ofMany)), make([]map[string]string, len(ofMany))
	begin := func(i int, limit time.Duration) (g *gateway.Gateway, end func()) {
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "state")))
		fillMany(t, d.files)
		g, end = manyGateway(t, folder, limit)
		if ofMany[i].before != nil {
			must(t, g, ofMany[i].before)
		}
		return g, end
	}
	outcomes := map[string]int{}
	for n := range tries {
		i := n % len(ofMany)
		if old[i] == nil {
			g, end := begin(i, onGoodDisk)
			old[i] = everything(t, d.files)
			must(t, g, ofMany[i].change)
			done[i] = everything(t, d.files)
			end()
		}
		g, end := begin(i, onBadDisk)
		must(t, g, []string{"version"}) // so that there is a worker
		kind := diskFaults[random.IntN(len(diskFaults))]
		from := 1 + random.IntN(1<<random.IntN(8))
		count := []int{1, 2, 10, 0}[random.IntN(4)]
		require.Equal(t, d.tell("fault %s %s %d %d", kind.errno, kind.operations, from, count), "ok")
		result := g.Do(t.Context(), gateway.Request{Command: ofMany[i].change[0], Words: ofMany[i].change[1:]})
		told := everything(t, d.files)
		failed := d.tell("heal")
		next, endNext := manyGateway(t, folder, onGoodDisk)
		must(t, next, []string{"files", "total"})
		now := everything(t, d.files)
		end()
		endNext()
		outcome := "ok"
		if !result.OK {
			outcome = result.Error.Code
		}
		when := fmt.Sprintf("%d: %q, %s of %s from %d, %d of them (%s failed): %s (%v)", n, ofMany[i].change,
			kind.errno, kind.operations, from, count, failed, outcome, result.Error)
		if failed != "0" {
			outcomes[kind.errno+" "+outcome]++
		}
		maps.DeleteFunc(told, func(name, _ string) bool { return strings.HasSuffix(name, ".tmp") }) // the next call removes it
		if outcome == protocol.CodeVaultUnwritable {
			judgeParts(t, when, result.Error, told, old[i], done[i])
		}
		if outcome == "ok" {
			assert.That(t, maps.Equal(told, done[i]), "%s: when it was told, there were the differences %.300q", when, differ(told, done[i], ""))
		}
		if !result.OK {
			text := result.Error.Message + result.Error.Hint
			assert.That(t, !strings.Contains(text, ".vaultwicket-"), "%s: it names a temporary file", when)
			assert.That(t, !strings.Contains(text, folder), "%s: it names a folder of the machine", when)
			assert.That(t, outcome != failure.CodeNotFound, "%s: nothing is missing", when)
			assert.That(t, outcome != failure.CodeVaultNotFound, "%s: nothing is missing", when)
			assert.That(t, outcome != failure.CodeCLIError, "%s: the disk has a code of its own", when)
			assert.That(t, outcome != failure.CodePartlyApplied, "%s: the disk has a code of its own", when)
		}
		judgeDisk(t, when, outcome, now, old[i], done[i])
	}
	t.Logf("%d tries, where something failed: %v", tries, outcomes)
}

// judgeParts compares what an answer says of the files of a change that the disk has broken off with what is there.
func judgeParts(t *testing.T, when string, said *failure.Error, told, old, done map[string]string) {
	t.Helper()
	for _, path := range said.Made {
		if !slices.Contains(said.Moved, path) {
			assert.Equal(t, told[path], done[path], "%s: %s is said to be changed", when, path)
		}
	}
	for _, path := range said.Moved {
		isOld := slices.Contains(slices.Collect(maps.Values(old)), told[path])
		assert.That(t, isOld, "%s: %s is said to be moved, and has the text %q", when, path, told[path])
		assert.That(t, told[path] != done[path], "%s: %s is said to be moved alone, and is as it was to be", when, path)
	}
	for _, path := range said.NotMade {
		assert.Equal(t, told[path], old[path], "%s: %s is said to be as it was", when, path)
	}
	if len(said.Made) > 0 {
		return
	}
	for path, text := range old {
		isFolder := strings.HasSuffix(path, "/")
		assert.That(t, isFolder || told[path] == text, "%s: %s is not as it was", when, path)
	}
}

// chainsOfDisk are atomic batches of a vault of [fillMany], whose operations rest on each other.
var chainsOfDisk = [][]string{
	{"append path=P/n1.md content=added", "vault:replace old=word new=term", "rename path=hub.md name=Hub",
		"delete path=P/n2.md", "create path=New/Deep/x.md content=x"},
	{"create path=New/y.md content=y", "append path=New/y.md content=more", "move path=P/n3.md to=New/n3.md",
		"append path=New/n3.md content=more", "delete path=New/y.md permanent"},
	{"folder:rename path=P name=Q", "append path=Q/n1.md content=added", "tag:rename name=t to=u", "note:split path=long.md level=1"},
}

// TestBatchesAreTrueOfABadDisk is [TestAnswersAreTrueOfABadDisk] for atomic batches: what is on the disk is that of all operations
// or of none, and the answer of each says which.
func TestBatchesAreTrueOfABadDisk(t *testing.T) {
	tries := testenv.Count(18, 900)
	random := rand.New(rand.NewPCG(12, 13))
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "Vault")
	run := func(g *gateway.Gateway, i int) gateway.BatchResult {
		batch := gateway.Batch{Atomic: true, Request: gateway.Request{Caller: "me"}}
		for n, line := range chainsOfDisk[i] {
			batch.Operations = append(batch.Operations, operationOf(fmt.Sprint("c", n), line))
		}
		return g.DoBatch(t.Context(), batch)
	}
	begin := func(limit time.Duration) (g *gateway.Gateway, end func()) {
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "state")))
		fillMany(t, d.files)
		return manyGateway(t, folder, limit)
	}
	old := map[string]string{}
	done := make([]map[string]string, len(chainsOfDisk))
	for i := range chainsOfDisk {
		g, end := begin(onGoodDisk)
		old = everything(t, d.files)
		whole := run(g, i)
		require.That(t, whole.OK, "%s", describe(whole))
		done[i] = everything(t, d.files)
		end()
	}
	outcomes := map[string]int{}
	try := func(number string, i int, fault diskFault, from, count int) {
		g, end := begin(onBadDisk)
		must(t, g, []string{"version"}) // so that there is a worker
		require.Equal(t, d.tell("fault %s %s %d %d", fault.errno, fault.operations, from, count), "ok")
		result := run(g, i)
		failed := d.tell("heal")
		next, endNext := manyGateway(t, folder, onGoodDisk)
		must(t, next, []string{"files", "total"})
		now := everything(t, d.files)
		outcome := "ok"
		if !result.OK {
			outcome = result.Failures()[0]
		}
		when := fmt.Sprintf("%s: batch %d, %s of %s from %d, %d of them (%s failed): %s", number, i, fault.errno,
			fault.operations, from, count, failed, describe(result))
		if failed != "0" {
			outcomes[fault.errno+" "+outcome]++
		}
		judgeDisk(t, when, outcome, now, old, done[i])
		for _, one := range result.Results {
			isTold := result.OK || one.Result == nil || one.Result.Change == nil
			assert.That(t, isTold || maps.Equal(now, done[i]), "%s: a change is told that was not made: %+v", when, one)
			isUndone := one.Undone != nil && *one.Undone
			assert.That(t, !isUndone || maps.Equal(now, old), "%s: a change is told to be undone that was made: %+v", when, one)
		}
		if result.OK {
			must(t, next, []string{"version"})
			undone := next.Do(t.Context(), gateway.Request{Command: "undo", Caller: "me"})
			back := everything(t, d.files)
			assert.That(t, undone.OK, "%s: after undo: %v %.300q", when, undone.Error, differ(back, old, ""))
			assert.That(t, maps.Equal(back, old),
				"%s: after undo: %v %.300q", when, undone.Error, differ(back, old, ""))
		}
		end()
		endNext()
	}
	// The disk lets the change neither be completed nor be taken back.
	try("a rename", 2, diskFault{"EIO", "rename"}, 11, 10)
	// The disk does not open a folder in which an earlier operation has planned a note.
	try("a folder", 0, diskFault{"EIO", "opendir"}, 54, 10)
	for n := range tries {
		fault := diskFaults[random.IntN(len(diskFaults))]
		from := 1 + random.IntN(1<<random.IntN(8))
		count := []int{1, 2, 10, 0}[random.IntN(4)]
		try(fmt.Sprint(n), n%len(chainsOfDisk), fault, from, count)
	}
	t.Logf("%d tries, where something failed: %v", tries, outcomes)
}

// judgeDisk compares what is on a disk that was healed with what may be there after an answer.
func judgeDisk(t *testing.T, when, outcome string, now, old, done map[string]string) {
	t.Helper()
	isOld := maps.Equal(now, old)
	isDone := maps.Equal(now, done)
	switch outcome {
	case "ok":
		assert.That(t, isDone, "%s: healed, there are the differences %.300q", when, differ(now, done, ""))
	case failure.CodeUnknown:
		assert.That(t, isOld || isDone, "%s: healed, there are the differences %.300q", when, differ(now, old, ""))
	default:
		assert.That(t, isOld, "%s: healed, there are the differences %.300q", when, differ(now, old, ""))
	}
}

// readsOfDisk are commands that read a vault of [fillMany].
var readsOfDisk = [][]string{
	{"search", "query=word"}, {"search:context", "query=word"}, {"files"}, {"folders"}, {"backlinks", "path=hub.md"},
	{"links", "path=P/n1.md"}, {"tags", "counts"}, {"orphans"}, {"deadends"},
	{"unresolved"}, {"read", "path=long.md"}, {"read", "file=hub"}, {"outline", "path=long.md"}, {"tasks"},
	{"properties"}, {"files", "folder=P"}, {"folder", "path=P"}, {"vault"}, {"find", "query=word"},
}

// TestReadsAreTrueOfABadDisk reads a vault on a disk that fails at some operation: an answer is as on a good disk, or
// says how much could not be read, or is an error; and nothing is said to be missing. Afterwards it is as before.
func TestReadsAreTrueOfABadDisk(t *testing.T) {
	tries := testenv.Count(60, 3000)
	random := rand.New(rand.NewPCG(10, 11))
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "Vault")
	fillMany(t, d.files)
	g, end := manyGateway(t, folder, 0)
	defer func() { end() }()
	ask := func(words []string) gateway.Result {
		return g.Do(t.Context(), gateway.Request{Command: words[0], Words: words[1:]})
	}
	want := map[string]string{}
	for _, words := range readsOfDisk {
		got := ask(words)
		require.That(t, got.OK, "%q: %+v", words, got.Error)
		want[strings.Join(words, " ")] = got.Stdout
	}
	outcomes := map[string]int{}
	for n := range tries {
		words := readsOfDisk[random.IntN(len(readsOfDisk))]
		if random.IntN(2) == 0 { // a worker that has read nothing yet
			end()
			require.NoError(t, os.RemoveAll(filepath.Join(folder, "cache")))
			g, end = manyGateway(t, folder, 0)
		}
		kind := []string{"lookup", "getattr", "open", "read", "opendir", "readdir", "all"}[random.IntN(7)]
		from := 1 + random.IntN(1<<random.IntN(8))
		count := []int{1, 2, 10, 0}[random.IntN(4)]
		require.Equal(t, d.tell("fault EIO %s %d %d", kind, from, count), "ok")
		got := ask(words)
		failed := d.tell("heal")
		when := fmt.Sprintf("%d: %q, EIO of %s from %d, %d of them (%s failed)", n, words, kind, from, count, failed)
		asUsual := want[strings.Join(words, " ")]
		switch {
		case !got.OK:
			outcomes[got.Error.Code]++
			isUnreadable := got.Error.Code == protocol.CodeVaultUnreadable
			assert.That(t, isUnreadable, "%s: the code is %s: %v", when, got.Error.Code, got.Error)
			assert.That(t, !strings.Contains(got.Error.Message+got.Error.Hint, folder), "%s: it names a folder of the machine: %v", when, got.Error)
		case got.Unread > 0:
			outcomes["unread"]++
		default:
			outcomes["ok"]++
			assert.That(t, got.Stdout == asUsual, "%s: the answer is %.300q, not %.300q", when, got.Stdout, asUsual)
		}
		after := ask(words)
		assert.That(t, after.OK,
			"%s: healed, the answer is %.300q (%v), not %.300q", when, after.Stdout, after.Error, asUsual)
		assert.Equal(t, after.Unread, 0,
			"%s: healed, the answer is %.300q (%v), not %.300q", when, after.Stdout, after.Error, asUsual)
		assert.Equal(t, after.Stdout, asUsual, "%s: healed, the answer is %.300q (%v)", when, after.Stdout, after.Error)
	}
	t.Logf("%d tries: %v", tries, outcomes)
}

// TestARenameWithManyLinksAsksLittleOfTheDisk renames a note to which 150 notes link: each is synchronized once, and
// their folders once for all; few operations of a note wait for others. So it ends where each takes five milliseconds.
func TestARenameWithManyLinksAsksLittleOfTheDisk(t *testing.T) {
	const linking = 150
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "Vault")
	d.fill(linking, "P", "See [[hub]].\n")
	harness.WriteFile(t, filepath.Join(d.files, "hub.md"), []byte("hub\n"))
	harness.WriteFile(t, filepath.Join(d.files, ".obsidian", "app.json"), []byte(`{"alwaysUpdateLinks":true}`))
	g, end := manyGateway(t, folder, 0)
	defer end()
	must(t, g, []string{"orphans", "total"}) // so that there is an index
	for _, asked := range []struct {
		operations string
		most       int
	}{{"fsync,fsyncdir", linking + 4}, {"changing", 20 * linking}} {
		d.tell("count %s", asked.operations)
		must(t, g, []string{"rename", "path=hub.md", "name=Middle"})
		made := require.Value(strconv.Atoi(d.tell("count all")))(t)
		assert.That(t, made > 0, "%d operations of %s", made, asked.operations)
		assert.That(t, made <= asked.most, "%d operations of %s", made, asked.operations)
		must(t, g, []string{"undo"})
	}
	if testenv.Long() {
		require.Equal(t, d.tell("fault 5ms all 1 0"), "ok")
		must(t, g, []string{"rename", "path=hub.md", "name=Middle"})
		t.Logf("%s operations of 5 ms each", d.tell("heal"))
	}
}

// TestABatchDoesNotReadTheNotesBesideItsOwn counts how often files are opened for a batch in a folder of many notes.
func TestABatchDoesNotReadTheNotesBesideItsOwn(t *testing.T) {
	const notes = 300
	folder := testenv.MemoryFolder(t)
	d := mountBadDisk(t, folder, "Vault")
	d.fill(notes, "P", "text\n")
	g, end := manyGateway(t, folder, 0)
	defer end()
	opened := func(call func()) int {
		d.tell("count open")
		call()
		return require.Value(strconv.Atoi(d.tell("count open")))(t)
	}
	// A file that was just written is read again until it is older than the resolution of its times.
	for opened(func() { must(t, g, []string{"orphans", "total"}) }) > notes/3 {
		time.Sleep(50 * time.Millisecond) // until then
	}
	var got gateway.BatchResult
	count := opened(func() {
		got = g.DoBatch(t.Context(), gateway.Batch{Atomic: true, Operations: []gateway.Operation{
			harness.Operation("a", "append", "path=P/n1.md", "content=x"),
			harness.Operation("b", "create", "path=P/new.md", "content=x"),
			harness.Operation("c", "unresolved", "total"),
		}})
	})
	require.That(t, got.OK, "%+v", got.Error)
	assert.That(t, count > 0, "no file is opened")
	assert.That(t, count < notes/3, "files are opened %d times for a batch of two beside %d notes", count, notes)
}
