package packaging

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
