package textedit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// TestWhatTakesLongToParseIsRefused: each text is of a form that keeps the parser busy for seconds, or is no text.
func TestWhatTakesLongToParseIsRefused(t *testing.T) {
	nameSet := strings.Builder{}
	for n := range maxTOMLKeys + 1 {
		fmt.Fprintf(&nameSet, "k%d = 1\n", n)
	}
	dotted := strings.Repeat("a.", 100_000) + "a"
	quoted := strings.Repeat(`"a" . `, 100_000) + "a"
	for name, text := range map[string]string{
		"a key": dotted + " = 1\n", "a quoted key": quoted + " = 1\n", "a table": "[" + dotted + "]\n", "an array of tables": "[[" + dotted + "]]\n",
		"a key in a table": "x = {" + dotted + " = 1}\n", "behind a comment": "# it's\n" + dotted + " = 1\n",
		"behind a text":  "x = '''\n'' \\'''\n" + dotted + " = 1\n",
		"behind a quote": "x = \"\\\"\"\n" + dotted + " = 1\n", "keys": nameSet.String(), "lists": "x = " + strings.Repeat("[", 100_000),
		"UTF-16": "\xff\xfea\x00", "UTF-16, big-endian": "\xfe\xff\x00a", "NUL": "a = 1\n\x00",
	} {
		_, err := TOML{}.Decode([]byte(text))
		var malformed *Malformed
		assert.That(t, errors.As(err, &malformed), "%s: %v", name, err)
	}
	for name, text := range map[string]string{
		"dots in a text": "x = \"" + dotted + "\"\n", "dots in a literal": "x = '" + dotted + "'\n",
		"dots in a comment": "# " + dotted + "\n", "dots in lines": "x = \"\"\"\n" + dotted + "\n\"\"\"\n",
		"many numbers": "x = [" + strings.Repeat("1.5, ", 10_000) + "]\n", "a mark": BOM + "a = 1\r\n",
		"dates": strings.Repeat("# x\n", 10) + "x = 1979-05-27T07:32:00.999Z\n",
	} {
		_, err := TOML{}.Decode([]byte(text))
		assert.NoError(t, err, "%s", name)
	}
}

// TestJSONHasABoundOfValues: beyond it a text is refused, before its parts are kept.
func TestJSONHasABoundOfValues(t *testing.T) {
	text := []byte(`{"a": [1, 2, 3]}`)
	_, err := JSON{MaxValues: 5}.Decode(text)
	assert.NoError(t, err, "as many as may be")
	_, err = JSON{MaxValues: 4}.Decode(text)
	var malformed *Malformed
	assert.That(t, errors.As(err, &malformed), "one more: %v", err)
}
