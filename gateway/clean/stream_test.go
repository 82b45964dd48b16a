package clean

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkPieces holds a stream against Text, with pieces as long as next says.
func checkPieces(t interface{ Fatalf(string, ...any) }, text string, next func() int) {
	var got strings.Builder
	stream := NewStream(&got)
	for rest := text; rest != ""; {
		n := min(next(), len(rest))
		if m, err := stream.Write([]byte(rest[:n])); m != n || err != nil {
			t.Fatalf("Write = %d, %v", m, err)
		}
		if len(stream.pending) >= maxPending {
			t.Fatalf("%+q: %d bytes kept back", text, len(stream.pending))
		}
		rest = rest[n:]
	}
	if err := stream.Flush(); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	want, report := Text(text)
	if got.String() != want || stream.Report() != report {
		t.Fatalf("%+q in pieces: %+q, %+v; whole: %+q, %+v", text, got.String(), stream.Report(), want, report)
	}
}

func TestPiecesMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 9)
		checkPieces(t, drawText(t), func() int { return size.Draw(t, "size") })
	})
}

func TestEachByteAlone(t *testing.T) {
	for _, test := range corpus {
		checkPieces(t, test.text, func() int { return 1 })
	}
	for _, text := range []string{string(interesting), "\ufeffa", "\ufeff\ufeff", "\r\ufeff"} {
		checkPieces(t, text, func() int { return 1 })
	}
}

func TestFlushBeginsAnotherText(t *testing.T) {
	var got strings.Builder
	stream := NewStream(&got)
	for _, text := range []string{"\ufeffa\r", "\ufeffb\xe2"} {
		if _, err := stream.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := stream.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := Report{BOM: 2, Controls: 1, Invalid: 1}
	if got.String() != "a\\u{d}b\ufffd" || stream.Report() != want {
		t.Errorf("%+q, %+v", got.String(), stream.Report())
	}
}

type brokenWriter struct{}

var errBroken = errors.New("the pipe is broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestTheErrorOfTheWriterIsReturned(t *testing.T) {
	stream := NewStream(brokenWriter{})
	if _, err := stream.Write([]byte("\r")); err != nil {
		t.Errorf("nothing was to be written: %v", err)
	}
	if _, err := stream.Write([]byte("a")); !errors.Is(err, errBroken) {
		t.Errorf("Write: %v", err)
	}
}
