package process

import (
	"os"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(asSigner) != "" {
		sign()
		return
	}
	testenv.AtOnce(6)
	harness.Main(m)
}
