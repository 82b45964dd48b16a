package handlers_test

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

func TestMain(m *testing.M) { embedded.Main(m) }
