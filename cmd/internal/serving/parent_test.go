package serving

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// processTable is a table of processes. A process without a line is hidden.
type processTable map[int]any // kin or error

func (k processTable) lookUp(pid int) (processInfo, error) {
	switch line := k[pid].(type) {
	case processInfo:
		return line, nil
	case error:
		return processInfo{}, line
	}
	return processInfo{}, errHidden
}

// TestWhenAParentIsGone has the server 40 below 30, 20 and 10, of which 20 is
// watched.
func TestWhenAParentIsGone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(k processTable, direct *int)
		gone   bool
	}{
		{"nothing happens", func(processTable, *int) {}, false},
		{"it ends", func(k processTable, _ *int) { k[20] = errNoProcess }, true},
		{"its number is given to another process", func(k processTable, _ *int) { k[20] = processInfo{started: 9, parent: 10} }, true},
		{"the process between ends, and we go to the first one", func(k processTable, direct *int) { k[30], *direct = errNoProcess, 1 }, true},
		{"the one above it ends", func(k processTable, _ *int) { k[10], k[20] = errNoProcess, processInfo{started: 2, parent: 1} }, false},
		{"it cannot be looked at any more", func(k processTable, _ *int) { k[20] = errHidden }, false},
		{"what is between cannot be looked at any more", func(k processTable, _ *int) { k[30] = errHidden }, false},
		{"a circle", func(k processTable, _ *int) { k[30] = processInfo{started: 3, parent: 30} }, false},
	} {
		table, direct := processTable{10: processInfo{1, 1}, 20: processInfo{2, 10}, 30: processInfo{3, 20}}, 30
		p, err := newParent(20, table.lookUp, func() int { return direct })
		require.Equal(t, err, nil, "%s", tt.name)
		require.That(t, p.wasAncestor, "%s: %+v, %v", tt.name, p, err)
		tt.change(table, &direct)
		assert.Equal(t, p.gone(), tt.gone, "%s: gone", tt.name)
	}
}

// When a process began that could not be looked at first is learned by the first look at it.
func TestAParentThatWasHiddenAtFirst(t *testing.T) {
	table := processTable{20: errHidden, 30: processInfo{3, 20}}
	p, err := newParent(20, table.lookUp, func() int { return 30 })
	require.NoError(t, err)
	table[20] = processInfo{2, 1}
	assert.That(t, !p.gone(), "it is gone when it is seen for the first time")
	assert.That(t, !p.gone(), "it is gone when it is seen again")
	table[20] = processInfo{9, 1}
	assert.That(t, p.gone(), "it is not gone when another process has its id")
}

func TestAProcessThatIsNoAncestorIsOnlyLookedAt(t *testing.T) {
	table := processTable{20: processInfo{2, 1}, 30: processInfo{3, 1}}
	p, err := newParent(20, table.lookUp, func() int { return 30 })
	require.NoError(t, err)
	require.That(t, !p.wasAncestor, "%+v, %v", p, err)
	require.That(t, !p.gone(), "%+v, %v", p, err)
	table[20] = errNoProcess
	assert.That(t, p.gone(), "it is not gone when it has ended")
}

func TestAParentThatIsNotThereStopsTheStart(t *testing.T) {
	table := processTable{20: errNoProcess}
	for _, pid := range []int{20, os.Getpid()} {
		_, err := newParent(pid, table.lookUp, os.Getppid)
		var wrong *terminal.UsageError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "--parent-pid") || wrong.Hint() == "" || terminal.StatusOf(err) != terminal.ExitInvalid {
			t.Errorf("%d: %v", pid, err)
		}
	}
	for _, text := range []string{"0", "-1", "x", "", "1.5", "99999999999"} {
		pid, err := ParseProcessID(text)
		assert.That(t, err != nil, "%q is taken as %d", text, pid)
		assert.Equal(t, pid, 0, "%q is taken as %d", text, pid)
	}
}

func TestTheWaitForAParentEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		line  any // of the parent after 10 seconds
		gone  bool
		after time.Duration
	}{
		{"at the next look", errNoProcess, true, 11 * time.Second},
		{"with the server", processInfo{2, 1}, false, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			lookUp := func(pid int) (processInfo, error) {
				if time.Since(begun) < 10500*time.Millisecond {
					return processInfo{2, 1}, nil
				}
				return processTable{20: tt.line}.lookUp(pid)
			}
			p := require.Value(newParent(20, lookUp, func() int { return 1 }))(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if got := p.wait(ctx); got != tt.gone || time.Since(begun) != tt.after {
				t.Errorf("%s: gone %v after %v, want %v after %v", tt.name, got, time.Since(begun), tt.gone, tt.after)
			}
		})
	}
}

func TestThisProcessIsKnown(t *testing.T) {
	own, err := lookUpProcess(os.Getpid())
	require.That(t, err == nil || errors.Is(err, errHidden), "%v", err)
	if err == nil && (own.parent != os.Getppid() || own.started == 0) {
		t.Errorf("%+v, want the parent %d", own, os.Getppid())
	}
}
