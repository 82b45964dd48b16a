package readers

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
