package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// writeShort writes lines that are short, as each byte of them is tried.
func writeShort(t *testing.T, l *Log, from, to int) {
	t.Helper()
	for range to - from + 1 {
		require.NoError(t, l.Write(Line{Kind: "end"}, Buffered))
	}
}

// cuts are the places at which a text is cut off, from one on: after every byte. The short
// tests take those about the end of each line, and some within the lines.
func cuts(from int, text []byte) []int {
	const apart = 67
	var all []int
	for cut := from; cut <= len(text); cut++ {
		aboutTheEnd := bytes.IndexByte(text[max(cut-1, 0):min(cut+2, len(text))], '\n') >= 0
		if !testing.Short() || aboutTheEnd || cut == from || cut == len(text) || (cut-from)%apart == 0 {
			all = append(all, cut)
		}
	}
	return all
}

// TestWhatACrashLeavesIsRepaired cuts a log off at every byte that was written
// since the head was, as a process does that ends in between.
func TestWhatACrashLeavesIsRepaired(t *testing.T) {
	l := newLog(t, Limits{})
	writeShort(t, l, 1, 3)
	was := readFile(t, l, headFile)
	size := len(readFile(t, l, currentFile))
	writeShort(t, l, 4, 5)
	all := readFile(t, l, currentFile)
	for _, cut := range cuts(size, all) {
		writeFile(t, l, headFile, was)
		writeFile(t, l, currentFile, all[:cut])
		whole := bytes.Count(all[:cut], []byte("\n"))
		torn := cut - bytes.LastIndexByte(all[:cut], '\n') - 1
		if cut < len(all) && all[cut] == '\n' {
			whole, torn = whole+1, 0 // it lacks nothing but its end
		}
		r := verified(t, l)
		require.That(t, r.Broken == nil, "cut at %d: %+v, want %d lines, %d torn", cut, r, whole, torn)
		require.Equal(t, r.Lines, whole, "cut at %d: %+v, want %d lines, %d torn", cut, r, whole, torn)
		require.Equal(t, r.Torn, int64(torn), "cut at %d: %+v, want %d lines, %d torn", cut, r, whole, torn)
		next := again(t, l)
		writeShort(t, next, 6, 7)
		require.NoError(t, next.Close())
		gaps := min(torn, 1)
		r = verified(t, l)
		require.That(t, r.Broken == nil, "cut at %d and written on: %+v", cut, r)
		require.Equal(t, r.Gaps, gaps, "cut at %d and written on: %+v", cut, r)
		require.Equal(t, r.Torn, 0, "cut at %d and written on: %+v", cut, r)
		require.Equal(t, r.Lines, whole+gaps+2, "cut at %d and written on: %+v", cut, r)
		if told := listed(t, l, Filter{Kind: "gap"}); gaps == 1 && told[0].Repair.Torn != int64(torn)+1 {
			t.Fatalf("cut at %d: torn %+v", cut, told[0].Repair)
		}
	}
}

// TestARepairThatCrashesIsRepaired cuts the repair itself off at every byte, and
// the repair of that in its middle.
func TestARepairThatCrashesIsRepaired(t *testing.T) {
	l := newLog(t, Limits{})
	writeShort(t, l, 1, 3)
	was := readFile(t, l, headFile)
	good := readFile(t, l, currentFile)
	torn := append(bytes.Clone(good), good[len(good)-90:len(good)-50]...)
	writeFile(t, l, currentFile, torn)
	writeShort(t, again(t, l), 4, 4)
	all := readFile(t, l, currentFile)
	for _, cut := range cuts(len(torn), all) {
		writeFile(t, l, headFile, was)
		writeFile(t, l, currentFile, all[:cut])
		r := verified(t, l)
		require.That(t, r.Broken == nil, "cut at %d: %+v", cut, r)
		next := again(t, l)
		writeShort(t, next, 5, 5)
		require.NoError(t, next.Close())
		r = verified(t, l)
		require.That(t, r.Broken == nil, "cut at %d and written on: %+v", cut, r)
		require.That(t, r.Gaps != 0, "cut at %d and written on: %+v", cut, r)
		require.Equal(t, r.Torn, 0, "cut at %d and written on: %+v", cut, r)
		again2 := readFile(t, l, currentFile)
		writeFile(t, l, headFile, was)
		writeFile(t, l, currentFile, again2[:(cut+len(again2))/2])
		next = again(t, l)
		writeShort(t, next, 6, 6)
		require.NoError(t, next.Close())
		r = verified(t, l)
		require.That(t, r.Broken == nil, "cut at %d, and cut again: %+v", cut, r)
		require.That(t, r.Gaps != 0, "cut at %d, and cut again: %+v", cut, r)
		require.Equal(t, r.Torn, 0, "cut at %d, and cut again: %+v", cut, r)
	}
}

