package audit

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// tampered is a log of three older files and a present one, with what was done
// to it and the break that is to be found.
type tampered struct {
	name string
	do   func(t *testing.T, l *Log)
	file string // "" for any
	line int    // -1 for any
}

func editLines(file string, edit func(lines [][]byte) [][]byte) func(*testing.T, *Log) {
	return func(t *testing.T, l *Log) { writeFile(t, l, file, bytes.Join(edit(linesOf(t, l, file)), nil)) }
}

func replaceIn(file string, line int, from, to string) func(*testing.T, *Log) {
	return editLines(file, func(lines [][]byte) [][]byte {
		lines[line-1] = bytes.Replace(lines[line-1], []byte(from), []byte(to), 1)
		return lines
	})
}

func remove(file string) func(*testing.T, *Log) {
	return func(t *testing.T, l *Log) { require.NoError(t, os.Remove(l.folder.file(file))) }
}

func rename(from, to string) func(*testing.T, *Log) {
	return func(t *testing.T, l *Log) { require.NoError(t, os.Rename(l.folder.file(from), l.folder.file(to))) }
}

var (
	older1, older2, older3 = rotatedName(1), rotatedName(2), rotatedName(3)

	tamperings = []tampered{
		{"an edited line", replaceIn(currentFile, 3, `"allow"`, `"denied"`), currentFile, 3},
		{"an edited line of the same length", replaceIn(older2, 3, `"allow"`, `"allex"`), older2, 3},
		{"an edited first line", replaceIn(older1, 1, `"allow"`, `"allex"`), older1, 1},
		{"an edited last line", replaceIn(currentFile, 5, `"allow"`, `"allex"`), currentFile, 5},
		{"an edited last line of an older file", replaceIn(older1, 5, `"allow"`, `"allex"`), older1, 5},
		{"a line that is no JSON", replaceIn(older2, 3, `"allow"`, `"allow`), older2, 3},
		{"another number", replaceIn(older2, 3, `{"seq":8,`, `{"seq":9,`), older2, 3},
		{"swapped lines", editLines(older2, func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l }), older2, 2},
		{"a line twice", editLines(currentFile, func(l [][]byte) [][]byte { return slices.Insert(l, 2, l[1]) }), currentFile, 3},
		{"a line put in", editLines(currentFile, func(l [][]byte) [][]byte { return slices.Insert(l, 2, []byte("{}\n")) }), currentFile, 3},
		{"an empty line put in", editLines(currentFile, func(l [][]byte) [][]byte { return slices.Insert(l, 2, []byte("\n")) }), currentFile, 3},
		{"a deleted line", editLines(older3, func(l [][]byte) [][]byte { return slices.Delete(l, 1, 2) }), older3, 2},
		{"a deleted first line", editLines(older1, func(l [][]byte) [][]byte { return l[1:] }), older1, 1},
		{"a deleted last line", editLines(currentFile, func(l [][]byte) [][]byte { return l[:4] }), currentFile, 0},
		{"a deleted last line of an older file", editLines(older2, func(l [][]byte) [][]byte { return l[:4] }), older3, 1},
		{"a cut end", editLines(currentFile, func(l [][]byte) [][]byte { l[4] = l[4][:30]; return l }), currentFile, 5},
		{"a cut end of an older file", editLines(older2, func(l [][]byte) [][]byte { l[4] = l[4][:30]; return l }), older2, 5},
		{"the last end of line", editLines(currentFile, func(l [][]byte) [][]byte { l[4] = bytes.TrimSpace(l[4]); return l }), currentFile, -1},
		{"an emptied file", editLines(currentFile, func([][]byte) [][]byte { return nil }), currentFile, 0},
		{"a log within the log", func(t *testing.T, l *Log) {
			other := newLog(t, Limits{})
			writeAll(t, other, 1, 1)
			writeFile(t, l, currentFile, append(readFile(t, l, currentFile), readFile(t, other, currentFile)...))
		}, currentFile, 6},
		{"a log in the place of the log", func(t *testing.T, l *Log) {
			other := newLog(t, Limits{})
			writeAll(t, other, 1, 5)
			writeFile(t, l, currentFile, readFile(t, other, currentFile))
		}, currentFile, 1},
		{"a forged line at the end", func(t *testing.T, l *Log) {
			forged := bytes.Replace(linesOf(t, l, currentFile)[4], []byte(`{"seq":20,`), []byte(`{"seq":21,`), 1)
			writeFile(t, l, currentFile, append(readFile(t, l, currentFile), forged...))
		}, currentFile, -1},
		{"a removed oldest file", remove(older1), older1, 0},
		{"a removed file", remove(older2), older2, 0},
		{"a removed newest older file", remove(older3), older3, 0},
		{"a removed present file", remove(currentFile), currentFile, 0},
		{"a removed head", remove(headFile), headFile, 0},
		{"a removed key", remove(keyFile), keyFile, 0},
		{"all files removed but the head", func(t *testing.T, l *Log) {
			for _, name := range []string{older1, older2, older3, currentFile} {
				remove(name)(t, l)
			}
		}, older1, 0},
		{"another key", func(t *testing.T, l *Log) {
			other := newLog(t, Limits{})
			other.Digest("")
			writeFile(t, l, keyFile, readFile(t, other, keyFile))
		}, keyFile, 0},
		{"no key", func(t *testing.T, l *Log) { writeFile(t, l, keyFile, []byte("key\n")) }, keyFile, 0},
		{"no head", func(t *testing.T, l *Log) { writeFile(t, l, headFile, []byte("{}\n")) }, headFile, 0},
		{"renamed files", func(t *testing.T, l *Log) {
			rename(older1, "x")(t, l)
			rename(older2, older1)(t, l)
			rename("x", older2)(t, l)
		}, older1, 1},
		{"a file out of the row", rename(older1, rotatedName(7)), "", 0},
		{"a file more", func(t *testing.T, l *Log) { writeFile(t, l, rotatedName(9), nil) }, rotatedName(9), 0},
		{"a copy for the next older file", func(t *testing.T, l *Log) { writeFile(t, l, rotatedName(4), readFile(t, l, older3)) }, rotatedName(4), 1},
	}
)

