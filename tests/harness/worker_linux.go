package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/exec"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// RunnerOf returns a Runner of the built program, and the program for a folder.
func RunnerOf(t *testing.T, folder string, resident bool) (*exec.Runner, exec.Program) {
	t.Helper()
	r := exec.New(exec.Config{Self: Binary, Resident: resident})
	t.Cleanup(r.Close)
	p := require.Value(r.Embedded(folder))(t)
	return r, p
}

func PermitFor(t *testing.T, name string, params map[string]string) policy.Permit {
	t.Helper()
	given := allowlist.Params{}
	for key, value := range params {
		given[key] = allowlist.Text(value)
	}
	call := require.Value(allowlist.Parse(name, given))(t)
	permit, err := policy.Policy{Ceiling: tiers.V3, Mutations: true, UI: true, Confirm: policy.ConfirmNever,
		MinVersion: tiers.DefaultMinimum}.Decide(call, policy.ClearFacts(time.Now())).Permit()
	require.NoError(t, err)
	return permit
}

// WorkersOf returns the children of a process.
func WorkersOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// MemoryKiB is the memory of a process in KiB.
func MemoryKiB(t *testing.T, pid int) int { return StatusKiB(t, pid, "VmRSS") }

// StatusKiB is a line of the status of a process, in KiB.
func StatusKiB(t *testing.T, pid int, line string) (kib int) {
	t.Helper()
	text := require.Value(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	_, rest, _ := strings.Cut(string(text), "\n"+line+":")
	fmt.Sscan(rest, &kib)
	return kib
}
