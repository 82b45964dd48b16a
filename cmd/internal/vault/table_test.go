package vault

import (
	"slices"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/grammar"
)

func TestTheTableIsWhole(t *testing.T) {
	names := []string{}
	for _, row := range table() {
		names = append(names, row.Name)
		if row.Help == "" || (row.Run == nil) == (row.Plan == nil) {
			t.Errorf("%s lacks a description or what it does", row.Name)
		}
		for _, p := range row.Params {
			if p.Name == "" || p.Help == "" {
				t.Errorf("%s: a parameter lacks its name or description", row.Name)
			}
			if (p.Hint == "") != (p.Kind == grammar.Flag || len(p.OneOf) > 0) {
				t.Errorf("%s %s: exactly the free values have a hint", row.Name, p.Name)
			}
		}
	}
	want := strings.Fields("aliases append attachment:read attachments backlinks base:check base:create base:eval base:query base:set base:views bases " +
		"bookmark bookmarks briefing canvas:read create daily daily:append daily:ensure daily:path daily:prepend daily:range daily:read " +
		"deadends delete diff file files folder folders heading:rename help history history:list history:read history:restore links move " +
		"note:insert note:replace note:section note:set-section orphans outline periodic:append periodic:path periodic:read prepend " +
		"properties property:read property:remove property:rename property:set query random random:read read recent recents related rename " +
		"search search:context tag tag:rename tags task task:add task:reschedule tasks template:insert template:read templates undo unique " +
		"unresolved vault vault:replace vaults version wordcount")
	if !slices.Equal(names, want) {
		t.Errorf("the table has %q", names)
	}
}

func TestWhatWrites(t *testing.T) {
	// task does so with some of its parameters only.
	writing := strings.Fields("append base:create base:set bookmark create daily daily:append daily:ensure daily:prepend delete heading:rename history:restore move note:insert " +
		"note:replace note:set-section periodic:append prepend property:remove property:rename property:set rename tag:rename task task:add task:reschedule template:insert undo unique " +
		"vault:replace")
	for _, row := range table() {
		if row.Writes() != slices.Contains(writing, row.Name) {
			t.Errorf("%s: writes is %v", row.Name, row.Writes())
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
		if row.Writes() {
			continue
		}
		h.run(append([]string{row.Name}, strings.Fields(calls[row.Name])...)...)
		if after, _, _ := h.snapshot(); after != before {
			t.Errorf("%s changed the vault from\n%s to\n%s", row.Name, before, after)
		}
	}
}
