package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"pgregory.net/rapid"

	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
)

// editorSchema returns the schema as an editor has it: from its JSON.
func editorSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(configSchema())
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.ExtractAnnotations = true
	require.NoError(t, compiler.AddResource("schema.json", bytes.NewReader(text)))
	schema, err := compiler.Compile("schema.json")
	require.NoError(t, err)
	defaults := 0
	for name, p := range schema.Properties {
		for p.Ref != nil {
			p = p.Ref
		}
		if p.Default != nil {
			defaults++
			if err := p.Validate(p.Default); err != nil {
				t.Errorf("the default of %s: %v", name, err)
			}
		}
	}
	if defaults < 10 {
		t.Errorf("only %d defaults", defaults)
	}
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
		`max-output = "1024"`, `max-output = "1048576"`, `max-output = "1KiB"`, `max-output = "1024KiB"`, `max-output = "1MiB"`, `max-output = "1029"`, `max-output = "99999"`,
		`min-cli-version = "1.12.2"`, `min-cli-version = "1.12.10"`, `min-cli-version = "1.13.0"`, `min-cli-version = "2.0.0"`, `min-cli-version = "10.1.100"`,
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
		if byProgram, bySchema := judge(t, schema, content); bySchema != nil || byProgram != nil {
			t.Errorf("%s\nis right; the schema has %v, the program %v", content, bySchema, byProgram)
		}
	}
	wrong := []string{
		"teir = 1", "rate = 1.5", "rate = -1", "rate = 100001", `rate = "1"`, "max-parallel = 0", "max-parallel = 65", "tier = 1", `tier = "v4"`, `tier = "restricted"`,
		"enabled = 1", `allow-mutations = "true"`, `confirm = "always"`, `backend = "app"`, `cli = ""`, `cli = "bin/obsidian"`,
		`timeout = "0s"`, `timeout = "56s"`, `timeout = "55.1s"`, `timeout = "15"`, `timeout = "999ms"`, `timeout = "55001ms"`,
		`max-output = "1"`, `max-output = "1023"`, `max-output = "1048577"`, `max-output = "2MiB"`, `max-output = "1025KiB"`, `max-output = "0KiB"`, `max-output = "32KB"`,
		`min-cli-version = "1.12"`, `min-cli-version = "1.12.1"`, `min-cli-version = "0.99.0"`, `min-cli-version = "1.9.9"`,
		`disable = "read"`, "disable = [1]", `disable = ["reed"]`, `enable-only = [""]`, `enable-only = ["read,files"]`,
		"profiles = 1", "[profiles]\na = 1", "[profiles.\"\"]", "[profiles.a]\nprofile = \"a\"", "[profiles.a]\nteir = 1", "[profiles.a]\nvaults = []",
		"vaults = 1", "vaults = [1]", "[vaults]\nname = \"a\"", vault(""), vault(`tier = "v0"`), vault(`nmae = "a"`), vault(`name = ""`), vault(`name = "a/b"`), vault("name = 1"),
		vault(`id = "12"`), vault(`folder = "x"`), vault("name = \"a\"\ntier = \"v4\""), vault("name = \"a\"\nallow-mutations = true"),
		vault("name = \"a\"\n[vaults.access]"), vault("name = \"a\"\n[vaults.access]\n\"/\" = \"w\""), vault("name = \"a\"\naccess = \"r\""),
		vault("name = \"a\"\n[vaults.access]\nNote.md = \"r\""),
		"notify = true", "[notify]\nnfty = \"x\"", "[notify]\nntfy = 1", "[notify]\nntfy = \"\"", "[notify]\nntfy = \"ftp://x/y\"", "[notify]\nntfy = \"https://x/y?auth=1\"",
		"[notify]\nwebhook = \"https://x/y\"", "[notify]\nwebhook-secret-file = \"" + drive + "/x\"", "[notify]\nntfy-token-file = \"" + drive + "/x\"",
		"[notify]\nntfy = \"https://x/y\"\nntfy-token-file = \"x\"", "[notify]\ncommand = []", "[notify]\ncommand = [\"say\"]", "[notify]\ncommand = \"/bin/say\"",
	}
	for _, content := range wrong {
		if byProgram, bySchema := judge(t, schema, content); bySchema == nil || byProgram == nil {
			t.Errorf("%s\nis wrong; the schema has %v, the program %v", content, bySchema, byProgram)
		}
	}
}

// TestTheFormsTakeNothingThatTheProgramRefuses draws values from the patterns of
// the schema.
func TestTheFormsTakeNothingThatTheProgramRefuses(t *testing.T) {
	for _, row := range table {
		if row.form.pattern == "" || row.name == "cli" || row.name == "checkpoints" { // what is absolute is another thing on each system
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringMatching(row.form.pattern).Draw(t, row.name)
			if err := row.set(&Settings{}, text); err != nil {
				t.Errorf("%s = %q fits the schema: %v", row.name, text, err)
			}
		})
	}
}

func TestTheSchemaDescribesEverySetting(t *testing.T) {
	schema := configSchema()
	general := schema["properties"].(object)
	for _, row := range table {
		definition, ok := schema["$defs"].(object)[row.name].(object)
		if !ok || definition["description"] == "" || definition["type"] == nil || definition["default"] == nil || general[row.name] == nil {
			t.Errorf("%s is described by %v", row.name, definition)
		}
	}
	if len(general) != len(table)+len(tablesBeside) || schema["additionalProperties"] != false || !strings.HasSuffix(fmt.Sprint(schema["$schema"]), "/2020-12/schema") {
		t.Errorf("the schema has %d properties", len(general))
	}
}
