package process

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/long"
	"github.com/vaultwicket/vaultwicket/tests/rig"
)

func TestMain(m *testing.M) {
	long.AtOnce(6)
	rig.Main(m)
}
