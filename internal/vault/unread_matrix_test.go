package vault_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// variedNotes are notes and other files for every command.
var variedNotes = map[string]string{
	"Plan.md":                          "---\ntags: [tag]\nstatus: open\naliases: [Second]\n---\n# Plan\nword [[Sub/Deep]] [[Note]] ^blk\n- [ ] do #tag 📅 2026-11-21\n",
	"Note.md":                          "# Note\nword [[Plan]] [[nowhere]] ![[pic.png]] #tag/sub\n- [x] done\n## Other\nmore\n",
	"Sub/Deep.md":                      "---\nstatus: done\n---\n# Deep\nword [[Plan]] #tag\n- [ ] deep\n",
	"Sub/Next.md":                      "# Next\n[[Plan]] word\n",
	"2026-11-21.md":                    "# Today\n- [ ] today\n",
	"Templates/Day.md":                 "# {{title}}\nword\n",
	"Books.base":                       "views:\n  - type: table\n    name: One\n",
	"Board.canvas":                     `{"nodes":[{"id":"1","type":"file","file":"Plan.md"},{"id":"2","type":"text","text":"word"}],"edges":[]}`,
	"pic.png":                          string(embedded.OnePixel),
	".obsidian/templates.json":         `{"folder":"Templates"}`,
	".obsidian/app.json":               `{"alwaysUpdateLinks":true,"trashOption":"local"}`,
	".obsidian/bookmarks.json":         `{"items":[{"type":"file","path":"Plan.md","title":"seen"}]}`,
	".obsidian/workspace.json":         `{"lastOpenFiles":["Note.md","Plan.md"]}`,
	".obsidian/daily-notes.json":       `{"template":"Templates/Day"}`,
	".obsidian/core-plugins.json":      `{"daily-notes":true}`,
	".obsidian/types.json":             `{"types":{"status":"text"}}`,
	".obsidian/workspaces.json":        `{"workspaces":{}}`,
	".obsidian/community-plugins.json": `[]`,
}

// sampleOf returns the first value of a parameter that fits [variedNotes].
func sampleOf(c allowlist.Command, p allowlist.Param) string {
	switch p.Kind {
	case "number", "age":
		return "1"
	case "date":
		return "2026-11-21"
	case "choice":
		return p.Choices[0]
	case "character":
		return "x"
	case "path:line":
		return "Plan.md:8"
	case "folder":
		return "Sub"
	case "folder/ or path":
		return "Sub/"
	case "word":
		return "files"
	case "path":
		switch {
		case strings.HasPrefix(c.Name, "folder"):
			return "Sub"
		case strings.HasPrefix(c.Name, "canvas"):
			return "Board.canvas"
		case strings.HasPrefix(c.Name, "base"):
			return "Books.base"
		case strings.HasPrefix(c.Name, "attachment") || c.Name == "image":
			return "pic.png"
		case p.Name == "to" || c.Name == "create":
			return "New/Fresh.md"
		}
		return "Plan.md"
	case "note name", "file name":
		return "Plan"
	case "base name":
		return "Books"
	}
	switch p.Name {
	case "query":
		return "word"
	case "name":
		return "status"
	case "old":
		return "word"
	case "heading":
		return "Plan"
	case "where":
		return `status == "done"`
	case "id":
		return "1"
	}
	return "tag"
}

// samplesOf are calls of commands of which the values of all others make none.
var samplesOf = map[string][][]string{
	"canvas:create":        {{"canvas:create", "path=New.canvas"}},
	"canvas:connect":       {{"canvas:connect", "path=Board.canvas", "from=1", "to=2"}},
	"attachment:write":     {{"attachment:write", "path=new.png", "data=" + base64.StdEncoding.EncodeToString([]byte(embedded.OnePixel))}},
	"folder:create":        {{"folder:create", "path=New"}},
	"folder:copy":          {{"folder:copy", "path=Sub", "to=Copy"}, {"folder:copy", "path=Sub", "to=Copy", "links=hold"}},
	"property:add":         {{"property:add", "path=Plan.md", "name=tags", "value=new"}},
	"property:remove-item": {{"property:remove-item", "path=Plan.md", "name=tags", "value=tag"}},
	"tag":                  {{"tag", "name=tag"}, {"tag", "name=tag", "total"}, {"tag", "name=tag", "verbose"}},
	"tag:rename":           {{"tag:rename", "name=tag", "to=label"}, {"tag:rename", "name=tag", "to=label", "folder=Sub"}},
	"task:reschedule":      {{"task:reschedule", "ref=Plan.md:8", "due=2026-11-25"}},
	"base:set-view":        {{"base:set-view", "path=Books.base", "view=One", "type=cards"}},
	"base:remove-view":     {{"base:remove-view", "path=Books.base", "view=One"}},
	"note:merge":           {{"note:merge", "path=Plan.md", "into=Note.md"}},
	"template:read":        {{"template:read", "name=Day"}, {"template:read", "name=Day", "resolve"}},
	"template:insert":      {{"template:insert", "name=Day", "path=Plan.md"}},
}

