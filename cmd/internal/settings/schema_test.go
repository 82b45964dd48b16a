package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"pgregory.net/rapid"
)

// editorSchema returns the schema as an editor has it: from its JSON.
func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text := require.Value(json.Marshal(configSchema()))(t)
	compiler := jsonschema.NewCompiler()
	compiler.ExtractAnnotations = true
	require.NoError(t, compiler.AddResource("schema.json", bytes.NewReader(text)))
	schema := require.Value(compiler.Compile("schema.json"))(t)
	defaults := 0
	for name, p := range schema.Properties {
		for p.Ref != nil {
			p = p.Ref
		}
		if p.Default != nil {
			defaults++
			assert.NoError(t, p.Validate(p.Default), "the default of %s", name)
		}
	}
	assert.That(t, defaults >= 10, "only %d defaults", defaults)
	return schema
}

// judge returns what the schema and the program have against a file.
func judge(t *testing.T, schema *jsonschema.Schema, content string) (byProgram []problem, bySchema error) {
	t.Helper()
	var value map[string]any
	require.NoError(t, toml.Unmarshal([]byte(content), &value))
	text, err := json.Marshal(value) // as an editor sees it
	require.NoError(t, err)
	var instance any
	require.NoError(t, json.Unmarshal(text, &instance))
	_, byProgram = parseDocument([]byte(content))
	return byProgram, schema.Validate(instance)
}

