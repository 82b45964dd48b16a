package exec

import (
	"strings"
	"testing"
)

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
			rest, noise := cutNoise(tt.text, isNoise)
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
		if !isErrorNoise(line) || isNoise(line) {
			t.Errorf("%q: noise on stderr %v, on stdout %v", line, isErrorNoise(line), isNoise(line))
		}
	}
	if isErrorNoise("[draft] ERROR: x") {
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