// unsampled are the commands that need what is no note: a journal, a PDF, a server of vectors.
var unsampled = []string{"undo", "history:read", "history:restore", "attachment:text", "find:send"}

// sampleCalls are calls of a command: with what it must have, and with each other parameter.
func sampleCalls(c allowlist.Command) (calls [][]string) {
	if own, ok := samplesOf[c.Name]; ok {
		return own
	}
	word := func(p allowlist.Param) string {
		if p.Kind == "flag" {
			return p.Name
		}
		return p.Name + "=" + sampleOf(c, p)
	}
	base := []string{c.Name}
	for _, p := range c.Params {
		isTarget := p.Name == "path" && !slices.ContainsFunc(c.Params, func(q allowlist.Param) bool { return q.Required && q.Kind == "path:line" })
		if p.Required || isTarget && allowlist.Takes(c.Name, "file") {
			base = append(base, word(p))
		}
	}
	calls = append(calls, base)
	for _, p := range c.Params {
		if p.Refused == "" && !slices.Contains(base, word(p)) && p.Name != "file" {
			calls = append(calls, append(slices.Clone(base), word(p)))
		}
	}
	return calls
}

// Whatever a command is asked while one file or folder cannot be read: its answer is that of a good disk, or says that
// something could not be read, or it fails with the code for that and has changed nothing.
func TestNothingIsLeftOutSilentlyByAnyCommand(t *testing.T) {
	mine := testenv.Shard(t, 11)
	names := []string{"Sub"}
	for path := range variedNotes {
		names = append(names, path[strings.LastIndexByte(path, '/')+1:])
	}
	slices.Sort(names)
	tries, failed, counted := 0, 0, 0
	for c := range allowlist.Commands() {
		row, err := vault.LookUp(c.Name)
		if err != nil || strings.HasPrefix(c.Name, "random") || c.NeedsApp {
			continue
		}
		answered := false
		for _, words := range sampleCalls(c) {
			whole := variedVault(t)
			want, facts, failure := ask(t, whole, badDisk(t, whole, false, func(string, string) error { return nil }), words...)
			if failure != (protocol.Failure{}) || facts.Unread > 0 {
				continue
			}
			answered = true
			wanted := whole.Texts(true)
			for _, name := range names {
				tries++
				if !mine(tries) {
					continue
				}
				h := variedVault(t)
				before := h.Texts(true)
				asked := false
				at := badDisk(t, h, false, func(_, of string) error {
					if of != name {
						return nil
					}
					asked = true
					return errDisk
				})
				stdout, facts, failure := ask(t, h, at, words...)
				after := h.Texts(true)
				when := fmt.Sprintf("%q without %s (asked for: %v): %+v: %.300q", words, name, asked, failure, stdout)
				stdout = strings.ReplaceAll(stdout, h.Dir, whole.Dir)
				isSame := withoutIDs(stdout) == withoutIDs(want) && (!row.Writes() || maps.Equal(withoutIDsIn(after), withoutIDsIn(wanted)))
				switch {
				case failure != (protocol.Failure{}):
					failed++
					// Of a file that is to be changed, too, it is not said that another fault keeps it from being read.
					isOwn := failure.Code == protocol.CodeVaultUnreadable || row.Writes() && failure.Code == protocol.CodeVaultUnwritable
					assert.That(t, isOwn, "%s", when)
					assert.That(t, maps.Equal(before, after), "%s: it changed something", when)
					assert.That(t, !strings.Contains(failure.Reason+failure.Hint+stdout, h.Dir), "%s: it names a folder of the machine", when)
				case facts.Unread > 0:
					counted++
					assert.Contains(t, facts.Notice, "could not be read", "%s", when)
					assert.That(t, !row.Writes() || isSame, "%s: a change is made in part", when)
				default:
					assert.That(t, isSame, "%s: the answer is another one, not %.300q", when, want)
				}
			}
		}
		assert.That(t, answered || slices.Contains(unsampled, c.Name), "no sample of %s succeeds: %q", c.Name, sampleCalls(c))
	}
	t.Logf("%d tries: %d failed, %d were counted", tries, failed, counted)
}

// variedVault is a vault of [variedNotes] whose files have the same times each time.
func variedVault(t *testing.T) *embedded.Vault {
	h := embedded.New(t, variedNotes)
	at := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	for _, path := range slices.Sorted(maps.Keys(variedNotes)) {
		at = at.Add(time.Hour)
		require.NoError(t, os.Chtimes(h.File(path), at, at))
	}
	return h
}

// timesOfNow are times of creation, which no test can set.
var timesOfNow = regexp.MustCompile(`created\t\d+`)

func withoutIDs(text string) string {
	return timesOfNow.ReplaceAllString(embedded.EntryID.ReplaceAllString(text, "ID"), "created")
}

func withoutIDsIn(texts map[string]string) map[string]string {
	all := map[string]string{}
	for path, text := range texts {
		all[withoutIDs(path)] = withoutIDs(text)
	}
	return all
}
