package script

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vaultwicket/vaultwicket/tests/rig"
)

func TestMain(m *testing.M) {
	testscript.Main(rig.Built{M: m}, map[string]func(){"obsidian": fakeObsidian})
}
