package bench

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// agentsFile writes settings with as many agents, named agent-0 and so on, and returns the flag
// that has them read.
func agentsFile(b *testing.B, agents int) (flag string) {
	text := "tier = \"v1\"\nrate = 0\n"
	for i := range agents {
		text += fmt.Sprintf("[agents.agent-%d]\ntier = \"v%d\"\nconfirm = \"writes\"\n[agents.agent-%d.access]\n\"/\" = \"r\"\n\"Folder %d\" = \"none\"\n",
			i, 1+i%3, i, i)
	}
	file := filepath.Join(b.TempDir(), "config.toml")
	require.NoError(b, os.WriteFile(file, []byte(text), 0o600))
	return "--config=" + file
}

// BenchmarkResidentAgents measures a read of one of 50 agents through the server's resident
// worker, by turns with the same read of a server for which no agent is defined. There are four
// servers of each kind, because two processes of one program differ by more than is measured.
func BenchmarkResidentAgents(b *testing.B) {
	vault := smallVault(b)
	var servers [8]*session // one without agents, one with agents, and so on
	for i := range servers {
		flags := []string{"serve", "--backend=embedded", "--vault=" + vault, agentsFile(b, i%2*50)}
		if i%2 == 1 {
			flags = append(flags, "--agent=agent-7")
		}
		s := start(b, program(b, "vaultwicket"), flags...)
		s.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "bench", "version": "1"}})
		s.succeed("obsidianCli", readTides)
		servers[i] = s
	}
	var took [2][]time.Duration
	for turn := 0; b.Loop(); turn++ {
		for i := range servers { // the first in turn finds other caches than the second
			i = (i + turn) % len(servers)
			took[i%2] = append(took[i%2], timed(func() { servers[i].succeed("obsidianCli", readTides) }))
		}
	}
	against(b, "agents", took[1], "none", took[0])
}

// BenchmarkAgents reports what an agent takes of the memory of a server over HTTP, against a server
// for which none is defined: each of 1,000 that are defined, and each of 100 that also made a call
// with its token, over as many sessions without agents.
func BenchmarkAgents(b *testing.B) {
	const agents, calling = 1000, 100
	for b.Loop() {
		var rest, full [2]int
		for i, defined := range []int{0, agents} {
			s := serveHTTP(b, agentsFile(b, defined), "--backend=embedded", "--vault="+smallVault(b))
			giveTokens(b, s.home, defined)
			time.Sleep(afterStart) // until it is at rest
			rest[i] = memory(s.process.Process.Pid, "VmRSS")
			for n := range calling {
				if defined > 0 {
					s.token = fmt.Sprintf("vwa_agent-%d", n)
				}
				c := s.connect(b)
				c.call(b, "random:read")
				c.close()
			}
			full[i] = memory(s.process.Process.Pid, "VmRSS")
		}
		b.ReportMetric(float64(rest[1]-rest[0])/agents, "defined-KiB/agent")
		b.ReportMetric(float64(full[1]-full[0]-rest[1]+rest[0])/calling, "calling-KiB/agent")
	}
}

// giveTokens writes the tokens of agents, "vwa_" and the name of each, to the state in a folder.
func giveTokens(b *testing.B, home string, agents int) {
	list := []map[string]string{}
	for i := range agents {
		name := fmt.Sprintf("agent-%d", i)
		list = append(list, map[string]string{"agent": name, "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte("vwa_"+name))), "made": "2026-11-21T00:00:00Z"})
	}
	state := filepath.Join(home, "vaultwicket")
	text, err := json.Marshal(list)
	require.NoError(b, err, os.MkdirAll(state, 0o700), os.WriteFile(filepath.Join(state, "agents.json"), text, 0o600))
}
