package guard

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// The name of a property is the caller's own text: whatever it is, the value is shown whole but for its secrets.
func TestAPropertyIsPrintedWhateverItsName(t *testing.T) {
	t.Parallel()
	m := NewMarker([]byte("key"), false)
	const token = "ghp_R8dk2Lx0PqW3mZt7YbN5cVj1HsA9fGe4UoT6"
	for _, name := range []string{
		token, "a " + token + " b", "title", "", `a"b`, "a: b", "line\nbreak", token + "\n" + token,
		"https://bob:secret-words@example.com/", strings.Repeat("x", 300),
	} {
		for _, value := range []string{"", "x", "x\n", "two words\nand a line\n", "\n", "---\n"} {
			assert.Equal(t, m.RedactProperty(name, value), value, "the value %q of the property %q", value, name)
		}
		assert.NotContains(t, m.RedactProperty(name, token+"\n"), token, "a token in the property %q", name)
	}
	for name, value := range map[string]string{"password": "sunflower-mountain", "-----BEGIN RSA PRIVATE KEY-----": "MIIEowIBAAKCAQEA7"} {
		assert.NotContains(t, m.RedactProperty(name, value), value, "the value of the property %q", name)
	}
}
