package vault

import (
	"slices"
	"strings"
	"testing"
)

func TestTheTableIsWhole(t *testing.T) {
	names := []string{}
	for _, row := range table() {
		names = append(names, row.name)
		if row.about == "" || (row.run == nil) == (row.plan == nil) {
			t.Errorf("%s lacks a description or what it does", row.name)
		}
		for _, p := range row.params {
			if p.name == "" || p.about == "" {
				t.Errorf("%s: a parameter lacks its name or description", row.name)
			}
			if (p.hint == "") != (p.kind == flag || len(p.oneOf) > 0) {
				t.Errorf("%s %s: exactly the free values have a hint", row.name, p.name)
			}
		}
	}
	want := strings.Fields("aliases append backlinks base:check base:create base:eval base:query base:set base:views bases bookmark bookmarks create daily daily:append daily:path " +
		"daily:prepend daily:range daily:read deadends delete diff file files folder folders help history history:list history:read history:restore " +
		"links move note:insert note:replace note:section note:set-section orphans outline prepend properties property:read property:remove " +
		"property:set query random random:read read recent recents rename search search:context tag tags task tasks template:insert template:read " +
		"templates undo unique unresolved vault vaults version wordcount")
	if !slices.Equal(names, want) {
		t.Errorf("the table has %q", names)
	}
}

func TestWhatWrites(t *testing.T) {
	// task does so with some of its parameters only.
	writing := strings.Fields("append base:create base:set bookmark create daily daily:append daily:prepend delete history:restore move note:insert " +
		"note:replace note:set-section prepend property:remove property:set rename task template:insert undo unique")
	for _, row := range table() {
		if row.writes() != slices.Contains(writing, row.name) {
			t.Errorf("%s: writes is %v", row.name, row.writes())
		}
	}
}

func TestReadingChangesNothing(t *testing.T) {
	h := build(t, map[string]string{"a.md": "text", "sub/b.md": "", ".obsidian/daily-notes.json": `{"folder":"D","template":"a"}`})
	calls := map[string]string{
		"read": "path=a.md", "file": "path=a.md", "folder": "path=sub",
	}
	before, _, _ := h.snapshot()
	for _, row := range table() {
		if row.writes() {
			continue
		}
		h.run(append([]string{row.name}, strings.Fields(calls[row.name])...)...)
		if after, _, _ := h.snapshot(); after != before {
			t.Errorf("%s changed the vault from\n%s to\n%s", row.name, before, after)
		}
	}
}
