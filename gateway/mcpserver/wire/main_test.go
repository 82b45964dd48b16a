package wire

import (
	"testing"

	"go.uber.org/goleak"

	"vaultwicket/tests/memory"
)

// Nothing of mcp-go outlives Listen, so nothing is ignored.
func TestMain(m *testing.M) {
	memory.Use()
	goleak.VerifyTestMain(m)
}
