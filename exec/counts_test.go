package exec

import (
	"slices"
	"sync"
	"testing"

	"vaultwicket/exec/frame"
	"vaultwicket/tests/assert"
)

// counted is what the embedded program prints on standard error while it works.
const counted = "vaultwicket-progress: read 1 3\na remark\nvaultwicket-progress: read 3 3\nvaultwicket-progress: changed 1 1\n"

// TestCountsAreToldAndAreNoPartOfTheAnswer: by a process of one call and by a worker.
func TestCountsAreToldAndAreNoPartOfTheAnswer(t *testing.T) {
	oneShot, p, _ := embeddedRunner(t, Config{}, script{Parts: []part{{Argv: []string{"--facts", "read", "path=counts.md"}, Err: []byte(counted), Exit: 1}}})
	resident, q, _ := residentRunner(t, Config{}, "worker")
	for name, run := range map[string]struct {
		runner  *Runner
		program Program
	}{"one call": {oneShot, p}, "worker": {resident, q}} {
		var mu sync.Mutex
		var told []frame.Progress
		ctx := frame.WithProgress(t.Context(), func(c frame.Progress) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, c)
		})
		out, err := run.runner.Run(ctx, reads("counts.md"), run.program)
		assert.That(t, err == nil && out.Stderr == "a remark\n", "%s: %q, %v", name, out.Stderr, err)
		mu.Lock()
		want := []frame.Progress{{Done: 1, Total: 3, Of: frame.FilesRead}, {Done: 3, Total: 3, Of: frame.FilesRead}, {Done: 1, Total: 1, Of: frame.FilesChanged}}
		assert.That(t, slices.Equal(told, want), "%s: told %v, want %v", name, told, want)
		mu.Unlock()
	}
}
