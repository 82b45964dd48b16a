package call_test

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

func TestNamesResolveLikeLinks(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"Root.md": "", "x/root.md": "", "x/Note.md": "", "longer/Note.md": "", "y/deep/Note.md": "", "x/v1.2.md": "", "x/Pic.PNG": "", "y/pic.png.md": "",
		"LICENSE": "", "a/same.md": "", "b/same.md": "", "u/Caf\u00e9.md": "", "Ext.md": "", "z/q/leaf.md": "", "alias.md": "---\naliases: [Other]\n---\n",
	})
	for _, test := range []struct{ name, file, want string }{
		{"the exact path wins", "Root", "Root.md"},
		{"a name with a dot is tried as it is, then as a note", "v1.2", "x/v1.2.md"},
		{"an attachment needs its extension", "pic.png", "x/Pic.PNG"},
		{"a slash in front means the vault's folder", "/Root", "Root.md"},
		{"and nothing below", "/leaf", ""},
		{"a dot in front means it too", "./leaf", ""},
		{"an alias is no name", "Other", ""},
		{"a folder is no file", "deep", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got, _ := h.Run("file", "file="+test.file)
			path, _, _ := strings.Cut(strings.TrimPrefix(got, "path\t"), "\n")
			if want := test.want; want == "" && !strings.HasPrefix(got, "Error: File ") || want != "" && path != want {
				t.Errorf("%q led to %q, want %q", test.file, got, want)
			}
		})
	}
}

func TestTheFocusedNote(t *testing.T) {
	layout := func(active string) string {
		return `{"main":{"id":"m","type":"split","children":[{"id":"t","type":"tabs","children":[
			{"id":"one","type":"leaf","state":{"type":"markdown","state":{"file":"a.md","mode":"source"}}},
			{"id":"two","type":"leaf","state":{"type":"empty","state":{}}},
			{"id":"four","type":"leaf","state":{"type":"markdown","state":{"file":"../x.md"}}}]}]},
			"left":{"id":"l","type":"split","children":[{"id":"three","type":"leaf","state":{"type":"search","state":{"query":""}}}]},
			"active":"` + active + `","lastOpenFiles":["b.md"]}`
	}
	const none = "Error: No active file. Use file=<name> or path=<path> to specify a file.\n"
	h := embedded.New(t, map[string]string{"a.md": "A", "b.md": "B"})
	for _, test := range []struct {
		name, workspace string
		status          int
		want            string
	}{
		{"the leaf that has the focus", layout("one"), answer.ExitDone, "A\n"},
		{"an empty leaf", layout("two"), answer.ExitFailed, none},
		{"a panel", layout("three"), answer.ExitFailed, none},
		{"a leaf that is not there", layout("nine"), answer.ExitFailed, none},
		{"no focus", layout(""), answer.ExitFailed, none},
		{"a record that cannot be understood", "{", answer.ExitFailed, none},
		{"a record of a note outside", layout("four"), answer.ExitFailed, "Error: File \"../x.md\" not found.\n"},
	} {
		h.Put(".obsidian/workspace.json", test.workspace)
		inner := *h
		t.Run(test.name, func(t *testing.T) { inner.T = t; inner.Expect(test.status, test.want, "read") })
	}
	h.Env[call.ActiveVariable] = "b.md"
	h.Expect(answer.ExitDone, "B\n", "read")
	h.Expect(answer.ExitDone, "A\n", "read", "path=a.md")
	h.Env[call.ActiveVariable] = "none.md"
	h.Expect(answer.ExitFailed, "Error: File \"none.md\" not found.\n", "file")
}
