package change

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// tree is a vault in memory.
type tree map[disk.Path]string

// apply makes a step, which has to fit.
func (v tree) apply(t require.T, s Step) {
	t.Helper()
	text, there := v[s.source()]
	require.Equal(t, there, s.Before.Exists,
		"step %v of %q to %q meets %q in %v", s.Path, s.Before.Text.ForProgram(), s.After.Text.ForProgram(), text, v)
	require.Equal(t, text, string(s.Before.Text.ForProgram()),
		"step %v of %q to %q meets %q in %v", s.Path, s.Before.Text.ForProgram(), s.After.Text.ForProgram(), text, v)
	delete(v, s.source())
	if !s.After.Exists {
		return
	}
	_, taken := v[s.Path]
	require.That(t, !taken, "step to %v, where there is %q", s.Path, v[s.Path])
	v[s.Path] = string(s.After.Text.ForProgram())
}

// Whatever steps are made one after the other, the merged ones have the same result, and concern each file once.
func TestMergedStepsHaveTheSameResult(t *testing.T) {
	var paths []disk.Path
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md"} {
		p, err := disk.ParsePath(name)
		require.NoError(t, err)
		paths = append(paths, p)
	}
	rapid.Check(t, func(t *rapid.T) {
		start := tree{}
		for _, p := range paths {
			if rapid.Bool().Draw(t, "there") {
				start[p] = "old " + p.String()
			}
		}
		now := maps.Clone(start)
		var steps []Step
		for n := range rapid.IntRange(0, 12).Draw(t, "steps") {
			p := rapid.SampledFrom(paths).Draw(t, "path")
			text, there := now[p]
			s := Step{Path: p, After: Existing(fmt.Appendf(nil, "%d", n))}
			if there {
				s.Before = Existing([]byte(text))
				switch rapid.IntRange(0, 2).Draw(t, "kind") {
				case 0:
					s.After = FileState{}
				case 1:
					to := rapid.SampledFrom(paths).Draw(t, "to")
					if _, taken := now[to]; taken {
						continue
					}
					s.From, s.Path = p, to
					if rapid.Bool().Draw(t, "same") {
						s.After = s.Before
					}
				}
			}
			now.apply(t, s)
			steps = append(steps, s)
		}
		merged, err := mergeSteps(steps)
		require.NoError(t, err)
		again := maps.Clone(start)
		for _, s := range merged {
			again.apply(t, s)
		}
		require.That(t, maps.Equal(again, now), "merged %v, one by one %v", again, now)
		sources, targets := map[disk.Path]int{}, map[disk.Path]int{}
		for _, s := range merged {
			if s.Before.Exists {
				sources[s.source()]++
			}
			if s.After.Exists {
				targets[s.Path]++
			}
		}
		for p, n := range sources {
			require.Equal(t, n, 1, "%v is changed %d times", p, n)
			require.That(t, targets[p] <= 1, "%v is changed %d times", p, n)
		}
	})
}
