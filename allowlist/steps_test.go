package allowlist

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// A second statement of what single commands have of their own, by their names: a row
// that gets one of these fields has to be added here.
func TestWhatSingleCommandsHave(t *testing.T) {
	for trait, test := range map[string]struct {
		has   func(r *row) bool
		names string
	}{
		"access to read":       {func(r *row) bool { return r.access == AccessToRead }, "copy base:create bookmark"},
		"access to write":      {func(r *row) bool { return r.access == AccessToWrite }, "vault:replace"},
		"access to move":       {func(r *row) bool { return r.access == AccessToMove }, "move"},
		"reads the daily note": {func(r *row) bool { return slices.Contains(r.steps, rowStep{step: StepReadDaily}) }, "daily:read"},
		"makes if absent":      {func(r *row) bool { return slices.Contains(r.steps, rowStep{StepAbsent, "overwrite"}) }, "create"},
		"any step":             {func(r *row) bool { return len(r.steps) > 0 }, "daily:read create"},
		"names a new note":     {func(r *row) bool { return r.newNote != "" }, "create"},
		"prints a note":        {func(r *row) bool { return r.printsNote }, "daily:read read"},
		"random":               {func(r *row) bool { return r.random }, "random random:read"},
		"own answer":           {func(r *row) bool { return r.ownAnswer != AnswersNothing }, "help undo:list approvals"},
	} {
		var names []string
		for _, part := range table {
			for i := range part.rows {
				if test.has(&part.rows[i]) {
					names = append(names, part.rows[i].name)
				}
			}
		}
		want := strings.Fields(test.names)
		assert.That(t, slices.Equal(names, want), "%s: %v, want %v", trait, names, want)
	}
}

func TestSteps(t *testing.T) {
	for line, want := range map[string][]Step{
		"daily:read": {StepReadDaily}, "create path=A.md": {StepAbsent}, "create name=A": {StepLocateNew, StepAbsent},
		"create name=A overwrite": {StepLocateNew}, "create path=A.md overwrite": nil, "read file=A": {StepLocate}, "read path=A.md": nil,
		"daily:append content=x": nil, "base:query file=A": nil, "bookmark file=A.md": nil,
	} {
		words := strings.Fields(line)
		call, err := ParseWords(words[0], words[1:])
		require.NoError(t, err)
		var got []Step
		for s := Step(0); s <= StepAbsent+1; s++ {
			if call.HasStep(s) {
				got = append(got, s)
			}
		}
		assert.That(t, slices.Equal(got, want), "%s: %v, want %v", line, got, want)
	}
	for s := Step(0); s <= StepAbsent+1; s++ {
		assert.That(t, !(Call{}).HasStep(s), "the zero call takes the step %d", s)
	}
	var zero Call
	if zero.PathAccess() != AccessByEffect || zero.PrintsNote() || zero.IsDaily() || zero.IsRandom() || zero.OwnAnswer() != AnswersNothing {
		t.Error("the zero call has something of a command")
	}
}
