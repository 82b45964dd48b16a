package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The team of BenchmarkTeam: each agent may use three of the vaults, and makes so many calls a day.
const (
	teamAgents = 200
	teamVaults = 50
	teamNotes  = 100 // in each vault
	teamCalls  = 30  // of each agent
)

// BenchmarkTeam has one server carry the calls of a team in a day, all at once: 200 agents with 50
// vaults, of which 70 in 100 calls read a note, 15 search, 10 append to one, and 5 are for a vault
// that the agent may not use. The audit log is exported to a file meanwhile. Run it with
// -benchtime 1x; the figures are in docs/scale.md.
func BenchmarkTeam(b *testing.B) {
	for b.Loop() {
		folder := b.TempDir()
		settings := "tier = \"v2\"\nallow-mutations = true\nconfirm = \"never\"\nrate = 0\nrate-mutations = 0\nrate-mutations-hour = 0\nmax-parallel = 16\n"
		for v := range teamVaults {
			vault := filepath.Join(folder, fmt.Sprintf("Vault %d", v))
			settings += fmt.Sprintf("[[vaults]]\nname = \"v%d\"\nfolder = %q\n", v, vault)
			require.NoError(b, os.Mkdir(vault, 0o755))
			for n := range teamNotes {
				write(b, filepath.Join(vault, fmt.Sprintf("Note %d.md", n)),
					[]byte(fmt.Sprintf("# Note %d\n\nword%d and [[Note %d]], two high waters a day #tag%d\n", n, n, n/2,
						n%7)))
			}
		}
		for a := range teamAgents {
			settings += fmt.Sprintf("[agents.agent-%d]\nvaults = [\"v%d\", \"v%d\", \"v%d\"]\n", a, a%teamVaults, (a+7)%teamVaults, (a+23)%teamVaults)
		}
		config := filepath.Join(folder, "config.toml")
		write(b, config, []byte(settings))
		require.NoError(b, os.Chmod(config, 0o600))
		exported := filepath.Join(folder, "exported.jsonl")
		s := serveHTTP(b, "--config="+config, "--backend=embedded", "--export=file://"+exported)
		pid := s.process.Process.Pid
		giveTokens(b, s.home, teamAgents)
		rest := memory(pid, "VmRSS")
		var clients []*httpClient
		for a := range teamAgents {
			s.token = fmt.Sprintf("vwa_agent-%d", a)
			one := *s
			clients = append(clients, one.connect(b))
		}
		took := make([][]time.Duration, teamAgents)
		var denied, failed [teamAgents]int
		begun, cpu := time.Now(), cpuOf(pid)
		var team sync.WaitGroup
		for a, c := range clients {
			team.Go(func() {
				draws := rand.New(rand.NewPCG(30, uint64(a)))
				for range teamCalls {
					vault := []int{a, a + 7, a + 23}[draws.IntN(3)] % teamVaults
					note := fmt.Sprintf("Note %d.md", draws.IntN(teamNotes))
					command, params := "read", map[string]any{"path": note}
					switch draw := draws.IntN(100); {
					case draw >= 95:
						vault = (a + 1) % teamVaults
					case draw >= 85:
						command, params["content"] = "append", "- a line of an agent"
					case draw >= 70:
						command, params = "search", map[string]any{"query": fmt.Sprintf("word%d", draws.IntN(teamNotes))}
					}
					var answer []byte
					took[a] = append(took[a], timed(func() {
						_, answer = c.post(b, "tools/call",
							map[string]any{"name": "obsidianCli",
								"arguments": map[string]any{"command": command, "params": params,
									"vault": "v" + strconv.Itoa(vault)}})
					}))
					switch {
					case bytes.Contains(answer, []byte(`"vault_not_found"`)):
						denied[a]++
					case !bytes.Contains(answer, []byte(`"ok":true`)):
						failed[a]++
						if failed[a] == 1 {
							b.Logf("%s of %v in v%d: %.300s", command, params, vault, answer)
						}
					}
				}
			})
		}
		team.Wait()
		lasted, used := time.Since(begun), cpuOf(pid)-cpu
		all := slices.Concat(took...)
		slices.Sort(all)
		sum := func(of [teamAgents]int) (n int) {
			for _, one := range of {
				n += one
			}
			return n
		}
		workers, inWorkers := 0, 0
		for _, child := range childrenOf(pid) {
			workers, inWorkers = workers+1, inWorkers+memory(child, "RssAnon")
		}
		log := 0
		for _, file := range []string{"audit", "audit-calls"} {
			if info, err := os.Stat(filepath.Join(s.home, "vaultwicket", file, "audit.jsonl")); err == nil {
				log += int(info.Size())
			}
		}
		logged := func(part string) int { return linesIn(filepath.Join(s.home, "vaultwicket", part, "audit.jsonl")) }
		assert.Await(20*time.Second, func() bool { return linesIn(exported) >= logged("audit")+logged("audit-calls") })
		calls := float64(len(all))
		b.ReportMetric(calls/lasted.Seconds(), "calls/s")
		b.ReportMetric(ms(all[len(all)/2]), "ms/p50")
		b.ReportMetric(ms(all[len(all)*95/100]), "ms/p95")
		b.ReportMetric(ms(all[len(all)*99/100]), "ms/p99")
		b.ReportMetric(used.Seconds()*1000/calls, "cpu-ms/call")
		b.ReportMetric(float64(sum(denied)), "denied")
		b.ReportMetric(float64(sum(failed)), "failed")
		b.ReportMetric(float64(rest)/1024, "rest-MiB")
		b.ReportMetric(float64(memory(pid, "VmRSS"))/1024, "server-MiB")
		b.ReportMetric(float64(workers), "workers")
		b.ReportMetric(float64(inWorkers)/1024, "workers-MiB")
		b.ReportMetric(float64(log)/calls, "log-bytes/call")
		b.ReportMetric(float64(linesIn(exported)), "exported-lines")
		for _, c := range clients {
			c.close()
		}
	}
}

// linesIn counts the lines of a file.
func linesIn(name string) int {
	text, _ := os.ReadFile(name)
	return bytes.Count(text, []byte("\n"))
}

// childrenOf returns the processes that a process has started.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// cpuOf is the processor time that a process and its children have used.
func cpuOf(pid int) (all time.Duration) {
	for _, one := range append(childrenOf(pid), pid) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", one))
		for _, file := range threads {
			text, _ := os.ReadFile(file)
			var ran int64
			if _, err := fmt.Sscan(string(text), &ran); err == nil {
				all += time.Duration(ran)
			}
		}
	}
	return all
}
