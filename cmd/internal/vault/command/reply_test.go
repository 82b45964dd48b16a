package command

import (
	"bytes"
	"testing"

	"vaultwicket/exec/frame"
)

func TestPrintEndsTheLastLineOnce(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a\n", "a\n": "a\n", "a\n\n": "a\n\n", "\n": "\n", "a\r": "a\r\n"} {
		var out bytes.Buffer
		said := Text(text)
		if status := said.Print(&out); status != ExitDone || out.String() != want {
			t.Errorf("%q: status %d, %q, want %q", text, status, &out, want)
		}
	}
}

func TestDigest(t *testing.T) {
	for text, want := range map[string]string{"": "e3b0c44298fc1c14", "text": "982d9e3eb996f559"} {
		if got := Digest([]byte(text)); got != want {
			t.Errorf("digest(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestFactsAreOneLineOfJSON(t *testing.T) {
	before := "aa"
	f := Facts{Facts: frame.Facts{Path: "a \"b\" & c\u2028.md", Before: &before, Hash: "bb"}}
	const want = `vaultwicket-facts: {"path":"a \"b\" \u0026 c\u2028.md","hash":"bb","before":"aa"}`
	if got := f.Line(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
