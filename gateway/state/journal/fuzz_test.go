package journal

import (
	"bytes"
	"os"
	"testing"
	"time"

	"vaultwicket/tests/require"
)

// FuzzRecord takes arbitrary bytes for a record, and for a segment of several.
// What is read of it is what a record can hold, an index sees the same objects
// as a full look, and whatever it was, something can be written after it.
func FuzzRecord(f *testing.F) {
	dir := f.TempDir()
	j := openAt(dir+"/j", testVault, Limits{})
	e, content := change("a.md", "text", "other")
	require.NoError(f, j.Begin(e, content))
	e, content = change("a.md", string(bytes.Repeat([]byte("text "), 100)), "other")
	require.NoError(f, j.Begin(e, content))
	e, content = change("a.md", string(bytes.Repeat([]byte("text "), 101)), "other")
	require.NoError(f, j.Begin(e, content))
	require.NoError(f, j.End(e.ID, Done, nil, "note"))
	data, err := os.ReadFile(j.folder.file(segmentName(1)))
	require.NoError(f, err)
	f.Add(data)
	for line := range bytes.Lines(data) {
		f.Add(line[lineHead : len(line)-1])
	}
	f.Add(listRecord(stepsKey, e.ID, 0, []byte(`[{"path":"a.md"}]`)))
	f.Add(listRecord(afterKey, e.ID, 0, []byte(`[null]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRecord(t, data)
		// As they are, and with a checksum that is right, or nothing but that
		// would be tried.
		segment := bytes.Clone(data)
		for line := range bytes.Lines(data) {
			segment = appendLine(segment, bytes.TrimSuffix(line, []byte("\n")))
		}
		checkSegment(t, segment)
	})
}

func checkRecord(t *testing.T, record []byte) {
	if hasKey(record, objectKey) {
		o, ok := parseObject(record)
		hash, note, spot, found := objectHead(record)
		if again, err := o.Encode(); ok && err == nil && bytes.Equal(again, record) {
			if !found || hash != o.Hash || note != o.Note || spot.depth != o.Depth || spot.size != o.Size || spot.file != o.File {
				t.Fatalf("the index has %s, %s, %+v, the record is %+v", hash, note, spot, o)
			}
		}
		if ok && !o.File {
			if text, ok := o.Over(make([]byte, o.Prefix+o.Suffix)); ok && int64(len(text)) != o.Size {
				t.Fatalf("%d bytes of %+v", len(text), o)
			}
		}
	}
	if e, ok := parseEntry(record); ok && e.check() != nil {
		t.Fatalf("%+v", e)
	}
	if o, ok := parseOutcome(record); ok && (o.state == Begun || len(o.after) > o.Count) {
		t.Fatalf("%+v", o)
	}
}

func checkSegment(t *testing.T, segment []byte) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	j := openAt(dir, testVault, Limits{})
	require.NoError(t, j.prepare())
	require.NoError(t, os.WriteFile(j.folder.file(segmentName(1)), segment, 0o600))
	list, _, err := j.Entries(Filter{})
	require.NoError(t, err)
	for _, e := range list {
		for _, s := range e.Steps {
			text, err := j.Object(s.Before.Hash)
			require.That(t, err != nil || ImageOf(text).Hash == s.Before.Hash, "wrong bytes")
		}
	}
	e, content := change("a.md", string(bytes.Repeat([]byte("text "), 102)), "")
	e.ID = NewID(time.Now())
	require.NoError(t, j.Begin(e, content))
	for _, j := range []*Journal{j, again(j)} {
		if got, err := j.Entry(e.ID); err != nil || len(got.Steps) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, err := j.Object(e.Steps[0].Before.Hash); err != nil {
			t.Fatal(err)
		}
	}
}
