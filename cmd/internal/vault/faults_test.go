package vault

import (
	"errors"
	"io/fs"
	"testing"

	"vaultwicket/cmd/internal/vault/disk"
)

func TestErrorsOfReading(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"not there", fs.ErrNotExist, "Error: File \"n\" not found."},
		{"no note", &disk.Refusal{Path: "n", Reason: "is a folder"}, "Error: File \"n\" not found."},
		{"not allowed", &fs.PathError{Op: "open", Path: "n", Err: fs.ErrPermission}, "Error: File \"n\" cannot be read: permission denied."},
		{"anything else", errors.New("the disk is on strike"), "Error: the disk is on strike"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if said := explain(unreadable("n", test.err)); said.text != test.want || said.status != failed {
				t.Errorf("status %d, %q", said.status, said.text)
			}
		})
	}
}

func TestErrorsOfWriting(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"changed meanwhile", disk.ErrChanged, "Error: File \"n\" was changed by somebody else at the same time. Nothing was written."},
		{"a link", &disk.Refusal{Path: "n", Reason: "is a symbolic link"}, "Error: File \"n\" cannot be written: \"n\" is a symbolic link."},
		{"not allowed", fs.ErrPermission, "Error: File \"n\" cannot be written: permission denied."},
		{"anything else", errors.New("no space left"), "Error: no space left"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if said := explain(unwritten("n", test.err)); said.text != test.want || said.status != failed {
				t.Errorf("status %d, %q", said.status, said.text)
			}
		})
	}
	if err := unwritten("n", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestErrorsShowWhatWasTypedAsItIs(t *testing.T) {
	const odd = "a \"quoted\"\tü \\ name"
	if said := explain(fileNotFound(odd)); said.text != "Error: File \""+odd+"\" not found." {
		t.Errorf("said %q", said.text)
	}
}
