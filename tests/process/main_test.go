package process

import (
	"os"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/long"
	"github.com/vaultwicket/vaultwicket/tests/rig"
)

func TestMain(m *testing.M) {
	if os.Getenv(asSigner) != "" {
		sign()
		return
	}
	long.AtOnce(6)
	rig.Main(m)
}
