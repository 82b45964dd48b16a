package vault

import (
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
)

func TestUnique(t *testing.T) {
	for _, test := range []struct {
		name, settings string
		args           []string
		path, text     string
	}{
		{"by the present time", "{}", nil, "202611210905.md", ""},
		{"with text", "{}", []string{"content=a\\nb"}, "202611210905.md", "a\nb"},
		{"with a name", "{}", []string{"name=Idea v1.2"}, "202611210905 Idea v1.2.md", ""},
		{"in a folder and a format", `{"folder":"/Z/","format":"YYYY/HH[h]mm"}`, nil, "Z/2026/09h05.md", ""},
		{"a taken name is that of the next minute", `{"folder":"taken"}`, nil, "taken/202611210907.md", ""},
		{"a format without minutes", `{"folder":"days","format":"YYYY-MM-DD"}`, nil, "days/2026-11-22.md", ""},
		{"a template", `{"template":"T/note"}`, nil, "202611210905.md", "# 202611210905 at 09:05\n"},
		{"a template and text", `{"template":"T/note"}`, []string{"content=x"}, "202611210905.md", "# 202611210905 at 09:05\nx"},
		{"a template that is not there", `{"template":"none"}`, []string{"open", "paneType=tab"}, "202611210905.md", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, map[string]string{
				".obsidian/zk-prefixer.json": test.settings, "T/note.md": "# {{title}} at {{time}}\n",
				"taken/202611210905.md": "", "taken/202611210906.md": "", "days/2026-11-21.md": "",
			})
			h.expect(command.ExitDone, "Created: "+test.path+"\n", append([]string{"unique"}, test.args...)...)
			assert.Equal(t, h.get(test.path), test.text, "it")
		})
	}
	h := build(t, map[string]string{".obsidian/app.json": `{"newFileLocation":"folder","newFileFolderPath":"In"}`})
	h.expect(command.ExitDone, "Created: In/202611210905.md\n", "unique")
	h.expect(command.ExitMisuse, "Error: Invalid value for name: \"a/b\". The folder of unique notes is a setting of the vault.\n", "unique", "name=a/b")
	h.put(".obsidian/zk-prefixer.json", `{"format":"[same]"}`)
	h.expect(command.ExitDone, "Created: In/same.md\n", "unique")
	h.expect(command.ExitFailed, "Error: The names of all unique notes of a day are taken.\n", "unique")
	h.put(".obsidian/zk-prefixer.json", `{"folder":"../x"}`)
	h.expect(command.ExitFailed, "Error: File \"../x/202611210905.md\" cannot be created: path \"../x/202611210905.md\": has a hidden segment.\n", "unique")
	h.put(".obsidian/zk-prefixer.json", `{`)
	h.expect(command.ExitFailed, "Error: Cannot use the settings in .obsidian/zk-prefixer.json: unexpected end of JSON input\n", "unique")
}
