package exec

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/tiers"
)

const noise1 = "2026-05-04 13:56:24 Loading updated app package /home/me/.config/obsidian/obsidian-1.12.7.asar\n" +
	"Your Obsidian installer is out of date. Please download the latest installer from the website.\n"

func TestCutNoise(t *testing.T) {
	tests := []struct {
		name, text, rest string
		noise            int
	}{
		{"both recorded lines", noise1 + "x\n", "x\n", 2},
		{"a main package", "2026-05-04 13:56:24 Loading main app package /a/obsidian.asar\nx", "x", 1},
		{"loaded instead of loading", "2026-05-04 13:56:24 Loaded main app package /a\n2026-05-04 13:56:24 Loaded updated app package /b\nx", "x", 2},
		{"a leading carriage return", "\r2026-05-04 13:56:24 Loading updated app package C:\\o.asar\r\nx", "x", 1},
		{"the sentence on two lines", "Your Obsidian installer is out of date.\nPlease download the latest installer\nx", "x", 2},
		{"the updater", "2026-05-04 13:56:24 Ignored: Error: net::ERR_FAILED\nIgnored: Error: y\nx", "x", 2},
		{"only at the start", "x\n" + noise1, "x\n" + noise1, 0},
		{"an entry of a diary is no noise", "2026-05-04 13:56:24 Loading the car\n", "2026-05-04 13:56:24 Loading the car\n", 0},
		{"a time that is none", "2026-05-04T13:56:24 Loading main app package\n", "2026-05-04T13:56:24 Loading main app package\n", 0},
		{"a word that goes on", "Loading main app packages\n", "Loading main app packages\n", 0},
		{"nothing", "", "", 0},
		{"no more than a client prints", strings.Repeat("Ignored: Error: x\n", maxNoise+1), "Ignored: Error: x\n", maxNoise},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rest, noise := cutNoise(tt.text, noisyLine)
			if rest != tt.rest || len(noise) != tt.noise {
				t.Errorf("rest %q, noise %q", rest, noise)
			}
		})
	}
}

func TestWarningsOfTheRuntime(t *testing.T) {
	lines := []string{
		"[4711:1120/135624.123456:ERROR:bus.cc(407)] Failed to connect to the bus",
		"(electron) 'x' is deprecated", "(node:4711) Warning: x",
	}
	for _, line := range lines {
		if !noisyErrorLine(line) || noisyLine(line) {
			t.Errorf("%q: noise on stderr %v, on stdout %v", line, noisyErrorLine(line), noisyLine(line))
		}
	}
	if noisyErrorLine("[draft] ERROR: x") {
		t.Error("a line of a person was taken for noise")
	}
}

func TestCutBlank(t *testing.T) {
	for text, want := range map[string]string{"\nx\n": "x\n", "\r\nx": "x", "\n": "\n", "": "", "x\n\n": "x\n\n", "\n\nx": "\nx"} {
		if got := cutBlank(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseRelease(t *testing.T) {
	good := map[string]string{
		"1.12.7": "1.12.7", "1.12.7 (installer 1.12.4)": "1.12.7 1.12.4", "1.13.7 (installer 1.13.4)": "1.13.7 1.13.4",
	}
	for line, want := range good {
		r, ok := parseRelease(line)
		var got []string
		if ok {
			got = append(got, r.app.String())
			if r.installer != (tiers.Version{}) {
				got = append(got, r.installer.String())
			}
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q", line, got)
		}
	}
	for _, line := range []string{"", "1.12", "v1.12.7", "1.12.7.1", "1.12.7-beta", " 1.12.7", "1.12.7 (installer 1.12)", "1.12.7 (installer 1.12.7", "1..7", "1.12.7\n1.12.8", "Obsidian 1.12.7"} {
		if _, ok := parseRelease(line); ok {
			t.Errorf("%q was taken for a version", line)
		}
	}
}
