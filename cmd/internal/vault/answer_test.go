package vault

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/exec/frame"
)

// snapshot describes every file and folder of the vault, hidden ones included.
func (h *house) snapshot() (text string, files, folders int) {
	var out strings.Builder
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			folders++
			out.WriteString(path + "/\n")
			return err
		}
		files++
		content, err := os.ReadFile(path)
		out.WriteString(path + "\t" + digest(content) + "\n")
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
	return out.String(), files, folders
}

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

func TestPrintEndsTheLastLineOnce(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a\n", "a\n": "a\n", "a\n\n": "a\n\n", "\n": "\n", "a\r": "a\r\n"} {
		var out bytes.Buffer
		said := say(text)
		if status := said.print(&out); status != done || out.String() != want {
			t.Errorf("%q: status %d, %q, want %q", text, status, &out, want)
		}
	}
}

func TestABodyThatCannotBeReadIsAFailure(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text"})
	v, err := newHost(func(string) string { return "" }, nil).vault(context.Background(), line{folder: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer v.disk.Close()
	said := answer(v, request{command: "read", args: []string{"path=a.md"}})
	said.close() // as if the disk went away before the text was read
	var out bytes.Buffer
	if status := said.print(&out); status != failed || !strings.HasPrefix(out.String(), "Error: reading stopped: ") || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q", status, &out)
	}
	if got := said.failure(); got.Code != frame.CodeCLIError || !strings.HasPrefix(got.Reason, "Error: reading stopped: ") {
		t.Errorf("reported as %+v", got)
	}
}

func TestDigest(t *testing.T) {
	for text, want := range map[string]string{"": "e3b0c44298fc1c14", "text": "982d9e3eb996f559"} {
		if got := digest([]byte(text)); got != want {
			t.Errorf("digest(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestFactsAreOneLineOfJSON(t *testing.T) {
	before := "aa"
	f := facts{path: "a \"b\" & c\u2028.md", before: &before, hash: func() string { return "bb" }}
	const want = `vaultwicket-facts: {"path":"a \"b\" \u0026 c\u2028.md","hash":"bb","before":"aa"}`
	if got := f.line(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
