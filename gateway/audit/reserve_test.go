package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// fullDisk is a disk on which no file can grow while it is full. What a file has can be overwritten.
type fullDisk struct {
	ownerfiles.Disk
	full *bool
}

type fullFile struct {
	ownerfiles.File
	full *bool
}

func (d fullDisk) Create(name string) (ownerfiles.File, error) {
	file, err := d.Disk.Create(name)
	return fullFile{file, d.full}, err
}

func (d fullDisk) Open(name string, flag int) (ownerfiles.File, error) {
	file, err := d.Disk.Open(name, flag)
	return fullFile{file, d.full}, err
}

func (f fullFile) Write(data []byte) (int, error) {
	if *f.full {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(data)
}

// onFullDisk returns the two parts of a log on a disk that is full when the second value says so, and how another process
// opens it.
func onFullDisk(t *testing.T) (logs Logs, full *bool, open func() Logs) {
	state := t.TempDir()
	require.NoError(t, os.Chmod(state, 0o700))
	full = new(bool)
	open = func() Logs {
		l := OpenLogs(state)
		l.lasting.sys, l.calls.sys = fullDisk{full: full}, fullDisk{full: full}
		t.Cleanup(func() { _ = errors.Join(l.lasting.Close(), l.calls.Close()) })
		return l
	}
	return open(), full, open
}

func read(n int) Line { return Line{Kind: "end", Call: fmt.Sprint("read ", n), Command: "read"} }

func refused(n int) Line {
	return Line{Kind: "decision", Decision: "deny", Code: policy.CodeAccess, Call: fmt.Sprint("refused ", n), Command: "delete"}
}

func TestWhatAFullDiskDoesNotTakeIsCounted(t *testing.T) {
	logs, full, open := onFullDisk(t)
	require.NoError(t, logs.Write(read(0), Buffered))
	require.NoError(t, logs.Write(refused(0), Buffered))
	*full = true
	for n := 1; n <= 40; n++ {
		assert.ErrorIs(t, logs.Write(read(n), Buffered), syscall.ENOSPC)
	}
	// Another process counts on, and the first one may be gone.
	other := open()
	for n := 41; n <= 50; n++ {
		assert.ErrorIs(t, other.Write(read(n), Buffered), syscall.ENOSPC)
	}
	assert.ErrorIs(t, logs.Write(refused(1), Buffered), syscall.ENOSPC)
	assert.ErrorIs(t, other.Write(refused(2), Buffered), syscall.ENOSPC)
	change := Line{Kind: "decision", Decision: "allow", Call: "change"}
	assert.ErrorIs(t, logs.WriteLasting(change, Durable), syscall.ENOSPC)
	assert.Equal(t, logs.Missed(), uint64(41), "in the first process")
	assert.Equal(t, other.Missed(), uint64(10), "in the other process")

	calls, lasting := logs.calls.folder.dir, logs.lasting.folder.dir
	report := require.Value(Verify(t.Context(), calls))(t)
	assert.Equal(t, report.Missed, 50, "the calls, while it is full")
	assert.Equal(t, report.Waiting, 0, "the calls, while it is full")
	assert.That(t, report.Broken == nil, "the calls, while it is full: %+v", report)
	report = require.Value(Verify(t.Context(), lasting))(t)
	assert.Equal(t, report.Missed, 1, "the other part, while it is full")
	assert.Equal(t, report.Waiting, 2, "the other part, while it is full")
	assert.That(t, report.Broken == nil, "the other part, while it is full: %+v", report)

	*full = false
	for n, l := range []Logs{open(), logs, other} {
		require.NoError(t, l.Write(read(51+n), Buffered))
		require.NoError(t, l.Write(refused(3+n), Buffered))
	}
	report = require.Value(Verify(t.Context(), calls))(t)
	require.Equal(t, report.Missed, 50, "the calls")
	require.Equal(t, report.Waiting, 0, "the calls")
	require.That(t, report.Broken == nil, "the calls: %+v", report)
	assert.Equal(t, report.Gaps, 0, "the calls")
	got := told(t, calls)
	want := []string{"read 0", "gap 50", "read 51", "read 52", "read 53"}
	assert.Equal(t, strings.Join(got, ", "), strings.Join(want, ", "), "the calls")
	report = require.Value(Verify(t.Context(), lasting))(t)
	assert.Equal(t, report.Missed, 1, "the other part")
	assert.Equal(t, report.Waiting, 0, "the other part")
	assert.That(t, report.Broken == nil, "the other part: %+v", report)
	want = []string{"refused 0", "gap 1", "refused 1", "refused 2", "refused 3", "refused 4", "refused 5"}
	assert.Equal(t, strings.Join(told(t, lasting), ", "), strings.Join(want, ", "), "the other part")
}

// A part that has no line yet when the disk becomes full has a reserve too, whichever part the first line was for.
func TestAPartWithoutALineHasAReserve(t *testing.T) {
	for _, first := range []Line{read(0), refused(0)} {
		logs, full, open := onFullDisk(t)
		require.NoError(t, logs.Write(first, Buffered))
		*full = true
		assert.ErrorIs(t, logs.Write(read(1), Buffered), syscall.ENOSPC)
		assert.ErrorIs(t, logs.Write(refused(1), Buffered), syscall.ENOSPC)
		for _, part := range []*Log{logs.calls, logs.lasting} {
			report := require.Value(Verify(t.Context(), part.folder.dir))(t)
			assert.Equal(t, report.Missed+uint64(report.Waiting), uint64(1), "after %s, while it is full: %+v", first.Call, report)
		}
		*full = false
		next := open() // the first process may be gone
		require.NoError(t, next.Write(read(2), Buffered))
		require.NoError(t, next.Write(refused(2), Buffered))
		assert.Contains(t, strings.Join(told(t, next.calls.folder.dir), ", "), "gap 1, read 2", "after %s", first.Call)
		assert.Contains(t, strings.Join(told(t, next.lasting.folder.dir), ", "), "refused 1, refused 2", "after %s", first.Call)
	}
}

// told returns the calls of the lines of a log, and how many lines its gaps count.
func told(t *testing.T, dir string) (all []string) {
	t.Helper()
	for line, err := range List(t.Context(), dir, Filter{}) {
		require.NoError(t, err)
		if line.Kind == kindGap {
			all = append(all, fmt.Sprint("gap ", line.Repair.Lost))
			continue
		}
		all = append(all, line.Call)
	}
	return all
}

// The reserve takes a few hundred refusals, and then they are counted too.
func TestTheReserveHasAnEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	logs, full, _ := onFullDisk(t)
	require.NoError(t, logs.Write(refused(0), Buffered))
	*full = true
	const count = 1000 // some more than it holds
	for n := 1; n <= count; n++ {
		assert.ErrorIs(t, logs.Write(refused(n), Buffered), syscall.ENOSPC)
	}
	lasting := logs.lasting.folder.dir
	report := require.Value(Verify(t.Context(), lasting))(t)
	assert.That(t, report.Waiting >= 300, "%+v", report)
	assert.Equal(t, report.Missed+uint64(report.Waiting), count)
	info := require.Value(os.Stat(logs.lasting.folder.file(reserveFile)))(t)
	assert.Equal(t, info.Size(), int64(reserveSize), "the size of the reserve")
	*full = false
	require.NoError(t, logs.Write(refused(count+1), Buffered))
	assert.Equal(t, len(told(t, lasting)), 1+1+report.Waiting+1, "lines")
}

