package guard

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestCodesAreHiddenNextToTheirNames has what opens an account without a password, and is restored to the byte.
func TestCodesAreHiddenNextToTheirNames(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	words := "abandon ability able about above absent absorb abstract absurd abuse access accident"
	for text, want := range map[string]int{
		"PIN: 4711": 1, "The PIN is 4711.": 1, "Pin code: 47110": 1, "**PIN**: 471108\n": 1, "PUK: 12345678": 1,
		"---\npin: 4711\n---\n": 1, "PIN (card): 4711": 1, "- PIN = `4711`": 1, "PIN: 2024": 1,
		"Recovery code: a1b2c-d3e4f": 1, "Recovery codes:\n\na1b2c-d3e4f\n9k8j7-h6g5f\n": 2,
		"## Recovery codes\n\n- a1b2c-d3e4f\n- [x] `9k8j7-h6g5f`\n\nThe text.\n":          2,
		"## Backup codes\n\n1234 5678\n8765 4321\n":                                       2,
		"### Backup codes (10)\n```\n12345678 87654321\n11223344 44332211\n```\n":         4,
		"2FA backup codes: 1234-5678, 8765-4321":                                          2,
		"---\nrecovery_codes: [a1b2c-d3e4f, 9k8j7-h6g5f]\n---\n":                          2,
		"BitLocker recovery key: 123456-234567-345678-456789-567890-678901-789012-890123": 1,
		"> Recovery codes\n> a1b2c-d3e4f\n":                                               1,
		"Seed phrase: " + words:                                                           1, "Seed:\n" + words + "\n": 1, "mnemonic: \"" + words + "\"": 1,
		"recovery phrase is " + words + "\n": 1, "## Seed phrase\n\n" + words + "\n": 1,
		"TOTP secret: JBSWY3DPEHPK3PXP": 1, "2FA: JBSWY3DPEHPK3PXP": 1, "OTP key = `JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP`": 1,
		"export DB_PASSWORD=sunflower": 1, "PGPASSWORD='sunflower' psql": 1,

		"pin: 2024": 0, "pin 4711": 0, "PIN: 12": 0, "PIN: 4711.5": 0, "PIN: 2026-11-20": 0, "opinion: 4711": 0,
		"spin: 4711": 0, "PIN: 123456789": 0, "pinned: 4711": 0,
		"Recovery code in src/recovery.go": 0, "Backup codes\n\nThey are in the safe.\n": 0,
		"Backup code: 2026-11-20": 0, "backup code review, item 12345678": 0,
		"Recovery codes:\n- boats\n- sails\n":                    0,
		"Seed: " + strings.Join(strings.Fields(words)[:11], " "): 0, "Seed phrase: a list of words": 0, "2FA: ENABLED": 0, "TOTP: see the app": 0,
		"DB_PASSWORD=changeme": 0, "PASSWORD=$OTHER": 0, "PASSWORD=\"${OTHER}\"": 0,
	} {
		shown := m.Redact([]byte(text))
		assert.Equal(t, len(Marks(shown)), want, "%q is shown as %q", text, shown)
		back, err := m.Restore(nil, []byte(text))(shown)
		require.Equal(t, err, nil, "%q became %q and %q", text, shown, back)
		require.Equal(t, string(back), text, "%q became %q and %q", text, shown, back)
	}
}
