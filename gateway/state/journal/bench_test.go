package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/long"
	"vaultwicket/tests/require"
)

// BenchmarkBare is what is to be compared with: writing the bytes of a note and
// syncing them, twice.
func BenchmarkBare(b *testing.B) {
	for _, size := range []int{2_000, 50_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			file := require.Value(os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(b)
			defer file.Close()
			text := bytes.Repeat([]byte("x"), size)
			for b.Loop() {
				for range 2 {
					_, err := file.Write(text)
					require.NoError(b, err)
					require.NoError(b, file.Sync())
				}
			}
		})
	}
}

// BenchmarkBeginEnd appends a line to a note, time after time, in one process
// or as if each time in a new one.
func BenchmarkBeginEnd(b *testing.B) {
	for _, size := range []int{2_000, 50_000, 200_000} {
		for _, cold := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d cold %v", size, cold), func(b *testing.B) {
				j := newJournal(b, Limits{})
				base := prose(size)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if cold {
						j = again(j)
					}
					e, content := change("a.md", fmt.Sprintf("%sline %d\n", base, i), "")
					require.NoError(b, j.Begin(e, content))
					require.NoError(b, j.End(e.ID, Done, nil, ""))
				}
			})
		}
	}
}

// BenchmarkLargeAppend appends 64 KiB to a note of 16 MiB, time after time, with
// what the change has made stored next to the entry.
func BenchmarkLargeAppend(b *testing.B) {
	j := newJournal(b, Limits{MaxBytes: 1 << 40})
	text, more := random(16<<20), random(64<<10)
	for i := 0; b.Loop(); i++ {
		next := append(text[:len(text):len(text)], fmt.Appendf(more, "%d", i)...)
		e, content := change("a.md", string(text), string(next))
		require.NoError(b, j.Begin(e, content))
		require.NoError(b, j.Put("", "a.md", ImageOf(next), bytes.NewReader(next)))
		require.NoError(b, j.End(e.ID, Done, nil, ""))
		text = next
	}
	b.ReportMetric(float64(diskUse(b, j.folder.dir))/float64(b.N), "disk-B/op")
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
	total, count := int64(0), long.Count(1_000, 10_000)
	for i := range count {
		before := text[:20*(i+1)]
		total += int64(len(before))
		e, content := change("daily/2026-11-21.md", before, text[:min(len(text), 20*(i+2))])
		require.NoError(t, j.Begin(e, content))
		require.NoError(t, j.End(e.ID, Done, nil, ""))
	}
	use := diskUse(t, j.folder.dir)
	t.Logf("%d bytes of notes take %d on the disk", total, use)
	assert.That(t, use <= 100<<20*int64(count)/10_000, "%d bytes on the disk", use)
	list, damage, err := j.Entries(Filter{Limit: 20_000})
	require.NoError(t, err)
	assert.That(t, len(list) == count && len(damage) == 0, "%d entries, %v", len(list), damage)
	for i := 0; i < len(list); i += 97 {
		got, err := j.Object(list[i].Steps[0].Before.Hash)
		require.That(t, err == nil && string(got) == text[:20*(count-i)], "%d: %d bytes, %v", i, len(got), err)
	}
}
