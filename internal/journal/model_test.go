package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

// model is what a journal should hold, as a list.
type model struct {
	dir      string
	handles  [2]*Journal // as two processes have them
	entries  []Entry     // the oldest first
	contents map[string]string
	limits   Limits
	later    time.Duration // than the machine's clock
}

func TestAnyUseIsAList(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	if testing.Short() {
		t.Skip("one goroutine, many files")
	}
	t.Parallel()
	rapid.Check(t, testenv.Cases(12, func(t *rapid.T) {
		dir := require.Value(os.MkdirTemp("", "journal"))(t)
		defer os.RemoveAll(dir)
		m := &model{dir: dir, contents: map[string]string{}, limits: Limits{MaxBytes: 512 << 10}}
		for i := range m.handles {
			m.handles[i] = m.open()
		}
		t.Repeat(map[string]func(*rapid.T){
			"reopen": func(t *rapid.T) { m.handles[rapid.IntRange(0, 1).Draw(t, "handle")] = m.open() },
			"begin":  func(t *rapid.T) { m.begin(t) },
			"end":    func(t *rapid.T) { m.end(t) },
			"wait":   func(t *rapid.T) { m.later += time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour },
			"put":    func(t *rapid.T) { m.put(t) },
			"prune":  func(t *rapid.T) { m.fail(t, m.draw(t).Prune()) },
			"":       func(t *rapid.T) { m.check(t) },
		})
	}))
}

func (m *model) open() *Journal {
	j := openAt(m.dir, testVault, m.limits)
	j.now = m.now
	return j
}

func (m *model) now() time.Time { return time.Now().Add(m.later) }

func (m *model) draw(t *rapid.T) *Journal { return m.handles[rapid.IntRange(0, 1).Draw(t, "handle")] }

func (m *model) fail(t *rapid.T, err error) { require.NoError(t, err) }

// text draws a text, often one that begins like the last one.
func (m *model) text(t *rapid.T) string {
	text := string(random(rapid.SampledFrom([]int{0, 10, 300, 3000, 20_000}).Draw(t, "size")))
	return text + fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "end"))
}

func (m *model) begin(t *rapid.T) {
	texts := map[string][]byte{}
	e, _ := change("", "", "")
	e.Steps = nil
	for i := range rapid.IntRange(0, 3).Draw(t, "steps") {
		path := rapid.SampledFrom([]string{"a.md", "b.md", "ü/c.md"}).Draw(t, "path")
		if _, known := texts[path]; known {
			continue
		}
		text := m.text(t)
		texts[path] = []byte(text)
		step := Step{Path: path, Before: ImageOf([]byte(text)), After: ImageOf(fmt.Append(nil, i))}
		m.contents[step.Before.Hash] = text
		e.Steps = append(e.Steps, step)
	}
	e.Count = len(e.Steps)
	e.ID = NewID(m.now())
	e.Caller = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "caller")
	err := m.draw(t).Begin(e, textsOf(texts))
	if _, full := err.(*Full); full {
		return
	}
	m.fail(t, err)
	m.entries = append(m.entries, e)
}

func (m *model) end(t *rapid.T) {
	if len(m.entries) == 0 {
		t.Skip("nothing to end")
	}
	e := &m.entries[max(0, len(m.entries)-1-rapid.IntRange(0, 5).Draw(t, "back"))]
	state := State(rapid.IntRange(0, 3).Draw(t, "state"))
	note := rapid.StringN(0, 20, 40).Draw(t, "note")
	err := m.draw(t).End(e.ID, Outcome{State: state, Note: note})
	if _, gone := err.(*Unknown); gone {
		return
	}
	require.That(t, (err == nil) == state.mayFollow(e.State), "%v after %v: %v", state, e.State, err)
	if err == nil {
		e.State = state
		if note != "" {
			e.Note = note
		}
	}
}

func (m *model) put(t *rapid.T) {
	text := []byte(m.text(t))
	err := m.draw(t).Put("a", "a.md", ImageOf(text), bytes.NewReader(text))
	if _, full := err.(*Full); !full {
		m.fail(t, err)
	}
}

