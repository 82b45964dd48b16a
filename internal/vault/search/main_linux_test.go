package search_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

func TestMain(m *testing.M) {
	embedded.Prepare()
	// The clock of regular expressions with a limit of time ends by itself.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}
