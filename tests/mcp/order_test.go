package mcp

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/rig"
)

// TestChangesAreMadeInTheOrderInWhichTheyCame sends many appends without
// waiting for an answer, with reads between them.
func TestChangesAreMadeInTheOrderInWhichTheyCame(t *testing.T) {
	vault := t.TempDir()
	var in, want strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
	for i := 1; i <= 60; i++ {
		arguments := `{"command":"random:read"}`
		if i%3 != 0 {
			arguments = fmt.Sprintf(`{"command":"daily:append","params":{"content":"line %d"}}`, i)
			fmt.Fprintf(&want, "line %d\n", i)
		}
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"obsidianCli","arguments":%s}}`+"\n", i, arguments)
	}
	server := exec.Command(rig.Binary, "serve", "--config=none", "--backend=embedded", "--vault="+vault, "--allow-mutations", "--max-parallel=16", "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0")
	server.Env = append(os.Environ(), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00", "HOME="+t.TempDir())
	server.Stdin = strings.NewReader(in.String())
	out, err := server.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(out, []byte("\n")); got != 61 {
		t.Errorf("%d answers, want 61", got)
	}
	got, err := os.ReadFile(filepath.Join(vault, "2026-11-21.md"))
	if err != nil || strings.TrimRight(string(got), "\n") != strings.TrimRight(want.String(), "\n") {
		t.Errorf("the note holds\n%s\n(%v), want\n%s", got, err, want.String())
	}
}