// check compares: what is there is the newest part of the list.
func (m *model) check(t *rapid.T) {
	for _, j := range append(m.handles[:], m.open()) {
		list, damage, err := j.Entries(t.Context(), Filter{})
		m.fail(t, err)
		require.That(t, len(damage) == 0, "damage %+v", damage)
		require.That(t, len(list) >= min(2, len(m.entries)), "%d entries of %d", len(list), len(m.entries))
		require.That(t, len(list) <= len(m.entries), "%d entries of %d", len(list), len(m.entries))
		slices.Reverse(list)
		for i, want := range m.entries[len(m.entries)-len(list):] {
			require.Equal(t, fmt.Sprint(list[i]), fmt.Sprint(want), "%+v, want %+v", list[i], want)
			for _, s := range want.Steps {
				text, err := j.object(t.Context(), s.Before.Hash)
				require.Equal(t, err, nil, "%d bytes, %v", len(text), err)
				require.Equal(t, string(text), m.contents[s.Before.Hash], "%d bytes, %v", len(text), err)
			}
		}
	}
}

// FuzzRecord takes arbitrary bytes for a record, and for a segment of several.
// What is read of it is what a record can hold, an index sees the same objects
// as a full look, and whatever it was, something can be written after it.
func FuzzRecord(f *testing.F) {
	j := openAt(f.TempDir()+"/j", testVault, Limits{})
	e, content := change("a.md", "text", "other")
	require.NoError(f, j.Begin(e, content))
	e, content = change("a.md", string(bytes.Repeat([]byte("text "), 100)), "other")
	require.NoError(f, j.Begin(e, content))
	e, content = change("a.md", string(bytes.Repeat([]byte("text "), 101)), "other")
	require.NoError(f, j.Begin(e, content))
	require.NoError(f, j.End(e.ID, Outcome{State: Done, Note: "note"}))
	data := require.Value(os.ReadFile(j.folder.file(segmentName(1))))(f)
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

// The record of a file has no data, and any other one has some, if only none of a text.
func TestARecordHasDataOrAFile(t *testing.T) {
	whole := object{Hash: ImageOf(nil).Hash, Note: noteID("a.md")}
	for _, o := range []object{whole, {File: true, Data: []byte("x")}} {
		o.Hash, o.Note = whole.Hash, whole.Note
		_, ok := parseObject(require.Value(json.Marshal(o))(t))
		require.That(t, !ok, "%+v is read", o)
	}
	whole.setData([]byte{})
	_, ok := parseObject(require.Value(json.Marshal(whole))(t))
	require.That(t, ok, "an empty text is not read")
}

func checkRecord(t *testing.T, record []byte) {
	if hasKey(record, objectKey) {
		o, ok := parseObject(record)
		hash, note, spot, found := objectHead(record)
		if again, err := json.Marshal(o); ok && err == nil && bytes.Equal(again, record) {
			if !found || hash != o.Hash || note != o.Note || spot.depth != o.Depth || spot.size != o.Size || spot.file != o.File {
				t.Fatalf("the index has %s, %s, %+v, the record is %+v", hash, note, spot, o)
			}
		}
		if ok && !o.File {
			text, ok := o.Over(make([]byte, o.Prefix+o.Suffix))
			require.That(t, !ok || int64(len(text)) == o.Size, "%d bytes of %+v", len(text), o)
		}
	}
	r := newSegmentReader(1)
	r.keepsRecords = true
	r.record(record)
	for _, e := range r.readEntries {
		require.That(t, e.check() == nil, "%+v", e)
		require.Equal(t, len(e.Steps), e.Count)
	}
	for _, o := range r.readEnds {
		require.That(t, o.state != Begun, "%+v", o)
		require.Equal(t, len(o.after), o.Count)
	}
}

func checkSegment(t *testing.T, segment []byte) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	j := openAt(dir, testVault, Limits{})
	require.NoError(t, j.prepare())
	require.NoError(t, os.WriteFile(j.folder.file(segmentName(1)), segment, 0o600))
	list, _, err := j.Entries(t.Context(), Filter{})
	require.NoError(t, err)
	for _, e := range list {
		for _, s := range e.Steps {
			text, err := j.object(t.Context(), s.Before.Hash)
			require.That(t, err != nil || ImageOf(text).Hash == s.Before.Hash, "wrong bytes")
		}
	}
	e, content := change("a.md", string(bytes.Repeat([]byte("text "), 102)), "")
	e.ID = NewID(time.Now())
	require.NoError(t, j.Begin(e, content))
	for _, j := range []*Journal{j, again(j)} {
		got, err := j.Entry(t.Context(), e.ID)
		require.NoError(t, err)
		require.Equal(t, len(got.Steps), 1)
		require.Value(j.object(t.Context(), e.Steps[0].Before.Hash))(t)
	}
}
