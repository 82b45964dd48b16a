package vault

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/resident"
	"vaultwicket/exec/frame"
)

// TestACallTellsHowFarItHasCome: a call of the gateway that takes long, and of what is hidden
// nothing is counted.
func TestACallTellsHowFarItHasCome(t *testing.T) {
	h := build(t, map[string]string{"a.md": "x #t", "b.md": "x", "c.md": "x", "Private/d.md": "x", "Private/e.md": "x", "Private/f.md": "x"})
	h.env[command.AccessVariable] = mustRules(t, map[string]string{"/": "r", "Private": "none"}).String()
	for _, call := range [][]string{{"tags"}, {"search", "query=x"}} {
		for _, facts := range []bool{true, false} {
			at, args := h.host(), []string{h.dir}
			if facts {
				args = append(args, "--facts")
			}
			at.Tally = func(messages io.Writer) *frame.Tally {
				begun := frame.NewTally(messages)
				time.Sleep(time.Second) // the call takes this long
				return begun
			}
			var out, messages bytes.Buffer
			status := run(at, resident.Call{Ctx: context.Background(), Args: append(args, call...), Stdout: &out, Stderr: &messages})
			line, _, _ := strings.Cut(messages.String(), "\n")
			if told := line == "vaultwicket-progress: read 1 3"; status != command.ExitDone || told != facts {
				t.Errorf("%q, for the gateway: %v: status %d, told %q", call, facts, status, messages.String())
			}
		}
	}
}
