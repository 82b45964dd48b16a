package testenv

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestSomeCasesOfAPropertyAreChecked(t *testing.T) {
	for variable, want := range map[string]int{"": 7, "1": 20} { // of 100, or of 20 with -short
		t.Setenv("LONG_TESTS", variable)
		checked := 0
		rapid.Check(t, Cases(7, func(t *rapid.T) {
			rapid.Int().Draw(t, "number")
			checked++
		}))
		assert.That(t, variable != "" || checked == want, "LONG_TESTS=%q: %d cases, want %d", variable, checked, want)
		assert.That(t, checked >= want, "LONG_TESTS=%q: %d cases, want %d", variable, checked, want)
	}
}

// A failure is not lost while rapid makes its case smaller.
func TestCasesAfterAFailureAllRun(t *testing.T) {
	t.Setenv("LONG_TESTS", "")
	calls := 0
	property := Cases(1, func(*rapid.T) {
		if calls++; calls == 1 {
			panic("fails")
		}
	})
	func() {
		defer func() { _ = recover() }()
		property(nil)
	}()
	for range 5 {
		property(nil)
	}
	assert.That(t, calls == 6, "%d calls, want 6", calls)
}
