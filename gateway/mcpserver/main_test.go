package mcpserver

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing of mcp-go outlives Listen, so nothing is ignored.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