func fourFiles(t *testing.T) *Log {
	l := newLog(t, Limits{FileSize: 3250})
	writeAll(t, l, 1, 20)
	wantWhole(t, l, 20)
	for _, name := range []string{older1, older2, older3, currentFile} {
		n := len(linesOf(t, l, name))
		require.That(t, n == 5, "%s has %d lines, want 5 (%d bytes)", name, n, len(readFile(t, l, name)))
	}
	return l
}

func TestTamperingIsFound(t *testing.T) {
	for _, test := range tamperings {
		t.Run(test.name, func(t *testing.T) {
			l := fourFiles(t)
			test.do(t, l)
			found := func(when string) *Break {
				t.Helper()
				b := verified(t, l).Broken
				require.That(t, b != nil, "%s: not found", when)
				t.Log(when, b)
				return b
			}
			b := found("at once")
			if test.file != "" && b.File != test.file || test.line >= 0 && b.Line != test.line {
				t.Errorf("found %v, want %s line %d", b, test.file, test.line)
			}
			// Going on changes nothing of that.
			next := again(t, l)
			writeAll(t, next, 21, 23)
			found("written on")
			writeAll(t, l, 24, 26)
			found("written on by who had it open")
			next = again(t, l)
			writeAll(t, next, 27, 60)
			found("with more files")
			// What was written since is listed all the same.
			if lines := listedAnyhow(t, l, Filter{}); len(lines) == 0 || lines[len(lines)-1].Call != "call-60" {
				t.Errorf("the last is %+v", lines[len(lines)-1])
			}
		})
	}
}

