package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// followed returns the numbers of the lines that a look finds, and where they are.
func followed(t *testing.T, f *Follower) (seqs []uint64, places []Place) {
	t.Helper()
	err := f.Take(0, func(place Place, line Line, _ []byte) {
		seqs, places = append(seqs, line.Seq), append(places, place)
	})
	require.NoError(t, err)
	return seqs, places
}

func TestAFollowerReadsEachLineOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	f := Follow(dir, 1<<20)
	seqs, _ := followed(t, f)
	require.That(t, seqs == nil, "lines of no log: %d", seqs)
	log := Open(dir, Limits{FileSize: 2000, Files: 100})
	defer log.Close()
	var all []uint64
	places := map[uint64]Place{}
	for i := range 60 {
		for range i % 4 { // a file has some eight lines
			require.NoError(t, log.Write(Line{Kind: "end", Command: fmt.Sprint("c", i)}, Buffered))
		}
		seqs, at := followed(t, f)
		for j, seq := range seqs {
			places[seq] = at[j]
		}
		all = append(all, seqs...)
	}
	require.Equal(t, len(all), 90, "%d lines: %d", len(all), all)
	require.That(t, slices.IsSorted(all), "%d lines: %d", len(all), all)
	require.Equal(t, all[0], 1, "%d lines: %d", len(all), all)
	require.Equal(t, all[89], 90, "%d lines: %d", len(all), all)
	for seq, place := range places {
		line, ok := f.At(place)
		require.That(t, ok, "line %d is at %+v: %d, %v", seq, place, line.Seq, ok)
		assert.Equal(t, line.Seq, seq, "line %d is at %+v", seq, place)
	}
	for _, move := range [][2]string{{dir, dir + ".away"}, {dir + ".away", dir}} { // as if a disk was not mounted
		require.NoError(t, os.Rename(move[0], move[1]))
		seqs, _ := followed(t, f)
		assert.That(t, seqs == nil, "after %q is %q: %d", move[0], move[1], seqs)
	}
}

func TestTheFirstLookIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log := Open(dir, Limits{FileSize: 2000, Files: 100})
	defer log.Close()
	for range 50 {
		require.NoError(t, log.Write(Line{Kind: "end"}, Buffered))
	}
	for _, limit := range []int64{1, 150, 1000, 2500, 5000} {
		seqs, places := followed(t, Follow(dir, limit))
		size := int64(0)
		for _, place := range places {
			size += int64(place.Length)
		}
		require.That(t, size <= limit, "limit %d: %d bytes, lines %d", limit, size, seqs)
		require.That(t, len(seqs) == 0 || seqs[len(seqs)-1] == 50, "limit %d: %d bytes, lines %d", limit, size, seqs)
		assert.That(t, limit-size <= 400, "limit %d: %d bytes, lines %d", limit, size, seqs)
	}
}

func TestAHalfWrittenLineIsReadWhenItIsWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log := Open(dir, Limits{})
	defer log.Close()
	for range 3 {
		require.NoError(t, log.Write(Line{Kind: "end"}, Buffered))
	}
	name := filepath.Join(dir, currentFile)
	text := require.Value(os.ReadFile(name))(t)
	require.NoError(t, os.WriteFile(name, text[:len(text)-10], 0o600))
	f := Follow(dir, 1<<20)
	seqs, _ := followed(t, f)
	assert.EqualSlices(t, seqs, []uint64{1, 2}, "of a log with half a line")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	seqs, _ = followed(t, f)
	assert.EqualSlices(t, seqs, []uint64{3}, "then")
}

func TestALockThatIsHeldIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t, Limits{})
		writeAll(t, l, 1, 1)
		unlock := require.Value(again(t, l).lock())(t)
		var busy *Busy
		err := l.Write(sample(2), Buffered)
		assert.That(t, errors.As(err, &busy), "write: %v", err)
		_, err = Verify(t.Context(), l.folder.dir)
		assert.That(t, errors.As(err, &busy), "verify: %v", err)
		for _, err := range List(t.Context(), l.folder.dir, Filter{}) {
			assert.That(t, errors.As(err, &busy), "list: %v", err)
		}
		unlock()
		writeAll(t, l, 2, 2)
		wantWhole(t, l, 2)
	})
}

func TestAFolderThatGoesAwayIsMadeAnew(t *testing.T) {
	l := newLog(t, Limits{})
	digest := l.Digest("text")
	require.NoError(t, os.RemoveAll(l.folder.dir))
	writeAll(t, l, 1, 1)
	wantWhole(t, l, 1)
	assert.Equal(t, l.Digest("text"), digest, "another key")
	assert.Equal(t, again(t, l).Digest("text"), digest, "another key")
}

// What is before the first look of a follower is read backward, each line once, over the ends of files.
func TestOlderLinesAreReadBackward(t *testing.T) {
	l := countedLines(t, 30_000) // in several files
	f := Follow(l.folder.dir, 64<<10)
	var newest, older []string
	require.NoError(t, f.Take(0, func(_ Place, line Line, _ []byte) { newest = append(newest, line.Call) }))
	o := f.Older()
	for more := true; more; {
		var part []string
		var err error
		more, err = o.Take(t.Context(), 1<<20, func(at Place, line Line) {
			part = append(part, line.Call)
			if found, ok := f.At(at); !ok || found.Call != line.Call {
				t.Fatalf("at %+v is %+v, not %q", at, found, line.Call)
			}
		})
		require.NoError(t, err)
		older = append(part, older...)
	}
	assert.That(t, len(newest) > 0, "%d lines at the first look", len(newest))
	assert.That(t, len(newest) < 1000, "%d lines at the first look", len(newest))
	all := callsOf(t, l.folder.dir, Filter{})
	got := append(older, newest...)
	assert.That(t, slices.Equal(got, all), "%d older and %d newer lines of %d", len(older), len(newest), len(all))
}