// TestAnInterruptedRotationIsFinished stops between the steps of laying aside.
func TestAnInterruptedRotationIsFinished(t *testing.T) {
	begun := func(t *testing.T, l *Log) {
		was := readFile(t, l, headFile)
		writeAll(t, l, 21, 21)
		writeFile(t, l, headFile, was)
	}
	for name, do := range map[string]func(*testing.T, *Log){
		"renamed": rename(currentFile, rotatedName(4)),
		"renamed, and another made": func(t *testing.T, l *Log) {
			rename(currentFile, rotatedName(4))(t, l)
			writeFile(t, l, currentFile, nil)
		},
		"renamed, and another begun": begun,
		"renamed, and another begun in the middle of a line": func(t *testing.T, l *Log) {
			begun(t, l)
			require.NoError(t, os.Truncate(l.folder.file(currentFile), 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := fourFiles(t)
			do(t, l)
			r := verified(t, l)
			require.That(t, r.Broken == nil, "%+v", r)
			require.That(t, r.Lines >= 20, "%+v", r)
			l = again(t, l)
			writeAll(t, l, 22, 40)
			r = verified(t, l)
			require.That(t, r.Broken == nil, "%+v", r)
			require.That(t, r.Lines >= 39, "%+v", r)
			require.Equal(t, r.Torn, 0)
		})
	}
}

// A file that was to be removed and is still there is no part of the log.
func TestALeftoverIsRemoved(t *testing.T) {
	l := fourFiles(t)
	old := readFile(t, l, older1)
	l = Open(l.folder.dir, Limits{FileSize: 3250, Files: 3})
	writeAll(t, l, 21, 25)
	writeFile(t, l, older1, old)
	r := verified(t, l)
	require.That(t, r.Broken == nil, "%+v", r)
	assert.Equal(t, r.Files, 3)
	writeAll(t, l, 26, 30)
	_, err := os.Lstat(l.folder.file(older1))
	assert.That(t, os.IsNotExist(err), "%v", err)
}

// TestEveryFault lets each call that changes the disk fail once, or for good, in
// a log that begins, goes on, rotates or repairs. No line that was promised is
// lost, none that was refused stays if the disk lets it be taken back, and
// nothing breaks.
func TestEveryFault(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for name, begin := range map[string]func(*testing.T, *Log){
			"a new log":   func(*testing.T, *Log) {},
			"a log":       func(t *testing.T, l *Log) { writeAll(t, l, 1, 2) },
			"a torn log":  func(t *testing.T, l *Log) { writeAll(t, l, 1, 2); tear(t, l) },
			"a full file": func(t *testing.T, l *Log) { writeAll(t, l, 1, 4) },
			"full files":  func(t *testing.T, l *Log) { writeAll(t, l, 1, 12) },
		} {
			t.Run(fmt.Sprintf("%s, killed %v", name, killed), func(t *testing.T) { everyFault(t, begin, killed) })
		}
	}
}

func tear(t *testing.T, l *Log) {
	data := readFile(t, l, currentFile)
	writeFile(t, l, currentFile, append(data, data[:200]...))
}

func everyFault(t *testing.T, begin func(*testing.T, *Log), killed bool) {
	for n := 1; ; n++ {
		require.That(t, n <= 100, "it never succeeded")
		l := newLog(t, Limits{FileSize: 2600, Files: 3})
		begin(t, l)
		require.NoError(t, l.Close())
		sys := &fake.FailingDisk{N: n, Lasting: killed}
		l = again(t, l)
		l.sys = sys
		promised, refused := map[string]bool{}, map[string]bool{}
		for i := 100; i < 103; i++ {
			line := sample(i)
			err := l.Write(line, Durable)
			if err == nil {
				promised[line.Call] = true
			} else {
				var typed *Unusable
				assert.That(t, errors.As(err, &typed), "call %d: %v", n, err)
				assert.ErrorIs(t, err, fake.ErrDisk, "call %d", n)
				refused[line.Call] = true
			}
		}
		check := func(when string) {
			t.Helper()
			r := verified(t, l)
			require.That(t, r.Broken == nil, "call %d failed%s: %v", n, when, r.Broken)
			there := map[string]bool{}
			for _, line := range listed(t, l, Filter{}) {
				there[line.Call] = true
			}
			for call := range promised {
				assert.That(t, there[call], "call %d failed%s: %s is lost", n, when, call)
			}
			for call := range refused {
				assert.That(t, !there[call] || killed, "call %d failed%s: %s is there", n, when, call)
			}
		}
		check("")
		writeAll(t, again(t, l), 200, 200)
		check(", and another process goes on")
		if sys.Calls < n {
			return
		}
	}
}

// TestEveryFaultOfAnOpenLog has each call of a line fail in a log that knows its files. The line that was refused is not there, and those after it are.
func TestEveryFaultOfAnOpenLog(t *testing.T) {
	for n, ended := 1, false; !ended; n++ {
		l, sys := newLog(t, Limits{}), &fake.FailingDisk{}
		if !l.keepOpen {
			t.Skip("no log stays open here, and TestEveryFault has the others")
		}
		l.sys = sys
		writeAll(t, l, 1, 3)
		sys.Calls, sys.N = 0, n
		err := l.Write(sample(4), Durable)
		ended = sys.Calls < n
		require.Equal(t, ended, err == nil, "call %d", n)
		require.That(t, err == nil || errors.Is(err, fake.ErrDisk), "call %d: %v", n, err)
		sys.N = 0
		writeAll(t, l, 5, 6)
		lines := 5
		if ended {
			lines++
			assert.That(t, n > 3, "%d calls: a durable line is written, made durable and noted in the head", n-1)
		}
		wantWhole(t, l, lines)
	}
}
