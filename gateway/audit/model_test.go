package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

// TestAnySequenceVerifies writes, reopens, rotates and crashes in any order. The
// log is whole at any time, has what was promised, and whatever single byte is
// changed in any of its files is found.
func TestAnySequenceVerifies(t *testing.T) {
	rapid.Check(t, testenv.Cases(30, func(rt *rapid.T) {
		dir := require.Value(os.MkdirTemp("", "audit"))(t)
		defer os.RemoveAll(dir)
		l := Open(filepath.Join(dir, "log"), Limits{FileSize: int64(rapid.IntRange(1, 4000).Draw(rt, "file size")), Files: rapid.IntRange(1, 6).Draw(rt, "files")})
		defer func() { _ = l.Close() }()
		written, torn := 0, false
		check := func() {
			r, err := Verify(context.Background(), l.folder.dir)
			require.Equal(rt, err, nil, "%+v, %v, torn %v", r, err, torn)
			require.That(rt, r.Broken == nil, "%+v, %v, torn %v", r, err, torn)
			require.Equal(rt, r.Torn > 0, torn, "%+v, %v, torn %v", r, err, torn)
			promised := 0
			for line, err := range List(t.Context(), l.folder.dir, Filter{Kind: "end"}) {
				require.NoError(rt, err)
				if line.Call != "" {
					promised++
				}
			}
			require.That(rt, r.First > 1 || promised == written, "%d lines, want %d", promised, written)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				line := sample(written)
				line.Client = rapid.String().Draw(rt, "client")
				require.NoError(rt, l.Write(line, Durability(rapid.Bool().Draw(rt, "durable"))))
				written, torn = written+1, false
			},
			"reopen": func(rt *rapid.T) {
				_ = l.Close()
				l = Open(l.folder.dir, l.limits)
			},
			"other limits": func(rt *rapid.T) {
				l.limits = Limits{FileSize: int64(rapid.IntRange(1, 4000).Draw(rt, "file size")), Files: rapid.IntRange(1, 6).Draw(rt, "files")}
			},
			"crash": func(rt *rapid.T) {
				if written == 0 {
					rt.Skip("nothing is there")
				}
				torn = crash(rt, l) || torn
			},
			"": func(rt *rapid.T) { check() },
		})
		if written > 0 {
			flipOne(rt, l)
		}
	}))
}

// crash leaves the beginning of a line after the end, as long as it is none.
func crash(rt *rapid.T, l *Log) (torn bool) {
	data := rapid.SliceOfN(rapid.SampledFrom([]byte("{\"seq\":1,\x00\xff} ")), 0, 40).Draw(rt, "torn")
	file, err := os.OpenFile(l.folder.file(currentFile), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = file.Write(data)
		_ = file.Close()
	}
	require.NoError(rt, err)
	return len(data) > 0
}

// flipOne changes one byte of one file, looks whether that is found, and changes
// it back. What is torn at the very end is no part of the log yet.
func flipOne(rt *rapid.T, l *Log) {
	names, err := filepath.Glob(l.folder.file("*[ly]"))
	require.NoError(rt, err)
	require.That(rt, len(names) >= 2, "%v %v", names, err)
	names = append(names, l.folder.file(headFile))
	name := rapid.SampledFrom(names).Draw(rt, "name")
	data := require.Value(os.ReadFile(name))(rt)
	r, _ := Verify(context.Background(), l.folder.dir)
	end := len(data)
	if filepath.Base(name) == currentFile {
		end -= int(r.Torn)
	}
	if end == 0 {
		return
	}
	at := rapid.IntRange(0, end-1).Draw(rt, "at")
	changed := bytes.Clone(data)
	changed[at] = byte(rapid.IntRange(0, 255).Filter(func(b int) bool { return byte(b) != data[at] }).Draw(rt, "to"))
	require.NoError(rt, os.WriteFile(name, changed, 0o600))
	if r, err := Verify(context.Background(), l.folder.dir); err != nil || r.Broken == nil {
		rt.Fatalf("byte %d of %s was %q and is %q: %+v, %v", at, filepath.Base(name), data[at], changed[at], r, err)
	}
	require.NoError(rt, os.WriteFile(name, data, 0o600))
}

// TestEveryByteIsWatched changes every single byte of a small log.
func TestEveryByteIsWatched(t *testing.T) {
	l := newLog(t, Limits{FileSize: 1400})
	writeAll(t, l, 1, 3)
	tear(t, l)
	l = again(t, l)
	writeAll(t, l, 4, 4)
	r := verified(t, l)
	require.Equal(t, r.Gaps, 1)
	require.That(t, r.Files >= 2, "%+v", r)
	shards := 4
	if testing.Short() { // each byte has the whole log verified, which takes Wine and the race detector long
		shards = 16
	}
	mine := testenv.Shard(t, shards)
	for _, name := range []string{rotatedName(1), currentFile, headFile, keyFile} {
		data := readFile(t, l, name)
		for at := range data {
			if !mine(at) {
				continue
			}
			for _, flip := range []byte{1, data[at] ^ '\n'} {
				if flip == 0 {
					continue
				}
				data[at] ^= flip
				writeFile(t, l, name, data)
				r := verified(t, l)
				require.That(t, r.Broken != nil, "byte %d of %s: %+v", at, name, r)
				data[at] ^= flip
			}
		}
		writeFile(t, l, name, data)
	}
	r = verified(t, l)
	assert.That(t, r.Broken == nil, "%+v", r)
}

