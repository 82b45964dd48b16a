package vault

import (
	"os"
	"testing"

	"vaultwicket/cmd/internal/vault/disk"
)

func TestKindsOfErrorsOfTheDisk(t *testing.T) {
	for _, test := range []struct {
		err  error
		want failureKind
	}{
		{unreadable("n", disk.ErrInUse), inUseConflict},
		{unwritten("n", disk.ErrInUse), inUseConflict},
		{unwritten("n", disk.ErrChanged), conflict},
		{unwritten("n", os.ErrExist), alreadyExists},
		{unwritten("n", os.ErrPermission), otherFailure},
		{allOf([]error{unwritten("n", disk.ErrChanged), os.ErrPermission}), conflict},
	} {
		if got := explain(test.err).kind; got != test.want {
			t.Errorf("%v: %+v, want %+v", test.err, got, test.want)
		}
	}
}
