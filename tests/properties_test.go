package tests

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// A property test that draws other cases at each run fails at times for what no one
// changed.
func TestPropertyTestsDrawTheSameCases(t *testing.T) {
	draws, seeded := map[string]bool{}, map[string]bool{"tests/testenv": true}
	for _, s := range everySource(t) {
		for _, spec := range s.syntax.Imports {
			if !strings.HasSuffix(s.name, "_test.go") {
				continue
			}
			switch spec.Path.Value {
			case `"pgregory.net/rapid"`:
				draws[s.folder()] = true
			case `"github.com/vaultwicket/vaultwicket/tests/testenv"`:
				seeded[s.folder()] = true
			}
		}
	}
	assert.That(t, len(draws) != 0, "no property tests were found")
	for folder := range draws {
		assert.That(t, seeded[folder], "%s has property tests and does not import tests/testenv", folder)
	}
}
