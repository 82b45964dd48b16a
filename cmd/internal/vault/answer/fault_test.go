package answer

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
			if said := Explain(ReadError("n", test.err)); said.Text != test.want || said.Status != ExitFailed {
				t.Errorf("status %d, %q", said.Status, said.Text)
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
		{"changed meanwhile", disk.ErrChanged, "Error: File \"n\" was changed by another program at the same time. Nothing was written."},
		{"a link", &disk.Refusal{Path: "n", Reason: "is a symbolic link"}, "Error: File \"n\" cannot be written: \"n\" is a symbolic link."},
		{"not allowed", fs.ErrPermission, "Error: File \"n\" cannot be written: permission denied."},
		{"anything else", errors.New("no space left"), "Error: no space left"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if said := Explain(WriteError("n", test.err)); said.Text != test.want || said.Status != ExitFailed {
				t.Errorf("status %d, %q", said.Status, said.Text)
			}
		})
	}
	if err := WriteError("n", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

func TestErrorsShowWhatWasTypedAsItIs(t *testing.T) {
	const odd = "a \"quoted\"\tü \\ name"
	if said := Explain(FileNotFound(odd)); said.Text != "Error: File \""+odd+"\" not found." {
		t.Errorf("said %q", said.Text)
	}
}