func TestTheSchemaAndTheProgramAgree(t *testing.T) {
	schema := editorSchema(t)
	vault := func(lines string) string { return "[[vaults]]\n" + lines + "\n" }
	right := []string{
		"", initialConfig(), threeVaults, "vaults = []", "profiles = {}", `cli = "` + drive + `/usr/bin/obsidian"`,
		`timeout = "1s"`, `timeout = "55s"`, `timeout = "1.5s"`, `timeout = "1500ms"`, `timeout = "55000ms"`, `timeout = "54.999s"`, `timeout = "55.0s"`,
		`max-output = "1024"`, `max-output = "1048576"`, `max-output = "1KiB"`, `max-output = "1024KiB"`,
		`max-output = "1MiB"`, `max-output = "1029"`, `max-output = "99999"`,
		`min-cli-version = "1.12.2"`, `min-cli-version = "1.12.10"`, `min-cli-version = "1.13.0"`, `min-cli-version = "2.0.0"`, `min-cli-version = "10.1.100"`,
		`min-cli-version = "1.13"`, `min-cli-version = "2.0"`, `min-cli-version = "v1.12.7"`,
		`min-cli-version = "1.13.0-beta.1"`, `min-cli-version = "1.12.3-rc.1"`,
		"rate = 0", "rate = 100000", "max-parallel = 1", "max-parallel = 64", "disable = []", `enable-only = ["daily:read"]`,
		"profile = \"a\"\n[profiles.a]\ntier = \"v3\"", vault(`name = "ä b"`), vault(`id = "0123456789abcdef"`), vault(`folder = "` + drive + `/x"`),
		"[notify]", "[notify]\nntfy = \"https://ntfy.sh/topic\"\ncommand = [\"" + drive + "/bin/say\", \"-v\"]",
		"[notify]\nwebhook = \"http://127.0.0.1:80/x\"\nwebhook-secret-file = \"" + drive + "/x\"",
		vault("name = \"a\"\n[vaults.access]\n\"a b/c.md\" = \"none\""),
	}
	for name, sample := range samples {
		if name != "profile" {
			right = append(right, name+" = "+sample.toml, "[profiles.p]\n"+name+" = "+sample.toml)
		}
	}
	for _, content := range right {
		byProgram, bySchema := judge(t, schema, content)
		assert.That(t, bySchema == nil, "%s\nis right; the schema has %v, the program %v", content, bySchema, byProgram)
		assert.That(t, byProgram == nil, "%s\nis right; the schema has %v, the program %v", content, bySchema, byProgram)
	}
	wrong := []string{
		"teir = 1", "rate = 1.5", "rate = -1", "rate = 100001", `rate = "1"`, "max-parallel = 0", "max-parallel = 65",
		"tier = 1", `tier = "v4"`, `tier = "restricted"`,
		"enabled = 1", `allow-mutations = "true"`, `confirm = "always"`, `backend = "app"`, `cli = ""`, `cli = "bin/obsidian"`,
		`timeout = "0s"`, `timeout = "56s"`, `timeout = "55.1s"`, `timeout = "15"`, `timeout = "999ms"`, `timeout = "55001ms"`,
		`max-output = "1"`, `max-output = "1023"`, `max-output = "1048577"`, `max-output = "2MiB"`,
		`max-output = "1025KiB"`, `max-output = "0KiB"`, `max-output = "32KB"`,
		`min-cli-version = "1.12"`, `min-cli-version = "2"`, `min-cli-version = "1.12.2-beta.1"`,
		`min-cli-version = "1.13.0 beta"`, `min-cli-version = "latest"`, `min-cli-version = "1.12.1"`,
		`min-cli-version = "0.99.0"`, `min-cli-version = "1.9.9"`,
		`disable = "read"`, "disable = [1]", `disable = ["reed"]`, `enable-only = [""]`, `enable-only = ["read,files"]`,
		"profiles = 1", "[profiles]\na = 1", "[profiles.\"\"]", "[profiles.a]\nprofile = \"a\"", "[profiles.a]\nteir = 1", "[profiles.a]\nvaults = []",
		"vaults = 1", "vaults = [1]", "[vaults]\nname = \"a\"", vault(""), vault(`tier = "v0"`), vault(`nmae = "a"`),
		vault(`name = ""`), vault(`name = "a/b"`), vault("name = 1"),
		vault(`id = "12"`), vault(`folder = "x"`), vault("name = \"a\"\ntier = \"v4\""), vault("name = \"a\"\nallow-mutations = true"),
		vault("name = \"a\"\n[vaults.access]"), vault("name = \"a\"\n[vaults.access]\n\"/\" = \"w\""), vault("name = \"a\"\naccess = \"r\""),
		vault("name = \"a\"\n[vaults.access]\nNote.md = \"r\""),
		"notify = true", "[notify]\nnfty = \"x\"", "[notify]\nntfy = 1", "[notify]\nntfy = \"\"",
		"[notify]\nntfy = \"ftp://x/y\"", "[notify]\nntfy = \"https://x/y?auth=1\"",
		"[notify]\nwebhook = \"https://x/y\"", "[notify]\nwebhook-secret-file = \"" + drive + "/x\"", "[notify]\nntfy-token-file = \"" + drive + "/x\"",
		"[notify]\nntfy = \"https://x/y\"\nntfy-token-file = \"x\"", "[notify]\ncommand = []",
		"[notify]\ncommand = [\"say\"]", "[notify]\ncommand = \"/bin/say\"",
	}
	for _, content := range wrong {
		byProgram, bySchema := judge(t, schema, content)
		assert.That(t, bySchema != nil, "%s\nis wrong; the schema has %v, the program %v", content, bySchema, byProgram)
		assert.That(t, byProgram != nil, "%s\nis wrong; the schema has %v, the program %v", content, bySchema, byProgram)
	}
}

func TestTheFormsTakeNothingThatTheProgramRefuses(t *testing.T) {
	for _, row := range table {
		if row.form.pattern == "" || row.name == "cli" || row.name == "checkpoints" { // what is absolute is another thing on each system
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringMatching(row.form.pattern).Draw(t, row.name)
			assert.NoError(t, row.set(&Settings{}, text), "%s = %q fits the schema", row.name, text)
		})
	}
}

