package consent

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestMain(m *testing.M) {
	testenv.AtOnce(6)
	harness.Main(m)
}
