package bases_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Expressions in the words of SQL, Dataview, JavaScript, Python, templates, Notion and lodash are not evaluated in
// another meaning: the answer has the right expression, or says how it is to be had.
func TestExpressionsOfOtherLanguages(t *testing.T) {
	const least = 0.95
	text := string(require.Value(os.ReadFile("testdata/idioms.txt"))(t))
	all := 0
	right := 0
	for written := range strings.Lines(text) {
		written = strings.TrimSuffix(written, "\n")
		at := strings.LastIndex(written, " => ")
		if at < 0 || strings.HasPrefix(written, "# ") {
			continue
		}
		all++
		if why := judgeIdiom(written[:at], written[at+len(" => "):]); why != "" {
			t.Logf("%s\n\t%s", written, why)
			continue
		}
		right++
	}
	t.Logf("%d of %d expressions are answered with what is right", right, all)
	assert.That(t, all >= 120, "%d expressions", all)
	assert.That(t, float64(right) >= least*float64(all), "%d of %d expressions are answered with what is right", right, all)
}

// judgeIdiom returns why an expression is answered badly, "" if it is not.
func judgeIdiom(written, meant string) string {
	program, _, err := bases.Judge(written, shelfNames)
	var mistake *bases.Mistake
	said, isHint := strings.CutPrefix(meant, "says")
	said = strings.TrimSpace(said)
	switch {
	case err == nil && !isHint && program.Source() == meant:
		return ""
	case !errors.As(err, &mistake):
		return "is evaluated as it is"
	case isHint && strings.Contains(mistake.Reason+"; "+mistake.Hint(), said):
		return ""
	case !isHint && mistake.Right == meant:
		return ""
	}
	return "reads " + mistake.Right + " | " + mistake.Reason + " | " + mistake.Hint()
}
