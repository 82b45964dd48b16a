package handlers_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

func TestTodaysPath(t *testing.T) {
	for _, test := range []struct{ name, settings, want string }{
		{"the default", `{}`, "2026-11-21.md"},
		{"empty settings", `{"folder":"","format":"","template":""}`, "2026-11-21.md"},
		{"null is empty", `{"folder":null,"format":null}`, "2026-11-21.md"},
		{"a folder", `{"folder":"Daily"}`, "Daily/2026-11-21.md"},
		{"a folder with odd slashes", `{"folder":" /Notes\\Daily// "}`, "Notes/Daily/2026-11-21.md"},
		{"the root", `{"folder":"/"}`, "2026-11-21.md"},
		{"folders in the format", `{"folder":"D","format":"YYYY/MM-MMMM/YYYY-MM-DD dddd"}`, "D/2026/11-November/2026-11-21 Saturday.md"},
		{"a format of blanks is the default", `{"format":"  "}`, "2026-11-21.md"},
		{"a format that ends in the extension", `{"format":"YYYY[.md]"}`, "2026.md"},
		{"a blank that is none", "{\"folder\":\"My\u00a0Notes\"}", "My Notes/2026-11-21.md"},
		{"composed letters", `{"folder":"Cafe\u0301"}`, "Caf\u00e9/2026-11-21.md"},
		{"keys that are not ours", `{"autorun":true,"folder":"D"}`, "D/2026-11-21.md"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{".obsidian/daily-notes.json": test.settings})
			h.Expect(answer.ExitDone, test.want+"\n", "daily:path")
			assert.That(t, h.Get(test.want) == "(missing)", "asking for the path made the note")
		})
	}
	embedded.New(t, nil).Expect(answer.ExitDone, "2026-11-21.md\n", "daily:path")
}

func TestSettingsThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct{ name, settings, want string }{
		{"broken", `{"folder":`, "Error: Cannot use the settings in .obsidian/daily-notes.json: "},
		{"empty", ``, "Error: Cannot use the settings in .obsidian/daily-notes.json: "},
		{"of another kind", `{"format":5}`, "Error: Cannot use the settings in .obsidian/daily-notes.json: "},
		{"leading outside", `{"folder":"../Other"}`, "Error: .obsidian/daily-notes.json leads to no note of the vault: "},
		{"leading into a hidden folder", `{"folder":".obsidian"}`, "Error: .obsidian/daily-notes.json leads to no note of the vault: "},
		{"without a name", `{"format":"[]"}`, "Error: .obsidian/daily-notes.json leads to no note of the vault: "},
	} {
		for _, typed := range []string{"daily", "daily:path", "daily:read", "daily:append content=x", "daily:prepend content=x"} {
			t.Run(test.name+", "+typed, func(t *testing.T) {
				h := embedded.New(t, map[string]string{".obsidian/daily-notes.json": test.settings})
				status, got, stderr := h.Run(strings.Fields(typed)...)
				assert.Equal(t, status, answer.ExitFailed, "status %d, %q, stderr %q", status, got, stderr)
				assert.That(t, strings.HasPrefix(got, test.want), "status %d, %q, stderr %q", status, got, stderr)
				assert.Equal(t, stderr, "", "status %d, %q, stderr %q", status, got, stderr)
				h.Expect(answer.ExitDone, "0\n", "files", "total")
			})
		}
	}
}

func TestDaily(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/daily-notes.json": `{"folder":"D","template":"T"}`, "T.md": "# {{title}}\n"})
	h.Expect(answer.ExitFailed, "Error: File \"D/2026-11-21.md\" not found.\n", "daily:read")
	assert.That(t, h.Get("D/2026-11-21.md") == "(missing)", "reading made the note")
	h.Expect(answer.ExitDone, "D/2026-11-21.md\n", "daily", "paneType=split")
	h.Expect(answer.ExitDone, "# 2026-11-21\n", "daily:read")
	h.Put("D/2026-11-21.md", "mine")
	h.Expect(answer.ExitDone, "D/2026-11-21.md\n", "daily")
	h.Expect(answer.ExitDone, "mine\n", "daily:read")
	h.Expect(answer.ExitMisuse, "Error: Invalid value for paneType: left. Use tab, split, window.\n", "daily", "paneType=left")
}

func TestDailyEdits(t *testing.T) {
	const path = "2026-11-21.md"
	const missing = "(missing)"
	for _, test := range []struct {
		name, before string
		args         []string
		want         string
	}{
		{"append", "a", []string{"daily:append", "content=b"}, "a\nb"},
		{"append without a window", "a", []string{"daily:append", "content=b", "open", "paneType=tab"}, "a\nb"},
		{"append to a note of another system", "a\r\nb", []string{"daily:append", "content=c"}, "a\r\nb\r\nc"},
		{"escapes are expanded", "a", []string{"daily:append", `content=b\n\tc\\n=d`}, "a\nb\n\tc\\\n=d"},
		{"append to a missing note", missing, []string{"daily:append", "content=b"}, "b"},
		{"prepend", "a", []string{"daily:prepend", "content=b"}, "b\na"},
		{"prepend to a missing note", missing, []string{"daily:prepend", "content=b"}, "b\n"},
		{"text that looks like a switch", "a", []string{"daily:append", "content=--copy"}, "a\n--copy"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := map[string]string{path: test.before}
			if test.before == missing {
				before = nil
			}
			changed(t, before, "Added to: "+path, map[string]string{path: test.want}, test.args...)
		})
	}
}

