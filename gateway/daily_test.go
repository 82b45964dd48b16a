package gateway

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// onDay is a change of a configuration: it is noon of that day.
func onDay(day string) func(c *Config) {
	return func(c *Config) {
		getenv := c.Getenv
		c.Getenv = func(name string) string {
			if name == date.NowVariable {
				return day + "T12:00:00Z"
			}
			return getenv(name)
		}
	}
}

// A plain path of today's note needs no question: one start of the app reads the note.
func TestAPlainPathOfTheDailyNoteIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		``:                            "2026-11-22.md", // without the file
		`{}`:                          "2026-11-22.md",
		`{"folder": "Daily Notes/A"}`: "Daily Notes/A/2026-11-22.md",
		`{"format": "YYYY/MM-MMMM/YYYY-MM-DD-dddd", "template": "T"}`: "2026/11-November/2026-11-22-Sunday.md",
		`{"folder": "D", "format": "[day] DDDD"}`:                     "D/day 326.md",
	} {
		f := newFixture(t, onDay("2026-11-22")).app(versionLine, "vault=Work read path="+want+` => text\n`,
			"vault=Work daily:path => "+want+`\n`) // where it has a name of a language
		f.daily(settings)
		if settings == "" {
			require.NoError(t, os.Remove(filepath.Join(f.vault, filepath.FromSlash(dailySettings))))
		}
		got := f.gateway.Do(context.Background(), Request{Command: "daily:read"})
		require.Equal(t, got.Stdout, "text\n", "%s: %+v", settings, got.Error)
		assert.Equal(t, got.Path, want, settings)
		_, own := f.called()
		assert.Equal(t, len(own), 0, "%s: the embedded program was asked %q", settings, own)
	}
}

// Settings that give no plain path are for the embedded program to read.
func TestAnyOtherPathOfTheDailyNoteIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		`{"folder": "Täglich"}`, `{"folder": "/Daily"}`, `{"folder": "Daily/"}`, `{"folder": "a/../b"}`, `{"folder": ".x"}`, `{"folder": " x"}`,
		`{"folder": "a\\b"}`, `{"folder": "a//b"}`, `{"format": "YYYY:MM"}`, `{"format": 1}`, `{`, "\xff",
	} {
		f := newFixture(t, onDay("2026-11-22"))
		f.daily(settings)
		path, isPlain := f.gateway.vaults[0].plainDaily()
		assert.That(t, !isPlain, "%s gives the path %q", settings, path)
	}
	f := newFixture(t, nil)
	f.daily(`{"folder": "` + string(make([]byte, maxDailySettings)) + `"}`)
	_, isPlain := f.gateway.vaults[0].plainDaily()
	assert.That(t, !isPlain, "settings of more than %d bytes are read", maxDailySettings)
}
