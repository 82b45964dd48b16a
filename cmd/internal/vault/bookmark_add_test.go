package vault

import (
	"encoding/json"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/assert"
)

const saturdayMS = "1795244707000"

func TestBookmarkIsAdded(t *testing.T) {
	const entry = `{"type":"url","ctime":` + saturdayMS + `,"url":"https://x.org/?a&b"}`
	for _, test := range []struct{ name, before, want string }{
		{"to no file", "(missing)", "{\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " + saturdayMS + ",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}"},
		{"to an empty file", " \n", "{\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " + saturdayMS + ",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}"},
		{"on one line", `{"items":[]}`, `{"items":[` + entry + `]}`},
		{"behind others on one line", `{"v":1, "items":[{"type":"graph"}] ,"w":[2]}`, `{"v":1, "items":[{"type":"graph"},` + entry + `] ,"w":[2]}`},
		{"to an empty list over several lines", "{\n  \"items\": []\n}", "{\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " + saturdayMS + ",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}"},
		{
			"in the layout that is there", "{\n\t\"items\": [\n\t\t{\"type\":\"group\",\"items\":[{}]}\n\t],\n\t\"x\": \"items\"\n}\n",
			"{\n\t\"items\": [\n\t\t{\"type\":\"group\",\"items\":[{}]},\n\t\t{\n\t\t\t\"type\": \"url\",\n\t\t\t\"ctime\": " + saturdayMS + ",\n\t\t\t\"url\": \"https://x.org/?a&b\"\n\t\t}\n\t],\n\t\"x\": \"items\"\n}\n",
		},
		{"to a file without a list", `{"v":{"items":1}}`, `{"v":{"items":1},"items":[` + entry + `]}`},
		{"to an empty object", `{}`, `{"items":[` + entry + `]}`},
		{
			"to a file without a list over several lines", "{\n  \"v\": 1\n}",
			"{\n  \"v\": 1,\n  \"items\": [\n    {\n      \"type\": \"url\",\n      \"ctime\": " + saturdayMS + ",\n      \"url\": \"https://x.org/?a&b\"\n    }\n  ]\n}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := build(t, nil)
			if test.before != "(missing)" {
				h.put(".obsidian/bookmarks.json", test.before)
			}
			h.expect(command.ExitDone, "Bookmarked: https://x.org/?a&b\n", "bookmark", "url=https://x.org/?a&b")
			got := h.get(".obsidian/bookmarks.json")
			assert.That(t, got == test.want && json.Valid([]byte(got)), "the file is\n%s\nwant\n%s", got, test.want)
			h.run("undo")
			assert.Equal(t, h.get(".obsidian/bookmarks.json"), test.before, "undone, the file")
		})
	}
}

func TestWhatCanBeBookmarked(t *testing.T) {
	h := build(t, map[string]string{"f/a.md": "x", ".obsidian/app.json": "{}", ".obsidian/bookmarks.json": `{"items":[]}`})
	h.steps([]turn{
		{"a file", "bookmark file=f/a.md", command.ExitDone, "Bookmarked: f/a.md\n"},
		{"a heading in it", "bookmark file=f/a.md subpath=H title=T", command.ExitDone, "Bookmarked: f/a.md#H\n"},
		{"a block in it", "bookmark file=f/a.md subpath=^b", command.ExitDone, "Bookmarked: f/a.md#^b\n"},
		{"a folder", "bookmark folder=f/", command.ExitDone, "Bookmarked: f\n"},
		{"the whole vault", "bookmark folder=/", command.ExitDone, "Bookmarked: /\n"},
		{"a search", "bookmark search=tag:#x", command.ExitDone, "Bookmarked: tag:#x\n"},
		{"all of them are listed", "bookmarks total", command.ExitDone, "6\n"},
		{"a file that is not there", "bookmark file=a.md", command.ExitFailed, "Error: File \"a.md\" not found.\n"},
		{"a hidden file", "bookmark file=.obsidian/app.json", command.ExitFailed, "Error: File \".obsidian/app.json\" not found.\n"},
		{"a folder that is not there", "bookmark folder=g", command.ExitFailed, "Error: Folder \"g\" not found.\n"},
		{"nothing", "bookmark title=x", command.ExitMisuse, "Error: Use exactly one of file=<path>, folder=<path>, search=<query>, url=<address>.\n"},
		{"two things", "bookmark folder=f search=x", command.ExitMisuse, "Error: Use exactly one of file=<path>, folder=<path>, search=<query>, url=<address>.\n"},
		{"a part of nothing", "bookmark folder=f subpath=x", command.ExitMisuse, "Error: Use subpath=<heading> with file=<path>.\n"},
	})
	const first = `{"items":[{"type":"file","ctime":` + saturdayMS + `,"path":"f/a.md"},{"type":"file","ctime":` + saturdayMS + `,"path":"f/a.md","subpath":"#H","title":"T"},`
	got := h.get(".obsidian/bookmarks.json")
	assert.That(t, strings.HasPrefix(got, first), "the file is %s", got)
}

func TestBookmarksThatCannotBeUsed(t *testing.T) {
	for _, text := range []string{"[]", "null", "{", `{"items":{}}`, `{"items":1}`, "3"} {
		h := build(t, map[string]string{".obsidian/bookmarks.json": text})
		status, out, _ := h.run("bookmark", "search=x")
		if status != command.ExitFailed || !strings.HasPrefix(out, "Error: Cannot use the bookmarks in .obsidian/bookmarks.json: ") || h.get(".obsidian/bookmarks.json") != text {
			t.Errorf("%q: status %d, %q", text, status, out)
		}
	}
}
