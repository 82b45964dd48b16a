package exec

import (
	"context"
	"errors"
	"testing"
	"time"
)

// keptBy runs a call of which a worker sends a part.
func keptBy(t *testing.T, r *Runner, p Program, path string) *KeptAnswer {
	t.Helper()
	out, err := r.Run(FirstPart(t.Context(), Part{Bytes: 4, Lines: true}), reads(path), p)
	if err != nil || out.Stdout != keptAnswer[:5] || out.Kept == nil || out.Kept.Bytes != len(keptAnswer) || out.Kept.Rows != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	return out.Kept
}

func TestMoreOfAnAnswer(t *testing.T) {
	r, p, _ := residentRunner(t, Config{Timeout: 2 * time.Second}, "worker", "worker")
	kept := keptBy(t, r, p, "kept.md")
	for _, tt := range []struct {
		from, atLeast int
		want          string
		err           error
	}{
		{0, 2, "one", nil}, {8, 5, "three ", nil}, {8, 1 << 40, keptAnswer[8:], nil}, {len(keptAnswer) - 1, 1, "\n", nil},
		{0, len(keptAnswer), "", ErrNotKept}, // it sends less
	} {
		if got, err := kept.More(t.Context(), tt.from, tt.atLeast); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%d bytes from %d: %q, %v; want %q, %v", tt.atLeast, tt.from, got, err, tt.want, tt.err)
		}
	}
	if got, err := keptBy(t, r, p, "kept/wrong.md").More(t.Context(), 0, 1); got != "" || !errors.Is(err, ErrNotKept) {
		t.Errorf("of an answer that is not kept any more: %q, %v", got, err)
	}
	// The time limit applies to a part as to a call, and so does a cancellation.
	if _, err := kept.More(t.Context(), 4, 1); codeOf(err) != CodeTimeout {
		t.Errorf("a part that does not come: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := keptBy(t, r, p, "kept.md").More(ctx, 0, 1); codeOf(err) != CodeCancelled {
		t.Errorf("a part that no one wants: %v", err)
	}
}

// With its worker goes what it kept.
func TestWhatIsKeptGoesWithTheWorker(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker", "worker")
	kept := keptBy(t, r, p, "kept.md")
	if _, err := r.Run(t.Context(), reads("leave.md"), p); codeOf(err) != CodeCrashed {
		t.Fatal(err)
	}
	for range 2 { // another worker does not have it
		if got, err := kept.More(t.Context(), 0, 1); got != "" || !errors.Is(err, ErrNotKept) {
			t.Errorf("%q, %v", got, err)
		}
		pidOf(t, r, p)
	}
	kept = keptBy(t, r, p, "kept.md")
	r.Close()
	if got, err := kept.More(t.Context(), 0, 1); got != "" || !errors.Is(err, ErrNotKept) {
		t.Errorf("after the end: %q, %v", got, err)
	}
}
