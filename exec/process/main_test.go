package process

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// parts are programs that this binary plays when its first argument names one.
var parts = map[string]func(){}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && parts[os.Args[1]] != nil {
		parts[os.Args[1]]()
		return
	}
	goleak.VerifyTestMain(m)
}