// FuzzLine takes arbitrary bytes for a line, for a head, and for what is in a
// file after a log. What is read of a line is what it says, and written again
// it is read the same; a head is read in one form only; and whatever is in a
// file, what the next write would add makes it whole, unless a line is there
// that does not follow.
func FuzzLine(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		checkLine(t, data)
		checkHead(t, data)
		checkEnd(t, data)
	})
}

// FuzzFile takes arbitrary bytes for a file, alone and after a log. The log can
// be written on, and the last lines are listed.
func FuzzFile(f *testing.F) {
	seed(f)
	f.Fuzz(checkFile)
}

func seed(f *testing.F) {
	l := newLog(f, Limits{})
	writeAll(f, l, 1, 3)
	text := readFile(f, l, currentFile)
	for line := range bytes.Lines(text) {
		f.Add(bytes.TrimSuffix(line, []byte("\n")))
	}
	f.Add(text)
	f.Add(append(bytes.Clone(text), "torn"...))
	for _, repair := range []Line{{Kind: kindGap, Repair: &Repair{Torn: 5}}, {Kind: kindBreak, Repair: &Repair{Why: headMissing, Lost: 1}}} {
		text, _, err := point{}.encode(nil, &repair)
		require.NoError(f, err)
		f.Add(text)
	}
	head := (head{fileNumber: 1, firstFile: 1, key: "0123456789abcdef"}).encode()
	f.Add(head[:])
}

// inMemory is a file that is only read.
type inMemory struct {
	ownerfiles.File
	*bytes.Reader
}

func (m inMemory) ReadAt(to []byte, at int64) (int, error) { return m.Reader.ReadAt(to, at) }

func checkEnd(t *testing.T, data []byte) {
	l := &Log{}
	tail := &tail{}
	tail.file, tail.size = inMemory{nil, bytes.NewReader(data)}, int64(len(data))
	why := require.Value(tail.acceptUnrecorded())(t)
	a, _, err := l.compose(tail, []Line{sample(1)}, false)
	require.NoError(t, err)
	all := append(bytes.Clone(data), a.text...)
	w := walker{markOffset: -1}
	require.NoError(t, w.walk(t.Context(), currentFile, bytes.NewReader(all), 0, int64(len(all))))
	require.Equal(t, w.looseOffset < 0 && w.at == a.end, (why == ""), "%q: %+v", why, w)
}

func checkLine(t *testing.T, text []byte) {
	link, ok := readLink(text)
	line, ok2 := parse(text)
	if ok2 && (!ok || line.Seq != link.seq || line.Prev != hex.EncodeToString(link.prev[:]) || line.Kind != link.kind) {
		t.Fatalf("link %+v, line %+v", link, line)
	}
	if !ok2 || line.Seq == 0 || line.Time.Year() > 9999 {
		return
	}
	_, offset := line.Time.Zone()
	if offset%60 != 0 || offset <= -24*3600 || offset >= 24*3600 {
		return
	}
	written, at, err := point{line.Seq - 1, link.prev}.encode(nil, &line)
	if err != nil {
		return // it was longer than a line can be
	}
	again, ok := parse(bytes.TrimSuffix(written, []byte("\n")))
	if !ok || again.Seq != line.Seq || again.Prev != line.Prev || again.Client != line.Client || !again.Time.Equal(line.Time) || at.seq != line.Seq {
		t.Fatalf("%+v, again %+v", line, again)
	}
	if prepared, err := line.prepare(time.Now()); err == nil {
		for _, name := range prepared.nameFields() {
			if len(*name) > maxName {
				t.Fatalf("%q", *name)
			}
		}
	}
}

func checkHead(t *testing.T, text []byte) {
	if h, ok := parseHead(text); ok {
		again := h.encode()
		require.That(t, bytes.Equal(again[:], text), "%+v", h)
	}
}

func checkFile(t *testing.T, data []byte) {
	l := newLog(t, Limits{})
	writeAll(t, l, 1, 1)
	whole := readFile(t, l, currentFile)
	for _, content := range [][]byte{data, append(bytes.Clone(whole), data...)} {
		l := newLog(t, Limits{})
		require.NoError(t, l.prepare())
		writeFile(t, l, currentFile, content)
		next := again(t, l)
		for n := range 2 {
			require.NoError(t, next.Write(sample(100+n), Buffered))
		}
		lines := listedAnyhow(t, l, Filter{})
		require.That(t, len(lines) >= 2, "%d lines", len(lines))
		require.Equal(t, lines[len(lines)-1].Call, "call-101", "%d lines", len(lines))
		require.Equal(t, lines[len(lines)-2].Call, "call-100", "%d lines", len(lines))
		r := verified(t, l)
		require.That(t, r.Broken != nil, "without a head: %+v", r)
	}
	// After a log with a head: it is whole unless a line that does not follow
	// is there.
	writeFile(t, l, currentFile, append(bytes.Clone(whole), data...))
	before := verified(t, l)
	require.NoError(t, again(t, l).Write(sample(100), Buffered))
	after := verified(t, l)
	require.Equal(t, after.Broken == nil, before.Broken == nil, "before %+v %v, after %+v %v", before, before.Broken, after, after.Broken)
	require.Equal(t, after.Torn, 0, "before %+v %v, after %+v %v", before, before.Broken, after, after.Broken)
}