func TestContentFromStandardInput(t *testing.T) {
	h := embedded.New(t, nil)
	h.Stdin = "\\nabla \\times\n\ttab\xff\n"
	h.Expect(answer.ExitDone, "Added to: 2026-11-21.md\n", "--stdin", "content", "daily:append")
	assert.Equal(t, h.Get("2026-11-21.md"), h.Stdin, "the note became")
	h.Steps([]embedded.Turn{
		{"and as an argument too", "--stdin content daily:append content=x", answer.ExitMisuse, "Error: Parameter given twice: content\n"},
		{"a parameter that is not there", "--stdin text daily:append", answer.ExitMisuse,
			"Error: Unknown parameter: text\nUsage: daily:append content=<text> [paneType=tab|split|window] [inline] [open] [heading=<name>] [create-heading] [date=<date>] [offset=<n>]\n"},
		{"a flag has no value", "--stdin inline daily:append", answer.ExitMisuse,
			"Error: Unknown parameter: inline\nUsage: daily:append content=<text> [paneType=tab|split|window] [inline] [open] [heading=<name>] [create-heading] [date=<date>] [offset=<n>]\n"},
		{"twice", "--stdin content --stdin content daily:append", answer.ExitMisuse, "Error: Unknown switch: --stdin\n"},
	})
	h.Put("a.md", "A")
	h.Stdin = "a.md"
	h.Expect(answer.ExitDone, "A\n", "vault=Home", "--stdin", "path", "read")
	h.Stdin = ""
	h.Expect(answer.ExitMisuse, "Error: Missing required parameter: content\n", "--stdin", "content", "daily:append")
}

func TestTemplates(t *testing.T) {
	for _, test := range []struct{ name, settings, template, want string }{
		{"the title is the name of the note", `{"format":"YYYY/MM/DD","template":"Templates/T"}`, "{{title}}", "21"},
		{"a date takes the format of the name", `{"format":"dddd, MMMM Do YYYY","template":"Templates/T.md"}`,
			"{{date}}|{{title}}|{{date:YYYY}}", "Saturday, November 21st 2026|Saturday, November 21st 2026|2026"},
		{"with the folders in it", `{"format":"YYYY/YYYY-MM-DD dddd","template":"Templates/T.md"}`,
			"{{date}} {{title}}", "2026/2026-11-21 Saturday 2026-11-21 Saturday"},
		{"a date in its own format", `{"template":"T"}`, "{{date:dddd}} {{time:YYYY}}", "Saturday 2026"},
		{"a time takes the format of the templates", `{"template":"T"}`, "{{time}}", "09h05"},
		{"names in any case, with blanks", `{"template":"T"}`, "{{ DATE }} {{Title}} {{TIME: HH}}", "2026-11-21 2026-11-21 09"},
		{"what is not known stays", `{"template":"T"}`, "{{weather}} {{date {{}} {{title:x}} {{date:}}", "{{weather}} {{date {{}} {{title:x}} {{date:}}"},
		{"braces before a variable", `{"template":"T"}`, "{{{{title}}}} {{", "{{2026-11-21}} {{"},
		{"a slash in front", `{"template":"/Templates/T"}`, "x", "x"},
		{"bytes are left alone", `{"template":"T"}`, "\ufeff---\r\na: {{date}}\r\n---\r\n\xff", "\ufeff---\r\na: 2026-11-21\r\n---\r\n\xff"},
		{"a template that is not there", `{"template":"None"}`, "x", ""},
		{"a template outside", `{"template":"../T"}`, "x", ""},
		{"no template", `{"template":" "}`, "x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{
				".obsidian/daily-notes.json": test.settings, "Templates/T.md": test.template,
				".obsidian/templates.json": `{"dateFormat":"[ignored]","timeFormat":"HH[h]mm"}`,
			})
			status, path, _ := h.Run("daily")
			got := h.Get(strings.TrimSuffix(path, "\n"))
			assert.Equal(t, status, answer.ExitDone, "status %d, %s became %q", status, path, got)
			assert.Equal(t, got, test.want, "status %d, %s became %q", status, path, got)
		})
	}
}

func TestAppendToAMissingNoteKeepsItsTemplate(t *testing.T) {
	files := map[string]string{".obsidian/daily-notes.json": `{"folder":"a/b","template":"T"}`, "T.md": "---\nd: {{date}}\n---\n{{time}}"}
	changed(t, files, "Added to: a/b/2026-11-21.md", map[string]string{"a/b/2026-11-21.md": "---\nd: 2026-11-21\n---\n09:05\nx"}, "daily:append", "content=x")
}

