// Package packaging checks what is shipped with the program: the skill for agents and
// the manifests of plugins and extensions.
package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// skill returns the keys before the text of the skill, and the text.
func skill(t *testing.T) (keys map[string]string, body string) {
	t.Helper()
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "skills", "vaultwicket", "SKILL.md")))(t)
	head, body, found := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
	require.That(t, found, "there is no frontmatter")
	keys = map[string]string{}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		keys[key] = value
	}
	return keys, body
}

// The bounds are those of the specification of agent skills:
// https://agentskills.io/specification
func TestTheSkillFitsItsFormat(t *testing.T) {
	keys, body := skill(t)
	for key := range keys {
		assert.That(t, strings.Contains(" name description license compatibility metadata allowed-tools ", " "+key+" "), "there is no key %q", key)
	}
	if keys["name"] != "vaultwicket" || len(keys["description"]) < 50 || len(keys["description"]) > 1024 || len(keys["compatibility"]) > 500 {
		t.Errorf("the keys are %q", keys)
	}
	lines := strings.Count(body, "\n")
	assert.That(t, lines <= 500, "the text has %d lines and %d bytes", lines, len(body))
	assert.That(t, len(body) <= 16_000, "the text has %d lines and %d bytes", lines, len(body))
}

// What a skill allows is run without asking: nothing that changes something, and nothing
// that reads notes.
func TestTheSkillAllowsNothingByItself(t *testing.T) {
	keys, _ := skill(t)
	for _, allowed := range strings.Fields(strings.ReplaceAll(keys["allowed-tools"], "Bash(vaultwicket ", "Bash(vaultwicket_")) {
		switch strings.TrimSuffix(strings.TrimPrefix(allowed, "Bash(vaultwicket_"), ":*)") {
		case "commands", "explain", "dry-run", "doctor":
		default:
			t.Errorf("%s is allowed", allowed)
		}
	}
}

var (
	lineOfSkill = regexp.MustCompile("`(vaultwicket (?:run|dry-run)(?: --json)? [^`]+)`")
	word        = regexp.MustCompile(`'[^']*'|\S+`)
	closedFlags = regexp.MustCompile(`--(tier|allow-|confirm|enabled|config|profile)`)
)

func TestTheSkillNamesRealCommands(t *testing.T) {
	_, body := skill(t)
	lines := lineOfSkill.FindAllStringSubmatch(body, -1)
	for _, line := range lines {
		words := word.FindAllString(line[1], -1)[2:]
		for i, w := range words {
			words[i] = strings.Trim(w, "'")
		}
		if words[0] == "--json" {
			words = words[1:]
		}
		if _, err := allowlist.ParseWords(words[0], words[1:]); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
		if closedFlags.MatchString(line[1]) {
			t.Errorf("%s changes permissions", line[1])
		}
	}
	assert.That(t, len(lines) >= 15, "only %d command lines were found", len(lines))
}

// version is that of the program, read from its source.
func version(t *testing.T) string {
	t.Helper()
	text := require.Value(os.ReadFile(filepath.Join("..", "..", "internal", "release", "version.go")))(t)
	found := regexp.MustCompile(`const Version = "([^"]+)"`).FindSubmatch(text)
	require.That(t, found != nil, "the source names no version")
	return string(found[1])
}

func TestManifests(t *testing.T) {
	for name, places := range map[string][]string{
		".claude-plugin/plugin.json":             {"version"},
		".claude-plugin/marketplace.json":        {"metadata", "version"},
		"packaging/gemini/gemini-extension.json": {"version"},
	} {
		value := decode(t, filepath.Join("..", "..", filepath.FromSlash(name)))
		text := harness.JSON(t, value)
		for len(places) > 1 {
			value, _ = value[places[0]].(map[string]any)
			places = places[1:]
		}
		if value[places[0]] != version(t) {
			t.Errorf("%s is of version %v, the program of %s", name, value[places[0]], version(t))
		}
		assert.NotContains(t, text, "--allow-mutations", "%s allows something by itself", name)
		assert.NotContains(t, text, `"trust"`, "%s allows something by itself", name)
	}
}