func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n" + generatedNote)
	b.WriteString("Every setting has one name: the key in `vaultwicket/config.toml` of your config folder, the flag `--NAME` of the [commands](cli.md) that have settings, and a variable. A flag overrides the\n" +
		"variable, the variable the chosen profile, and the profile the rest of the file. `vaultwicket config show` says where each value comes from;\n" +
		"`vaultwicket config schema` prints the schema of the file for editors. `VAULTWICKET_CONFIG` names another file, and `none` means no file.\n\n")
	b.WriteString(testenv.TableHead("setting", "variable", "default", "values", "", "in a running server"))
	for _, s := range table {
		b.WriteString(testenv.TableRow(testenv.TableCode(s.name), testenv.TableCode(VariableOf(s.name)), testenv.TableCode(s.fallback),
			valuesOf(s), s.usage, whenTaken(s)))
	}
	b.WriteString("\nA running server reads the file again when it changes, and on SIGHUP. It applies stricter values at once and looser ones only after a restart.\n")
	b.WriteString("\n## [[vaults]]\n\nOne table per vault. A call that names no vault uses the first one. A table needs a name, an id or a folder.\n\n" +
		testenv.TableHead("key", "values", ""))
	for _, key := range vaultKeys() {
		b.WriteString(testenv.TableRow(testenv.TableCode(key.name), vaultValues(key.form), key.about))
	}
	b.WriteString("\n## [vaults.access]\n\nThe keys are paths of folders and notes, and the values are levels:\n\n" +
		testenv.TableHead("level", "what agents may do with a note"))
	for _, level := range DescribeLevels() {
		b.WriteString(testenv.TableRow(testenv.TableCode(level[0]), level[1]))
	}
	b.WriteString("\n## [[flow]]\n\nRules about where text may go, see [permissions](permissions.md#flow). Tables `[[agents.NAME.flow]]` apply to one agent, those in the managed settings to everybody. All of them apply together.\n\n" +
		testenv.TableHead("key", ""))
	for _, key := range keyDescriptions(flowKeys()) {
		b.WriteString(testenv.TableRow(testenv.TableCode(key[0]), key[1]))
	}
	b.WriteString("\n## Content rules\n\nThese rules look at the text of notes. `shadow` and `exceptions` can name each of them. `explain`, and `dry-run` in your terminal, have a line for each that is on, and the policy view of the local page shows what each did. See [permissions](permissions.md#exceptions-and-test-mode).\n\n" +
		testenv.TableHead("rule", "looks at", "settings"))
	for _, rule := range (policy.Policy{}).TextRules() {
		b.WriteString(testenv.TableRow(testenv.TableCode(rule.Name), rule.Looks, "`"+strings.Join(rule.Settings, "`, `")+"`"))
	}
	b.WriteString("\n## [profiles.NAME]\n\nAny of the settings above except `profile`. They override the rest of the file when the profile is chosen.\n")
	b.WriteString("\n## [agents.NAME]\n\nThe rights of one agent. They can only restrict those of the file and its vaults. A server runs for the agent of the setting `agent`. If that is empty and agents are defined,\n" +
		"it runs for the agent `default`; if that one is not defined, nothing is allowed. Other commands without `agent` run for you, the owner. A name has 1 to 64 of `a` to `z`, `0` to `9`, `.`, `-` and `_`.\n\n" +
		testenv.TableHead("key", ""))
	for _, key := range keyDescriptions(agentKeys()) {
		b.WriteString(testenv.TableRow(testenv.TableCode(key[0]), key[1]))
	}
	b.WriteString("\n## [notify]\n\nHow a server tells you that a question waits: see [Permissions and approvals](permissions.md#approvals). It cannot be in a profile, and is read when a server starts.\n\n" +
		testenv.TableHead("key", ""))
	for _, key := range keyDescriptions(notifyKeys()) {
		b.WriteString(testenv.TableRow(testenv.TableCode(key[0]), key[1]))
	}
	b.WriteString("\n## Managed settings\n\nThe administrator of a machine can set limits for everybody on it, in `/etc/vaultwicket/config.toml` (macOS: `/Library/Application Support/vaultwicket/config.toml`, Windows:\n" +
		"`vaultwicket\\config.toml` in the folder ProgramData). Flags, variables, profiles, the user's file, its vaults and its agents can only be stricter; `config show` says which values come from here. The file and every folder on\n" +
		"its path must belong to root (on Windows to administrators) and be writable by nobody else. If not, or if the file is invalid, vaultwicket does not start. It can have these keys:\n\n" +
		testenv.TableHead("key", ""))
	for _, key := range keyDescriptions(managedKeys()) {
		b.WriteString(testenv.TableRow(testenv.TableCode(key[0]), key[1]))
	}
	b.WriteString("\nThese limits bind vaultwicket, not other programs of the user, such as an editor. `access` also applies if a folder inside a vault, or one that contains vaults, is served as a vault: `\"Private\" = \"none\"` hides `Notes/Private` from a server for `Notes/Private` and from one for the folder that contains `Notes`. A vault is recognized by its folder `.obsidian`, from the app's list, or from the settings. A user who can move or copy files can take them to a place without a rule; only the level of `/` applies everywhere.\n")
	b.WriteString("\n## How sources are combined\n\nFlags, variables, a profile and the file are yours: the first of these that has a setting decides it. Managed settings, vaults and agents only restrict: what is in force is what\n" +
		"all of them allow. The same goes for what a running server takes from a changed file. The order does not matter.\n\n" +
		testenv.TableHead("setting", "of two values applies"))
	for _, m := range policy.Meetings() {
		if !m.Fact {
			b.WriteString(testenv.TableRow(testenv.TableCode(m.Name), m.Meets))
		}
	}
	b.WriteString("\nFacts about a session or a call are not settings, but they are combined by similar rules. An unknown fact counts as the strictest one.\n\n" +
		testenv.TableHead("fact about a call", "of two values applies"))
	for _, m := range policy.Meetings() {
		if m.Fact {
			b.WriteString(testenv.TableRow(m.Name, m.Meets))
		}
	}
	return b.String()
}