// What the next write sees is told in a line, and stays told when that line is
// too old to be kept.
func TestABreakIsToldForEver(t *testing.T) {
	for name, want := range map[string]string{
		"a deleted last line":            fileShorter,
		"an edited last line":            lastChanged,
		"a removed head":                 headMissing,
		"no head":                        headUnreadable,
		"a removed present file":         fileMissing,
		"another key":                    keyReplaced,
		"a log within the log":           unchainedLines,
		"a copy for the next older file": rotatedChanged,
		"a file more":                    unknownRotated,
	} {
		t.Run(name, func(t *testing.T) {
			l := fourFiles(t)
			i := slices.IndexFunc(tamperings, func(test tampered) bool { return test.name == name })
			tamperings[i].do(t, l)
			l = again(t, l)
			writeAll(t, l, 21, 21)
			told := listedAnyhow(t, l, Filter{Kind: "break"})
			require.Equal(t, len(told), 1, "told %+v", told)
			assert.Equal(t, told[0].Repair.Why, want, "told %+v", told)
			l = Open(l.folder.dir, Limits{FileSize: 1000, Files: 2})
			writeAll(t, l, 22, 60)
			told = listed(t, l, Filter{Kind: "break"})
			assert.That(t, len(told) == 0, "%+v", told)
			b := verified(t, l).Broken
			require.That(t, b != nil, "%v", b)
			assert.Equal(t, b.Why, breakNotKept)
		})
	}
}

func listedAnyhow(t *testing.T, l *Log, f Filter) (lines []Line) {
	for line, err := range List(t.Context(), l.folder.dir, f) {
		if err == nil {
			lines = append(lines, line)
		}
	}
	return lines
}

// Removing the oldest file must not remove what was done to it.
func TestDroppingDoesNotForget(t *testing.T) {
	for name, do := range map[string]func(*testing.T, *Log){
		"an edited line":          replaceIn(older1, 3, `"allow"`, `"allex"`),
		"a deleted line":          editLines(older1, func(l [][]byte) [][]byte { return slices.Delete(l, 1, 2) }),
		"a removed file":          remove(older1),
		"a deleted line after it": editLines(older2, func(l [][]byte) [][]byte { return l[1:] }),
	} {
		t.Run(name, func(t *testing.T) {
			l := fourFiles(t)
			do(t, l)
			l = Open(l.folder.dir, Limits{FileSize: 3250, Files: 2})
			writeAll(t, l, 21, 60)
			r := verified(t, l)
			assert.That(t, r.Broken != nil, "%+v", r)
		})
	}
}

func TestALogThatIsSetBackIsFoundByWhoWrites(t *testing.T) {
	putBack := func(t *testing.T, l *Log, old map[string][]byte) {
		for name, data := range old {
			writeFile(t, l, name, data)
		}
	}
	for name, do := range map[string]func(*testing.T, *Log, map[string][]byte){
		"an older copy": putBack,
		"another folder": func(t *testing.T, l *Log, old map[string][]byte) {
			require.NoError(t, os.Rename(l.folder.dir, l.folder.dir+"-away"))
			require.NoError(t, os.Mkdir(l.folder.dir, 0o700))
			putBack(t, l, old)
		},
		"nothing": func(t *testing.T, l *Log, _ map[string][]byte) { require.NoError(t, os.RemoveAll(l.folder.dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t, Limits{})
			writeAll(t, l, 1, 5)
			old := map[string][]byte{}
			for _, name := range []string{currentFile, headFile, keyFile} {
				old[name] = readFile(t, l, name)
			}
			writeAll(t, l, 6, 10)
			do(t, l, old)
			writeAll(t, l, 11, 11)
			r := verified(t, l)
			assert.That(t, r.Broken != nil, "%+v", r)
			lines := listed(t, l, Filter{})
			last := lines[len(lines)-1]
			require.Equal(t, last.Seq, 12)
			assert.Equal(t, lines[len(lines)-2].Kind, "break")
		})
	}
}

func TestLinesThatCannotBeReadAreListedAsSuch(t *testing.T) {
	l := newLog(t, Limits{})
	writeAll(t, l, 1, 5)
	editLines(currentFile, func(lines [][]byte) [][]byte {
		lines[1] = []byte("{\n")
		lines[3] = []byte(strings.Repeat("x", 3*maxLine) + "\n")
		return append(lines, []byte(`{"seq"`))
	})(t, l)
	got := ""
	for line, err := range List(t.Context(), l.folder.dir, Filter{}) {
		if err != nil {
			got += err.Error() + "\n"
		} else {
			got += fmt.Sprintln(line.Seq)
		}
	}
	want := "1\n" + (&Damaged{currentFile, 2}).Error() + "\n3\n" + (&Damaged{currentFile, 4}).Error() + "\n5\n"
	assert.That(t, got == want, "%s", got)
}
