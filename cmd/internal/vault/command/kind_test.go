package command

import (
	"os"
	"testing"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
)

func TestKindsOfErrorsOfTheDisk(t *testing.T) {
	for _, test := range []struct {
		err  error
		want answer.Kind
	}{
		{answer.ReadError("n", system.ErrInUse), answer.InUseConflict},
		{answer.WriteError("n", system.ErrInUse), answer.InUseConflict},
		{answer.WriteError("n", disk.ErrChanged), answer.Conflict},
		{answer.WriteError("n", os.ErrExist), answer.AlreadyExists},
		{answer.WriteError("n", os.ErrPermission), answer.OtherFailure},
		{allOf([]error{answer.WriteError("n", disk.ErrChanged), os.ErrPermission}), answer.Conflict},
	} {
		if got := answer.Explain(test.err).Kind; got != test.want {
			t.Errorf("%v: %+v, want %+v", test.err, got, test.want)
		}
	}
}