// valuesOf says what the form of a setting says of its values.
func valuesOf(s setting) string {
	switch {
	case s.kind == boolean:
		return "`true`, `false`"
	case s.kind == list && s.form.choices != nil:
		return "a list of `" + strings.Join(s.form.choices, "`, `") + "`"
	case s.kind == list && s.form.pattern != "":
		return "a list of text"
	case s.kind == list:
		return "a list of names of commands"
	case s.kind == numeric:
		return fmt.Sprintf("%d to %d", s.form.least, s.form.most)
	case s.form.choices != nil:
		return "`" + strings.Join(s.form.choices, "`, `") + "`"
	}
	return "text"
}

func whenTaken(s setting) string {
	if s.fixed {
		return "at the next start"
	}
	return "what is stricter, at once"
}

func vaultValues(about object) string {
	if names, ok := about["enum"].([]string); ok {
		return "`" + strings.Join(names, "`, `") + "`"
	}
	if about["type"] == "object" {
		return "a table, see below"
	}
	return "text"
}

// generatedNote is the first line of a generated page.
const generatedNote = "<!-- Made by go generate ./cmd/internal/settings; a test fails when it is stale. -->\n\n"

func TestThePageHoldsTheSettings(t *testing.T) {
	testenv.GoldenFile(t, "../../../docs/settings.md", settingsPage())
}

// The page on which a reader decides about trust names what opens a connection, from the table of settings. What
// are not settings of that table are the keys of [notify], the variables of OpenTelemetry, and the flag --url.
func TestTheFAQNamesWhatConnects(t *testing.T) {
	const page = "../../../docs/faq.md"
	text := testenv.TableHead("what you set", "with whom, and what is sent")
	for _, row := range table {
		if row.connects != "" {
			text += testenv.TableRow(testenv.TableCode(row.name), row.connects)
		}
	}
	for _, key := range notifyKeys() {
		if key.name == "ntfy" || key.name == "webhook" {
			text += testenv.TableRow(testenv.TableCode("[notify] "+key.name), "the address that it names: which agent asks for what on which note, and no text of it")
		}
	}
	text += testenv.TableRow(testenv.TableCode("OTEL_EXPORTER_OTLP_ENDPOINT"), "the collector that it names: times and names of calls, and no text of notes")
	text += testenv.TableRow(testenv.TableCode("run --url"), "the server that it names: the call")
	content := require.Value(os.ReadFile(page))(t)
	testenv.GoldenFile(t, page, testenv.PageBetween(t, string(content), "connections", text))
}