func TestBrokenTemplateSettingsStopOnlyWhoNeedsThem(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/daily-notes.json": `{"template":"T"}`, ".obsidian/templates.json": "[]", "T.md": "{{time}}"})
	status, got, _ := h.Run("daily")
	if status != answer.ExitFailed ||
		!strings.HasPrefix(got, "Error: Cannot use the settings in .obsidian/templates.json: ") ||
		h.Get("2026-11-21.md") != "(missing)" {
		t.Errorf("status %d, %q", status, got)
	}
	h.Put("T.md", "{{date}}")
	h.Expect(answer.ExitDone, "2026-11-21.md\n", "daily")
}

func TestDailyNotesThatCannotBeWritten(t *testing.T) {
	const path = "2026-11-21.md"
	for _, typed := range []string{"daily:append content=x", "daily:prepend content=x", "daily"} {
		h := embedded.New(t, map[string]string{path + "/inner.md": ""})
		h.Expect(answer.ExitFailed, "Error: File \""+path+"\" cannot be written: \""+path+"\" is a folder.\n", strings.Fields(typed)...)
		h = embedded.New(t, map[string]string{"D": "a file", ".obsidian/daily-notes.json": `{"folder":"D"}`})
		h.Expect(answer.ExitFailed, "Error: File \"D/"+path+"\" cannot be written: \"D\" is not a folder.\n", strings.Fields(typed)...)
		if runtime.GOOS == "windows" {
			continue // no path has a colon there
		}
		h = embedded.New(t, map[string]string{".obsidian/daily-notes.json": `{"format":"HH:mm"}`})
		h.Expect(answer.ExitFailed,
			"Error: File \"09:05.md\" cannot be written: \"09:05.md\" contains ':', which not every system and link can carry.\n",
			strings.Fields(typed)...)
	}
}

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
			files := map[string]string{
				".obsidian/zk-prefixer.json": test.settings, "T/note.md": "# {{title}} at {{time}}\n",
				"taken/202611210905.md": "", "taken/202611210906.md": "", "days/2026-11-21.md": "",
			}
			changed(t, files, "Created: "+test.path, map[string]string{test.path: test.text}, append([]string{"unique"}, test.args...)...)
		})
	}
	h := embedded.New(t, map[string]string{".obsidian/app.json": `{"newFileLocation":"folder","newFileFolderPath":"In"}`})
	h.Expect(answer.ExitDone, "Created: In/202611210905.md\n", "unique")
	h.Expect(answer.ExitMisuse, "Error: Invalid value for name: \"a/b\". The folder of unique notes is a setting of the vault.\n", "unique", "name=a/b")
	h.Put(".obsidian/zk-prefixer.json", `{"format":"[same]"}`)
	h.Expect(answer.ExitDone, "Created: In/same.md\n", "unique")
	h.Expect(answer.ExitFailed, "Error: The names of all unique notes of a day are taken.\n", "unique")
	h.Put(".obsidian/zk-prefixer.json", `{"folder":"../x"}`)
	h.Expect(answer.ExitFailed, "Error: File \"../x/202611210905.md\" cannot be created: path \"../x/202611210905.md\": has a hidden segment.\n", "unique")
	h.Put(".obsidian/zk-prefixer.json", `{`)
	h.Expect(answer.ExitFailed, "Error: Cannot use the settings in .obsidian/zk-prefixer.json: unexpected end of JSON input\n", "unique")
}

// A name that differs from that of a file in its normal form alone is that of the file, whoever spells it.
func TestNamesInAnyNormalForm(t *testing.T) {
	const composed, parted = "\u00dcbung", "U\u0308bung"
	h := embedded.New(t, map[string]string{
		parted + "/" + parted + ".md":      "text\n",
		".obsidian/daily-notes.json":       `{"folder":"` + composed + `","format":"[` + composed + ` ]YYYY"}`,
		parted + "/" + parted + " 2026.md": "day\n",
	})
	h.Expect(answer.ExitDone, "text\n", "read", "path="+composed+"/"+composed+".md")
	h.Expect(answer.ExitDone, "Appended to: "+parted+"/"+parted+".md\n", "append", "path="+composed+"/"+composed+".md", "content=x")
	got := h.Failure("create", "path="+composed+"/"+composed, "content=x")
	assert.Equal(t, got.Code, "already_exists", "code")
	h.Expect(answer.ExitDone, "Created: "+parted+"/New.md\n", "create", "path="+composed+"/New.md", "content=x")
	h.Expect(answer.ExitDone, "day\n", "daily:read")
	h.Expect(answer.ExitDone, "Added to: "+parted+"/"+parted+" 2026.md\n", "daily:append", "content=x")
	h.Expect(answer.ExitDone, parted+"/New.md\n"+parted+"/"+parted+" 2026.md\n"+parted+"/"+parted+".md\n", "files", "folder="+composed)
	h.Expect(answer.ExitDone, "Moved: "+parted+"/New.md -> "+parted+"/Sub/New.md\n", "move", "path="+composed+"/New.md", "to="+composed+"/Sub/")
	h.Expect(answer.ExitDone, "Renamed: "+parted+"/"+parted+".md -> "+parted+"/"+composed+".md\n", "rename", "path="+parted+"/"+parted+".md", "name="+composed)
}
