package agents

import (
	"testing"

	"vaultwicket/tests/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }
