package exec

import (
	"strings"
	"testing"
)

func TestSizesAreKnownByTheCall(t *testing.T) {
	var s sizes
	one, other := callHash([]string{"tasks", "todo"}), callHash([]string{"tasks", "todo", "format=json"})
	if one == other || callHash([]string{"a", "bc"}) == callHash([]string{"ab", "c"}) || one != callHash([]string{"tasks", "todo"}) {
		t.Fatal("calls are not told apart")
	}
	if s.of(one) != 0 {
		t.Error("a size that was not noted")
	}
	s.keep(one, 100)
	s.keep(one, 200)
	if s.of(one) != 200 || s.of(one+uint64(len(s.known))) != 0 {
		t.Errorf("%d and %d", s.of(one), s.of(one+uint64(len(s.known))))
	}
	s.keep(one+uint64(len(s.known)), 300) // comes to the same place
	if s.of(one) != 0 {
		t.Errorf("the size of another call: %d", s.of(one))
	}
}

// Answers are whole whether they are as long as the one before, longer or shorter.
func TestLargeAnswersOfAnyLengthOneAfterAnother(t *testing.T) {
	r, p, _ := residentRunner(t, Config{}, "worker")
	for _, size := range []int{100 << 10, 100 << 10, 1 << 20, 40 << 10, 700 << 10, 710 << 10, 1 << 20, 33 << 10, 5 << 10} {
		text := strings.Repeat("a line of it ", size/13)
		out, err := r.Run(t.Context(), mustPermit("append", params{"path": "echo.md", "content": text}), p)
		if err != nil || out.Stdout != text || out.Cut {
			t.Fatalf("%d bytes of %d, %v", len(out.Stdout), len(text), err)
		}
	}
}
