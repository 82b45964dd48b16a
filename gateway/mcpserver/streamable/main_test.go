package streamable

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing of a server outlives Serve, so nothing is ignored.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
