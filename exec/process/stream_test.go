package process

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestStreamKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(16, 80).Draw(t, "keep")
		s := &Stream{keep: keep, limit: FloodLimit}
		var all strings.Builder
		for _, piece := range rapid.SliceOf(rapid.StringN(0, 30, 60)).Draw(t, "pieces") {
			all.WriteString(piece)
			n, err := s.Write([]byte(piece))
			require.NoError(t, err)
			require.Equal(t, n, len(piece))
		}
		given := all.String()
		got, gap := s.Text()
		if s.Kept() > keep || s.Total != int64(len(given)) {
			t.Fatalf("contains %d bytes of %d, counted %d", s.Kept(), keep, s.Total)
		}
		require.That(t, s.Cut() == (len(given) > keep), "cut %v of %d bytes, of which %d may be kept", s.Cut(), len(given), keep)
		if !s.Cut() {
			require.Equal(t, got, given, "%q, gap at %d", got, gap)
			require.Equal(t, gap, 0, "%q, gap at %d", got, gap)
			return
		}
		// On both sides of the gap half a character may be left out.
		const half = utf8.UTFMax - 1
		most := keep - keep/8
		require.That(t, gap <= most, "%d bytes, gap at %d, of %d that may be kept", len(got), gap, keep)
		require.That(t, gap >= most-half, "%d bytes, gap at %d, of %d that may be kept", len(got), gap, keep)
		require.That(t, len(got) <= keep, "%d bytes, gap at %d, of %d that may be kept", len(got), gap, keep)
		require.That(t, len(got) >= keep-2*half, "%d bytes, gap at %d, of %d that may be kept", len(got), gap, keep)
		require.That(t, strings.HasPrefix(given, got[:gap]), "%q, gap at %d, of %q", got, gap, given)
		require.That(t, strings.HasSuffix(given, got[gap:]), "%q, gap at %d, of %q", got, gap, given)
	})
}

func TestAStreamIsCutBetweenCharacters(t *testing.T) {
	for shift := range 4 {
		given := strings.Repeat("x", shift) + strings.Repeat("\U0001f30a", 30_000)
		for _, piece := range []int{8 << 10, 32<<10 + 1, len(given)} {
			s := &Stream{keep: 64 << 10, limit: FloodLimit}
			for rest := []byte(given); len(rest) > 0; {
				n := min(piece, len(rest))
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			if got, gap := s.Text(); !utf8.ValidString(got) || !utf8.ValidString(got[:gap]) || len(got) < 64<<10-6 {
				t.Errorf("shift %d, pieces of %d: %d bytes, gap at %d", shift, piece, len(got), gap)
			}
		}
	}
}

func TestStreamTellsOfAFloodOnce(t *testing.T) {
	told := 0
	s := &Stream{keep: 8, limit: 100, Flood: func() { told++ }}
	n, err := io.Copy(s, io.LimitReader(ones{}, 1000))
	assert.Equal(t, n, 1000, "%d bytes, %v, told %d times", n, err, told)
	assert.NoError(t, err, "%d bytes, %v, told %d times", n, err, told)
	assert.Equal(t, told, 1, "%d bytes, %v, told %d times", n, err, told)
}

type ones struct{}

func (ones) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	return len(p), nil
}

// Without room a program is read to its end, and what it printed is dropped.
func TestAStreamWithoutRoom(t *testing.T) {
	asked := 0
	s := NewStream(1<<20, nil, func(int64) int64 { asked++; return 0 })
	piece := make([]byte, smallAnswer/2)
	for range 10 {
		n, err := s.Write(piece)
		require.Equal(t, n, len(piece))
		require.NoError(t, err)
	}
	text, gap := s.Text()
	if len(text) != smallAnswer || gap != smallAnswer || !s.Cut() || asked != 1 || s.Total != 5*smallAnswer {
		t.Errorf("%d bytes, gap at %d, asked %d times, total %d", len(text), gap, asked, s.Total)
	}
}

// Answers that are kept hold as much of the heap as they are long: the collector goes by
// that, whether the space was ever written to or not.
func TestKeptAnswersTakeTheirOwnSizeOfTheHeap(t *testing.T) {
	const size, count = 3 << 19, 8
	piece := bytes.Repeat([]byte("row\n"), 8<<10)
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, kept := inUse(), make([]string, count)
	for i := range kept {
		s := NewStream(16<<20, nil, nil)
		for written := 0; written < size; written += len(piece) {
			_, _ = s.Write(piece)
		}
		kept[i], _ = s.Text()
	}
	took := int64(inUse() - before)
	assert.That(t, took <= 2*size*count, "%d answers of %d bytes take %d", count, size, took)
	for _, text := range kept {
		if len(text) != size || text[size-4:] != "row\n" {
			t.Fatalf("%d bytes that end with %q", len(text), text[len(text)-4:])
		}
	}
}

func TestAnExpectedAnswerTakesItsSpaceOnce(t *testing.T) {
	const size = 3 << 19
	piece := bytes.Repeat([]byte("row\n"), 8<<10)
	took := func(expected int64) uint64 {
		s := NewStream(16<<20, nil, nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for written := 0; written < size; written += len(piece) {
			if _, _ = s.Write(piece); written == 0 {
				s.Expect(expected)
			}
		}
		text, _ := s.Text()
		runtime.ReadMemStats(&after)
		require.Equal(t, len(text), size)
		require.Equal(t, strings.Trim(text, "row\n"), "")
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, about := range []int64{size, size - size/20, size + size/10} {
		n := took(about)
		assert.That(t, n <= size+size/4, "%d bytes take %d where %d are expected", size, n, about)
	}
	for _, wrong := range []int64{0, -1, smallAnswer + 1, size / 2, 3 * size, lastStep, lastStep + 1, FloodLimit} {
		n := took(wrong)
		assert.That(t, n <= 6*size, "%d bytes take %d where %d are expected", size, n, wrong)
	}
}

// parts are programs that this binary plays when its first argument names one.
var parts = map[string]func(){}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && parts[os.Args[1]] != nil {
		parts[os.Args[1]]()
		return
	}
	goleak.VerifyTestMain(m)
}

// What a short answer leaves to the collector is less than the space that it is read into, which is used again. With the race
// detector a part of what is put back is dropped.
func TestAShortAnswerLeavesLittle(t *testing.T) {
	out := []byte("a short answer")
	made := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := io.Copy(NewStream(1<<20, nil, nil), struct{ io.Reader }{bytes.NewReader(out)})
			require.NoError(b, err)
		}
	})
	assert.That(t, made.AllocedBytesPerOp() < 16<<10, "%d bytes are left by an answer of %d", made.AllocedBytesPerOp(), len(out))
}
