package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

// A note is wiped and then made long, a megabyte at a time: what it was before can
// still be had, and so can each version in between.
func TestAppendsOfAMegabytePushNothingOut(t *testing.T) {
	j := newJournal(t, Limits{})
	wiped := begun(t, j, "a.md", prose(20_000), "x")
	require.NoError(t, j.End(wiped.ID, Outcome{State: Done}))
	text, whole, count := []byte("x"), random(16<<20), testenv.Count(8, 16)
	var ids []Entry
	for i := range count {
		next := append(bytes.Clone(text), whole[i<<20:(i+1)<<20]...)
		e := begun(t, j, "a.md", string(text), string(next))
		require.NoError(t, j.Put("", "a.md", ImageOf(next), bytes.NewReader(next)))
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		ids, text = append(ids, e), next
	}
	reader := require.Value(again(j).view())(t)
	defer reader.close() // Windows removes no file that is open
	for _, e := range []Entry{wiped, ids[1], ids[5], ids[count-4], ids[count-1]} {
		before := e.Steps[0].Before
		got, err := reader.object(t.Context(), before.Hash)
		require.NoError(t, err)
		assert.Equal(t, int64(len(got)), before.Size)
	}
	use := diskUse(t, j.folder.dir)
	assert.That(t, use <= int64(count)<<20*7/4, "%d appends of 1 MB take %d bytes on the disk", count, use)
}

// clocked is a journal whose clock is later than that of the files by what is
// returned.
func clocked(t *testing.T, limits Limits) (j *Journal, later *time.Duration) {
	j, later = newJournal(t, limits), new(time.Duration)
	j.now = func() time.Time { return time.Now().Add(*later) }
	return j, later
}

// filler is an entry of a caller that takes about size bytes.
func filler(j *Journal, caller string, size, seed int) (Entry, Content) {
	e, content := change(fmt.Sprintf("%s-%d.md", caller, seed), fmt.Sprint(seed)+string(random(size+seed)), "")
	e.ID, e.Caller = NewID(j.now()), caller
	return e, content
}

// fill writes as a caller until that is refused, and returns what was kept.
func fill(t *testing.T, j *Journal, caller string, size int) (kept []Entry, refusal error) {
	t.Helper()
	for i := range 10_000 {
		e, content := filler(j, caller, size, i)
		if err := j.Begin(e, content); err != nil {
			return kept, err
		}
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		kept = append(kept, e)
	}
	t.Fatal("nothing was refused")
	return nil, nil
}

func TestWhatIsYoungIsNeverDropped(t *testing.T) {
	j, later := clocked(t, Limits{MaxBytes: 1 << 20})
	var kept []Entry
	var full *Full
	for _, caller := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		entries, err := fill(t, again(j), caller, 9000)
		require.That(t, errors.As(err, &full), "%v", err)
		kept = append(kept, entries...)
	}
	use := diskUse(t, j.folder.dir)
	assert.That(t, use <= 1<<20+4000, "%d bytes on the disk", use)
	assert.That(t, use >= 900<<10, "%d bytes on the disk", use)
	*later = protected - time.Hour
	e, content := filler(j, "z", 9000, 0)
	err := j.Begin(e, content)
	require.That(t, errors.As(err, &full), "a change that needs the room of young ones: %v", err)
	require.NoError(t, again(j).Prune())
	list := entries(t, again(j))
	require.That(t, len(list) == len(kept), "%d entries of %d are left", len(list), len(kept))
	for _, e := range kept {
		_, err := again(j).object(t.Context(), e.Steps[0].Before.Hash)
		assert.NoError(t, err)
	}
	// What was begun can end all the same, and a day later there is room.
	require.NoError(t, again(j).MarkUndone(kept[0].ID, kept[1].ID))
	*later = protected + time.Hour
	e, content = filler(j, "z", 9000, 0)
	require.NoError(t, j.Begin(e, content))
	list = entries(t, again(j))
	require.That(t, len(list) < len(kept), "%d entries", len(list))
	assert.Equal(t, list[0].ID, e.ID, "%d entries", len(list))
}

