package audit

import (
	"bytes"
	"testing"
	"time"

	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/require"
)

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
	head := newHead("0123456789abcdef").encode()
	f.Add(head[:])
}

// inMemory is a file that is only read.
type inMemory struct {
	private.File
	*bytes.Reader
}

func (m inMemory) ReadAt(to []byte, at int64) (int, error) { return m.Reader.ReadAt(to, at) }

func checkEnd(t *testing.T, data []byte) {
	l := &Log{}
	tail := &tail{}
	tail.file, tail.size = inMemory{nil, bytes.NewReader(data)}, int64(len(data))
	why, err := tail.adopt()
	require.NoError(t, err)
	a, _, err := l.compose(tail, []Line{sample(1)}, false)
	require.NoError(t, err)
	all := append(bytes.Clone(data), a.text...)
	w := walker{mark: -1}
	require.NoError(t, w.walk(currentFile, bytes.NewReader(all), 0, int64(len(all))))
	require.Equal(t, w.loose < 0 && w.at == a.end, (why == ""), "%q: %+v", why, w)
}

func checkLine(t *testing.T, text []byte) {
	link, ok := readLink(text)
	line, ok2 := parse(text)
	if ok2 && (!ok || line.Seq != link.seq || line.Prev != (point{hash: link.prev}).prev() || line.Kind != link.kind) {
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
	if prepared, err := line.prepared(time.Now()); err == nil {
		for _, name := range prepared.names() {
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
			require.NoError(t, next.Write(sample(100+n), false))
		}
		lines := listedAnyhow(t, l, Filter{})
		require.That(t, len(lines) >= 2 && lines[len(lines)-1].Call == "call-101" && lines[len(lines)-2].Call == "call-100", "%d lines", len(lines))
		r := verified(t, l)
		require.That(t, r.Broken != nil, "without a head: %+v", r)
	}
	// After a log with a head: it is whole unless a line that does not follow
	// is there.
	writeFile(t, l, currentFile, append(bytes.Clone(whole), data...))
	before := verified(t, l)
	next := again(t, l)
	require.NoError(t, next.Write(sample(100), false))
	after := verified(t, l)
	require.That(t, (after.Broken == nil) == (before.Broken == nil) && after.Torn == 0, "before %+v %v, after %+v %v", before, before.Broken, after, after.Broken)
}
