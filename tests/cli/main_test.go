package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vaultwicket/vaultwicket/tests/harness"
)

func TestMain(m *testing.M) {
	testscript.Main(harness.Built{M: m}, map[string]func(){"obsidian": fakeObsidian})
}
