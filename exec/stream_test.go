package exec

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// A stream of any pieces keeps the first and the last bytes of what it was
// given and never more than it may.
func TestStreamKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(8, 80).Draw(t, "keep")
		s := &stream{keep: keep, limit: floodLimit}
		var all strings.Builder
		for _, piece := range rapid.SliceOf(rapid.StringN(0, 30, 60)).Draw(t, "pieces") {
			all.WriteString(piece)
			if rapid.Bool().Draw(t, "read") {
				if n, err := s.ReadFrom(iotest.OneByteReader(strings.NewReader(piece))); err != nil || n != int64(len(piece)) {
					t.Fatal(n, err)
				}
				continue
			}
			if n, err := s.Write([]byte(piece)); err != nil || n != len(piece) {
				t.Fatal(n, err)
			}
		}
		given := all.String()
		got, gap := s.text()
		if s.kept() > keep || s.total != int64(len(given)) {
			t.Fatalf("holds %d bytes of %d, counted %d", s.kept(), keep, s.total)
		}
		want := given
		if len(given) > keep {
			want = given[:keep-keep/8] + given[len(given)-keep/8:]
		}
		if got != want || s.cut() != (len(given) > keep) || s.cut() && gap != keep-keep/8 {
			t.Fatalf("%q, cut %v at %d; want %q", got, s.cut(), gap, want)
		}
	})
}

func TestStreamTellsOfAFloodOnce(t *testing.T) {
	told := 0
	s := &stream{keep: 8, limit: 100, flood: func() { told++ }}
	if n, err := s.ReadFrom(io.LimitReader(ones{}, 1000)); n != 1000 || err != nil || told != 1 {
		t.Errorf("%d bytes, %v, told %d times", n, err, told)
	}
}

func TestStreamPassesOnAReadError(t *testing.T) {
	s := &stream{keep: 8, limit: 100}
	if _, err := s.ReadFrom(iotest.ErrReader(io.ErrClosedPipe)); err != io.ErrClosedPipe {
		t.Error(err)
	}
}
