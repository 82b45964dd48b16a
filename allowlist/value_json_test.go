package allowlist

import (
	"encoding/json"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A value that was written and read again is the same, byte for byte.
func TestAValueSurvivesJSON(t *testing.T) {
	t.Parallel()
	given := Params{
		"text": Text("a\n\"b\" <c> \u2028 🙂"), "empty": Text(""), "number": Number("1.50"), "large": Number("123456789012345678901"),
		"on": Flag(true), "off": Flag(false), "list": List([]string{"a", "<b>", "\u2028"}), "none": List([]string{}),
	}
	data := require.Value(json.Marshal(given))(t)
	var read Params
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, len(read), len(given))
	for name, v := range given {
		assert.Equal(t, read[name], v, "%s in %s", name, data)
	}
}

func TestWhatIsNoValueIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `null`, `[1]`, `nul`, `-`} {
		var v Value
		err := json.Unmarshal([]byte(text), &v)
		assert.That(t, err != nil || v == Value{}, "%s is %+v", text, v)
	}
	_, err := json.Marshal(Value{})
	assert.That(t, err != nil, "a value that is not given has JSON")
}
