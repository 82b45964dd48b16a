package work

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"vaultwicket/gateway"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/rig"
)

const (
	leastMistakes = 80
	leastRight    = 0.9 // of the first suggestions
)

// TestTheFirstSuggestionIsRight sends each mistake over MCP.
func TestTheFirstSuggestionIsRight(t *testing.T) {
	assert.That(t, len(mistakes) >= leastMistakes, "the table has %d mistakes, want %d", len(mistakes), leastMistakes)
	r := rig.New(t, kitchen)
	client := r.Stdio(false, "")
	right := 0
	for _, m := range mistakes {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(m.call), &arguments); err != nil {
			t.Fatalf("%s: %v", m.call, err)
		}
		var result gateway.Result
		client.Tool("obsidianCli", arguments, &result)
		if result.OK || result.Error == nil {
			t.Errorf("%s is no mistake", m.call)
			continue
		}
		if suggests(result, m.mend) {
			right++
		} else {
			t.Logf("%s\n\twant %s\n\tgot  %s: %s\n\thint %s", m.call, m.mend, result.Error.Code, result.Error.Message, result.Error.Hint)
		}
		if said := rig.JSON(t, result); strings.Contains(said, "Bread plan") && !strings.Contains(m.call, "Bread plan") || strings.Contains(said, "bakery") {
			t.Errorf("%s tells what is hidden: %s", m.call, said)
		}
	}
	share := float64(right) / float64(len(mistakes))
	t.Logf("the first suggestion is right for %d of %d mistakes, %.1f %%", right, len(mistakes), 100*share)
	assert.That(t, share >= leastRight, "the first suggestion is right for %.1f %% of the mistakes, want %.0f %%", 100*share, 100*leastRight)
	for path, text := range kitchen {
		assert.Equal(t, r.Read(path), text, "a mistake changed %s", path)
	}
}

var quotedText = regexp.MustCompile(`"([^"]*)"`)

// suggests reports whether a mend is the first suggestion of a result: the first text in
// quotation marks of the hint, or after the question for it in the message, or a part
// of the hint.
func suggests(result gateway.Result, mend string) bool {
	hint := result.Error.Hint
	if _, asked, found := strings.Cut(result.Error.Message, "did you mean "); found && hint == "" {
		hint = asked
	}
	if !strings.HasPrefix(mend, `"`) {
		return strings.Contains(hint, mend) || hint == "" && strings.Contains(result.Error.Message, mend)
	}
	if hint == "" {
		_, hint, _ = strings.Cut(result.Error.Message, "want ")
	}
	first := quotedText.FindString(hint)
	return first == mend
}
