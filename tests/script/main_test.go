package script

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"vaultwicket/tests/rig"
)

func TestMain(m *testing.M) {
	testscript.Main(rig.Built{M: m}, map[string]func(){"obsidian": fakeObsidian})
}