// A disk that was full before the log began leaves no reserve: what is missing is counted while the process lives.
func TestWithoutAReserveTheProcessCounts(t *testing.T) {
	logs, full, _ := onFullDisk(t)
	require.NoError(t, logs.Write(read(0), Buffered))
	require.NoError(t, os.Remove(logs.calls.folder.file(reserveFile)))
	*full = true
	for n := 1; n <= 3; n++ {
		assert.ErrorIs(t, logs.Write(read(n), Buffered), syscall.ENOSPC)
	}
	*full = false
	require.NoError(t, logs.Write(read(4), Buffered))
	assert.Equal(t, strings.Join(told(t, logs.calls.folder.dir), ", "), "read 0, gap 3, read 4")
}

// noReserve is a disk on which the reserve cannot be opened, as without free file descriptors.
type noReserve struct{ ownerfiles.Disk }

func (d noReserve) Open(name string, flag int) (ownerfiles.File, error) {
	if strings.HasSuffix(name, reserveFile) {
		return nil, syscall.EMFILE
	}
	return d.Disk.Open(name, flag)
}

// A process that cannot read the reserve leaves it to the next one.
func TestAReserveThatCannotBeReadIsKept(t *testing.T) {
	logs, full, open := onFullDisk(t)
	require.NoError(t, logs.Write(refused(0), Buffered))
	*full = true
	assert.ErrorIs(t, logs.Write(refused(1), Buffered), syscall.ENOSPC)
	*full = false
	other := open()
	other.lasting.sys = noReserve{}
	require.NoError(t, other.Write(refused(2), Buffered))
	require.NoError(t, open().Write(refused(3), Buffered))
	assert.Equal(t, strings.Join(told(t, logs.lasting.folder.dir), ", "), "refused 0, refused 2, refused 1, refused 3")
}

// What somebody has written into the reserve is no line of the log's own, and its count is no reason to fail.
func TestAReserveThatWasAlteredIsNotBelieved(t *testing.T) {
	logs, _, open := onFullDisk(t)
	require.NoError(t, logs.Write(read(0), Buffered))
	name := logs.calls.folder.file(reserveFile)
	forged, err := json.Marshal(Line{Kind: kindBreak, Repair: &Repair{Why: "forged"}})
	require.NoError(t, err)
	forged = append(forged, '\n')
	whole := make([]byte, reserveSize)
	copy(whole, reserve{Missed: 2}.encode(forged))
	copy(whole[reserveHead:], forged)
	for what, content := range map[string][]byte{"zeros": make([]byte, reserveSize), "short": []byte("{"), "text": []byte(strings.Repeat("x", reserveSize))} {
		require.NoError(t, os.WriteFile(name, content, 0o600))
		require.NoError(t, open().Write(read(1), Buffered))
		report := require.Value(Verify(t.Context(), logs.calls.folder.dir))(t)
		require.That(t, report.Broken == nil, "%s: %+v", what, report)
		assert.Equal(t, report.Missed, 0, "%s", what)
	}
	require.NoError(t, os.WriteFile(name, whole, 0o600))
	require.NoError(t, open().Write(read(1), Buffered))
	report := require.Value(Verify(t.Context(), logs.calls.folder.dir))(t)
	require.That(t, report.Broken == nil, "a line that is no caller's: %+v", report)
	assert.Equal(t, report.Missed, 3, "a line that is no caller's")
}
