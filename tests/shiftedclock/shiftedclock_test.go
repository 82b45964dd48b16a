package main

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/require"

	"vaultwicket/tests/assert"
)

func TestOverlayFitsTheStandardLibrary(t *testing.T) {
	goroot, err := setting("GOROOT")
	require.NoError(t, err)
	for arch := range traps {
		name := require.Value(writeOverlay(goroot, arch, t.TempDir()))(t)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var overlay struct{ Replace map[string]string }
		if err := json.Unmarshal(text, &overlay); err != nil || len(overlay.Replace) != 3 {
			t.Errorf("%s: %v", text, err)
		}
		for original, replacement := range overlay.Replace {
			_, err := parser.ParseFile(token.NewFileSet(), replacement, nil, 0)
			assert.That(t, err == nil, "%s for %s: %v", original, arch, err)
		}
	}
}

func TestAnotherStandardLibraryIsRefused(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"src/time/time.go", "src/syscall/syscall_linux.go"} {
		full := filepath.Join(folder, name)
		require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte("package time\n\nfunc Now() Time {\n\treturn Time{}\n}\n"), 0o600)))
	}
	if _, err := writeOverlay(folder, "amd64", t.TempDir()); err == nil || !strings.Contains(err.Error(), "0 times, want once") {
		t.Error(err)
	}
	if _, err := writeOverlay(folder, "mips", t.TempDir()); err == nil || !strings.Contains(err.Error(), "not on mips") {
		t.Error(err)
	}
}

func TestDaysAndZones(t *testing.T) {
	for _, c := range []struct{ day, zone, want string }{
		{"2028-02-29", "Pacific/Kiritimati", "2028-02-29T12:00:00+14:00"},
		{"2026-12-31T23:59:50", "America/New_York", "2026-12-31T23:59:50-05:00"},
		{"2026-03-29", "Europe/Berlin", "2026-03-29T12:00:00+02:00"},
	} {
		got, err := parseMoment(c.day, c.zone)
		assert.That(t, err == nil && got.Format(time.RFC3339) == c.want, "%s %s is %v (%v), want %s", c.day, c.zone, got, err, c.want)
	}
	for day, zone := range map[string]string{"2027-02-29": "UTC", "tomorrow": "UTC", "": "UTC", "2027-02-28": "Nowhere/City"} {
		got, err := parseMoment(day, zone)
		assert.That(t, err != nil, "%s %s is %v, want an error", day, zone, got)
	}
}
