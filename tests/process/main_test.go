package process

import (
	"testing"

	"vaultwicket/tests/long"
	"vaultwicket/tests/rig"
)

func TestMain(m *testing.M) {
	long.AtOnce(6)
	rig.Main(m)
}