func TestACallerHasAShare(t *testing.T) {
	const limit = 1 << 20
	j, later := clocked(t, Limits{MaxBytes: limit})
	kept, err := fill(t, j, "a", 5000)
	var full *Full
	require.That(t, errors.As(err, &full), "%v", err)
	use := diskUse(t, j.folder.dir) // without the indexes, which are no caller's
	for _, seg := range require.Value(j.folder.list())(t).segments {
		use -= seg.objects
	}
	assert.That(t, use <= limit/2+4000, "%d entries take %d bytes, want a half of %d", len(kept), use, limit)
	assert.That(t, use >= limit/2*9/10, "%d entries take %d bytes, want a half of %d", len(kept), use, limit)
	refused := func(j *Journal, caller string, want bool) {
		t.Helper()
		e, content := filler(j, caller, 5000, 20_000)
		assert.Equal(t, errors.As(j.Begin(e, content), &full), want, "%q", caller)
	}
	refused(again(j), "a", true) // another process knows it too
	refused(j, "b", false)
	*later = protected - 2*time.Hour
	refused(j, "a", true)
	*later = protected + 2*time.Hour
	refused(j, "a", false)
	refused(again(j), "a", false)
}

// What is put next to an entry counts for the one that made the entry.
func TestWhatIsPutCounts(t *testing.T) {
	j := newJournal(t, Limits{MaxBytes: 1 << 20})
	var full *Full
	for i := range 100 {
		e, content := filler(j, "a", 100, i)
		err := j.Begin(e, content)
		if errors.As(err, &full) {
			assert.That(t, i >= 20, "refused after %d", i)
			assert.That(t, i <= 52, "refused after %d", i)
			return
		}
		require.NoError(t, err)
		text := random(10_000 + i)
		err = j.Put("a", "b.md", ImageOf(text), bytes.NewReader(text))
		require.That(t, err == nil || errors.As(err, &full), "%v", err)
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
		j = again(j)
	}
	t.Error("nothing was refused")
}

// A journal of before callers were known is read, and gone on with.
func TestAnOlderJournalIsRead(t *testing.T) {
	j := newJournal(t, Limits{})
	require.NoError(t, j.prepare())
	id := "20261121T093105.123456789Z-7f3a"
	var segment []byte
	for _, record := range []string{
		`{"segment":1,"version":1,"time":"2026-11-21T09:31:05Z"}`,
		`{"object":"` + ImageOf([]byte("text")).Hash + `","note":"` + noteID("a.md") + `","depth":0,"size":4,"raw":true,"middle":4,"data":"dGV4dA=="}`,
		`{"entry":"` + id +
			`","count":1,"time":"2026-11-21T09:31:05Z","session":"s","command":"append","undoes":"20261121T093104.123456789Z-7f3a","list":[{"path":"a.md","before":{"hash":"` +
			ImageOf([]byte("text")).Hash + `","size":4}}]}`,
		`{"outcome":"` + id + `","state":"done","home":1,"count":0}`,
	} {
		segment = appendLine(segment, []byte(record))
	}
	require.NoError(t, os.WriteFile(j.folder.file(segmentName(1)), segment, 0o600))
	e, err := j.Entry(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, e.State, Done)
	assert.Equal(t, e.Session, "s")
	assert.Equal(t, e.Caller, "")
	assert.Equal(t, e.Batch, "")
	assert.Equal(t, len(e.TakesBack()), 1)
	next, content := change("a.md", "text", "")
	next.Caller, next.Batch, next.Undoes, next.Also = "terminal", "b", id, []string{id}
	require.NoError(t, j.Begin(next, content))
	list := entries(t, again(j))
	require.Equal(t, len(list), 2)
	assert.Equal(t, fmt.Sprint(list[0]), fmt.Sprint(next))
	list, _, err = j.Entries(t.Context(), Filter{Caller: "terminal", Batch: "b"})
	require.Equal(t, err, nil, "%d entries, %v", len(list), err)
	assert.Equal(t, len(list), 1, "%d entries, %v", len(list), err)
}

// A difference that does not fit a line has a file, and one that is damaged is
// told and kept again.
func TestADifferenceInAFile(t *testing.T) {
	j := newJournal(t, Limits{})
	base := random(2 << 20)
	text := append(append(bytes.Clone(base[:1<<20]), random(600_000)...), base[1<<20:]...)
	for _, version := range [][]byte{base, text} {
		begun(t, j, "a.md", string(version), "")
	}
	use := diskUse(t, j.folder.dir)
	assert.That(t, use <= 2<<20+700_000, "%d bytes on the disk", use)
	image := ImageOf(text)
	got, err := again(j).object(t.Context(), image.Hash)
	require.Equal(t, err, nil, "%d bytes, %v", len(got), err)
	require.That(t, bytes.Equal(got, text), "%d bytes, %v", len(got), err)
	require.NoError(t, os.Truncate(j.folder.file(objectName(1, image.Hash)), 100_000))
	var damaged *Damaged
	_, err = again(j).object(t.Context(), image.Hash)
	assert.That(t, errors.As(err, &damaged), "%v", err)
	begun(t, again(j), "a.md", string(text), "")
	got, err = again(j).object(t.Context(), image.Hash)
	require.Equal(t, err, nil, "%d bytes, %v", len(got), err)
	assert.That(t, bytes.Equal(got, text), "%d bytes, %v", len(got), err)
}

func TestATextIsItsDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(nil)
		parts := text
		for range rapid.IntRange(0, 6).Draw(t, "versions") {
			next := bytes.Clone(text)
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := rapid.IntRange(from, len(text)).Draw(t, "to")
			middle := []byte(rapid.StringOf(rapid.SampledFrom([]rune("ab"))).Draw(t, "middle"))
			next = append(append(next[:from:from], middle...), text[to:]...)
			prefix, suffix := common(text, next)
			o := object{Prefix: prefix, Suffix: suffix, Raw: true}
			o.Data = next[prefix : len(next)-suffix]
			o.Middle = len(o.Data)
			var ok bool
			parts, ok = o.Over(parts)
			require.That(t, ok, "%q became %q, want %q", text, parts, next)
			require.That(t, bytes.Equal(parts, next), "%q became %q, want %q", text, parts, next)
			text = next
		}
		_, ok := (object{Prefix: len(text) + 1, Raw: true}).Over(parts)
		require.That(t, !ok, "more than there is")
	})
}

// prose is a text that is compressed about as well as notes are.
func prose(size int) string {
	words := strings.Fields("the note of a meeting with people who had questions about plans and tasks for the next week")
	noise := random(size)
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "%s %x ", words[int(noise[i])%len(words)], noise[i+1:i+3])
		if i%12 == 11 {
			text.WriteByte('\n')
		}
	}
	return text.String()[:size]
}

func TestTenThousandAppendsTakeLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	t.Parallel()
	j := newJournal(t, Limits{})
	text := prose(200_000)
	total, count := int64(0), testenv.Count(1_000, 10_000)
	for i := range count {
		before := text[:20*(i+1)]
		total += int64(len(before))
		e := begun(t, j, "daily/2026-11-21.md", before, text[:min(len(text), 20*(i+2))])
		require.NoError(t, j.End(e.ID, Outcome{State: Done}))
	}
	use := diskUse(t, j.folder.dir)
	t.Logf("%d bytes of notes take %d on the disk", total, use)
	assert.That(t, use <= 100<<20*int64(count)/10_000, "%d bytes on the disk", use)
	list, damage, err := j.Entries(t.Context(), Filter{Limit: 20_000})
	require.NoError(t, err)
	assert.Equal(t, len(list), count, "%d entries, %v", len(list), damage)
	assert.Equal(t, len(damage), 0, "%d entries, %v", len(list), damage)
	for i := 0; i < len(list); i += 97 {
		got, err := j.object(t.Context(), list[i].Steps[0].Before.Hash)
		require.Equal(t, err, nil, "%d: %d bytes, %v", i, len(got), err)
		require.Equal(t, string(got), text[:20*(count-i)], "%d: %d bytes, %v", i, len(got), err)
	}
}

// TestAnAgentHasOneShareAndANewcomerAlwaysOne: the sessions of an agent are one, over a day nobody has more than a half of
// what others leave, and what counts is known after many segments and in another process.
func TestAnAgentHasOneShareAndANewcomerAlwaysOne(t *testing.T) {
	const limit = 1 << 20
	j, later := clocked(t, Limits{MaxBytes: limit})
	sizeOf := func(list []Entry) (total int64) {
		for _, e := range list {
			total += e.Steps[0].Before.Size
		}
		return total
	}
	var agents []int64
	for _, agent := range []string{"first", "second", "third"} {
		total := int64(0)
		for range 3 { // hours
			*later += 75 * time.Minute
			for session := range 5 {
				kept, err := fill(t, again(j), fmt.Sprintf("%s/session-%d", agent, session), 3000)
				var full *Full
				require.That(t, errors.As(err, &full), "%v", err)
				total += sizeOf(kept)
			}
		}
		agents = append(agents, total)
		*later -= 3 * 75 * time.Minute
	}
	for i, want := range []int64{limit / 2, limit / 4, limit / 8} {
		require.That(t, agents[i] <= want, "agent %d has %d bytes of texts, of which %d can be written", i, agents[i], want)
		assert.That(t, agents[i] >= want/2, "agent %d has %d bytes of texts, of which %d can be written", i, agents[i], want)
	}
	e, content := filler(j, "newcomer/session-1", 3000, 0)
	require.NoError(t, j.Begin(e, content))
}
