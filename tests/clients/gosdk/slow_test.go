//go:build unix

package gosdk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// slowCLI is a client of the app that says who it is in a file "pid" and, but for its version
// and folder, does not answer before there is a file "go".
const slowCLI = `#!/bin/sh
cd "${0%/*}"
case " $* " in *" version "*) echo '1.12.7 (installer 1.12.7)'; exit;;
*" info=path "*) mkdir -p vault; echo "$PWD/vault"; exit;; esac
echo $$ >pid.new && mv pid.new pid
while [ ! -e go ]; do sleep 0.05; done
echo '2026-11-21.md'
`

var slow = []string{"--backend=obsidian", "--cli=HOME/slow", "--timeout=25s"}

// slowCall calls a command that takes its time and hears how it goes on.
func slowCall(ctx context.Context, session *mcp.ClientSession) (*mcp.CallToolResult, error) {
	params := &mcp.CallToolParams{Name: "obsidianCli", Arguments: map[string]any{"command": "daily:path"}}
	params.Meta = mcp.Meta{"progressToken": "slow"}
	return session.CallTool(ctx, params)
}

func TestProgress(t *testing.T) {
	everywhere(t, slow, func(t *testing.T, s server, version string) {
		write(t, filepath.Join(s.home, "slow"), slowCLI)
		var heard []float64
		session := s.connect(t, version, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
			if n.Params.ProgressToken != "slow" {
				t.Errorf("heard of %v", n.Params.ProgressToken)
			}
			if heard = append(heard, n.Params.Progress); len(heard) == 2 {
				write(t, filepath.Join(s.home, "go"), "")
			}
		}})
		got, err := slowCall(t.Context(), session)
		if err != nil || got.IsError || !strings.Contains(fmt.Sprint(got.StructuredContent), "2026-11-21.md") {
			t.Errorf("%+v, %v", got, err)
		}
		if len(heard) < 2 || heard[0] != 1 || heard[1] != 2 {
			t.Errorf("heard %v", heard)
		}
	})
}

// A call that its client no longer wants ends, and so does what was started for it.
// The session goes on.
func TestCancellation(t *testing.T) {
	everywhere(t, slow, func(t *testing.T, s server, version string) {
		write(t, filepath.Join(s.home, "slow"), slowCLI)
		ctx, cancel := context.WithCancel(t.Context())
		session := s.connect(t, version, &mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
			if _, err := os.Stat(filepath.Join(s.home, "pid")); err == nil { // a slow machine starts it later
				cancel()
			}
		}})
		if got, err := slowCall(ctx, session); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", got, err)
		}
		text, err := os.ReadFile(filepath.Join(s.home, "pid"))
		noError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		noError(t, err)
		awaitEnd(t, pid)
		if got := call(t, session, "help", map[string]any{"command": "daily:read"}); !got.OK {
			t.Errorf("the next call: %+v", got)
		}
	})
}

// awaitEnd waits for a process to be gone.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for syscall.Kill(pid, 0) == nil {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("process %d goes on", pid)
		}
	}
}
