package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// errands is a vault with tasks of all kinds; today is 2026-11-21.
var errands = map[string]string{
	"Home.md":      "# House\n- [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n- [x] mow ⏳ 2026-11-01 ✅ 2026-11-02\n## Garden\n- [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01\n- [/] dig [due:: 2026-11-10]  [priority:: low]\n",
	"Work/Plan.md": "- [ ] mail #money\n- [-] visit 📅 2026-11-01\n- [ ] broken 📅 2026-02-30\n- [ ] today 📅 2026-11-21 ^id\n",
	"Work/Old.md":  "text\n> - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\n",
}

func TestTasksWithTheirDates(t *testing.T) {
	h := embedded.New(t, errands)
	for _, test := range []struct{ args, want string }{
		{"overdue", "Home.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"overdue todo total", "1"},
		{"due=2026-11-21", "Work/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n"},
		{"due-before=2026-11-21 todo", "Home.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n"},
		{"due-before=2026-11-10 total", "1"},
		{"due-after=2026-11-20 todo", "Home.md:5: - [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01\nWork/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n"},
		{"due-after=2026-11-20 due-before=2026-12-01 total", "1"},
		{"due=today total", "1"}, {"due=2026-W47 total", "2"}, {"due-before=tuesday todo total", "2"},
		{"due-after=2w total", "0"}, {"due-after=yesterday total", "2"},
		{"no-due todo", "Work/Old.md:2: - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\nWork/Plan.md:1: - [ ] mail #money\n"},
		{"priority=high total", "1"}, {"priority=normal total", "6"}, {"priority=low total", "2"},
		{"tag=money total", "3"}, {"tag=#money/fixed total", "1"}, {"tag=mon total", "0"},
		{"folder=Work todo total", "4"}, {"folder=Work/ total", "5"}, {"folder=/ total", "9"}, {"path=Home.md details total", "4"},
		{"sort=due todo",
			"Work/Plan.md:3: - [ ] broken 📅 2026-02-30\nHome.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\nWork/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n" +
				"Home.md:5: - [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01\nWork/Plan.md:1: - [ ] mail #money\nWork/Old.md:2: - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\n"},
		{"sort=priority overdue", "Home.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"group=note path=Home.md done",
			"==> Home.md <==\nHome.md:3: - [x] mow ⏳ 2026-11-01 ✅ 2026-11-02\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"group=heading overdue",
			"==> Garden <==\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n==> House <==\nHome.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n"},
		{"group=due folder=Work",
			"==> 2026-02-30 <==\nWork/Plan.md:3: - [ ] broken 📅 2026-02-30\n==> 2026-11-01 <==\nWork/Plan.md:2: - [-] visit 📅 2026-11-01\n==> 2026-11-21 <==\nWork/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n" +
				"==> (no due date) <==\nWork/Old.md:2: - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\nWork/Plan.md:1: - [ ] mail #money\n"},
		{"group=tag path=Home.md overdue verbose",
			"==> #money/fixed <==\nHome.md\n2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n==> (no tag) <==\nHome.md\n6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"path=Work/Old.md details format=tsv",
			" \t- [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\tWork/Old.md\t2\t\t\tquoted #Money\t\t\t\t2026-01-01\t\t\tlow\t\tdelete\ta\tb,c\t#Money\n"},
		{"daily overdue", "No tasks found."},
	} {
		want := test.want
		if !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		h.Expect(answer.ExitDone, want, append([]string{"tasks"}, strings.Fields(test.args)...)...)
	}
}

func TestTasksAsJSONHaveAllFields(t *testing.T) {
	h := embedded.New(t, errands)
	_, out, _ := h.Run("tasks", "path=Home.md", "details", "format=json", "group=heading")
	var rows []map[string]string
	err := json.Unmarshal([]byte(out), &rows)
	require.Equal(t, err, nil, "%v: %s", err, out)
	require.Equal(t, len(rows), 4, "%v: %s", err, out)
	want := map[string]string{
		"status": " ", "text": "- [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01", "file": "Home.md", "line": "5", "group": "Garden", "heading": "Garden",
		"description": "rake", "due": "2026-12-01", "start": "2026-11-20", "recurs": "every week",
	}
	assert.Equal(t, len(rows[0]), len(want))
	for key, value := range want {
		assert.Equal(t, rows[0][key], value, "%s", key)
	}
	got := rows[3]
	require.Equal(t, got["done-on"], "2026-11-02")
	assert.Equal(t, got["scheduled"], "2026-11-01")
	// Without a parameter of ours the answer is the one of the app.
	_, out, _ = h.Run("tasks", "path=Home.md", "done", "format=json")
	assert.That(t, !strings.Contains(out, "heading"), "got %s", out)
}

func TestFiltersOfTasksThatContradict(t *testing.T) {
	h := embedded.New(t, errands)
	for _, args := range []string{"overdue done", "no-due overdue", "no-due due=2026-11-21",
		"no-due due-before=2026-11-21", "folder=Work path=Home.md", "folder=Work daily"} {
		status, out, _ := h.Run(append([]string{"tasks"}, strings.Fields(args)...)...)
		assert.Equal(t, status, answer.ExitMisuse, "%s: status %d", args, status)
		assert.Contains(t, out, "not several", "%s: status %d", args, status)
	}
	h.Expect(answer.ExitMisuse, noDay("soon"), "tasks", "due=soon")
	h.Expect(answer.ExitMisuse, "Error: Invalid value for priority: urgent. Use highest, high, medium, normal, low, lowest.\n", "tasks", "priority=urgent")
	h.Expect(answer.ExitFailed, "Error: Folder \"Wrk\" not found.\n", "tasks", "folder=Wrk")
	h.Expect(answer.ExitFailed, "Error: Folder \"../x\" not found.\n", "tasks", "folder=../x")
}

// A day that begins later than at midnight is one on which a task of yesterday is not late.
func TestTheHourAtWhichADayBegins(t *testing.T) {
	h := embedded.New(t, errands)
	h.Env["VAULTWICKET_DAY_START"] = "12" // it is five past nine
	h.Expect(answer.ExitDone, "1\n", "tasks", "overdue", "total")
	h.Expect(answer.ExitDone, "2026-11-20.md\n", "daily:path")
	h.Expect(answer.ExitDone, "2026-11-19.md\n", "daily:path", "offset=-1")
	h.Env["VAULTWICKET_DAY_START"] = "9"
	h.Expect(answer.ExitDone, "2026-11-21.md\n", "daily:path")
	h.Env["VAULTWICKET_DAY_START"] = "24"
	h.Expect(answer.ExitMisuse, "Error: VAULTWICKET_DAY_START is not an hour from 0 to 12: \"24\"\n", "daily:path")
}

func TestTaskIsChanged(t *testing.T) {
	const shown = "status\t%\ntext\t- [%] one\nfile\tA.md\nline\t2"
	for _, test := range []struct {
		name, mark, args, want string
	}{
		{"done", " ", "done", "x"},
		{"another finished mark becomes the one of done", "X", "done", "x"},
		{"open again", "x", "todo", " "},
		{"an open one is toggled to done", " ", "toggle", "x"},
		{"a finished one to open", "x", "toggle", " "},
		{"a mark of somebody's own to open", "/", "toggle", " "},
		{"a mark", " ", "status=/", "/"},
		{"a mark in place of one of several bytes", "→", "status=-", "-"},
		{"shown", "/", "", "/"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(test.name, func(t *testing.T) {
				note := func(mark string) string {
					return "\ufefftext" + end + "  - [" + mark + "] one" + end + "- [ ] two [ ]" + end + "\xff"
				}
				call := append([]string{"task", "path=A.md", "line=2"}, strings.Fields(test.args)...)
				changed(t, map[string]string{"A.md": note(test.mark)}, strings.ReplaceAll(shown, "%", test.want),
					map[string]string{"A.md": note(test.want)}, call...)
			})
		}
	}
}

func TestTaskIsNamedInEveryWay(t *testing.T) {
	for _, args := range []string{"ref=N/A.md:1", "path=N/A.md line=1", "file=a line=1", "daily line=1"} {
		files := map[string]string{"N/A.md": "- [ ] a", ".obsidian/daily-notes.json": `{"folder":"N","format":"[A]"}`}
		changed(t, files, "status\tx\ntext\t- [x] a\nfile\tN/A.md\nline\t1", map[string]string{"N/A.md": "- [x] a"},
			append([]string{"task", "done"}, strings.Fields(args)...)...)
	}
}

func TestTasksThatCannotBeChanged(t *testing.T) {
	text := "- [ ] a\n\ntext\n```\n- [ ] code\n```\n- [ ] b\n\n\n\n- [ ] c\n- [ ] d\n- [ ] e"
	h := embedded.New(t, map[string]string{"A.md": text, "B.md": "text", "C.txt": "- [ ] a"})
	h.Steps([]embedded.Turn{
		{"the nearest tasks are named", "task path=A.md line=5 done", answer.ExitFailed,
			"Error: Task \"A.md:5\" not found. The nearest are line 1 \"- [ ] a\", line 7 \"- [ ] b\", line 11 \"- [ ] c\", line 12 \"- [ ] d\".\n"},
		{"behind the end", "task ref=A.md:99 toggle", answer.ExitFailed,
			"Error: Task \"A.md:99\" not found. The nearest are line 7 \"- [ ] b\", line 11 \"- [ ] c\", line 12 \"- [ ] d\", line 13 \"- [ ] e\".\n"},
		{"a note without any", "task path=B.md line=1 done", answer.ExitFailed, "Error: Task \"B.md:1\" not found. The note has none.\n"},
		{"a file that is no note", "task path=C.txt line=1 done", answer.ExitFailed, "Error: Task \"C.txt:1\" not found. Only Markdown notes have tasks.\n"},
		{"a missing note", "task path=D.md line=1 done", answer.ExitFailed, "Error: File \"D.md\" not found.\n"},
		{"today's note is not made for it", "task daily line=1 done", answer.ExitFailed, "Error: File \"2026-11-21.md\" not found.\n"},
		{"two changes", "task path=A.md line=1 done todo", answer.ExitMisuse, "Error: Use toggle, done, todo or status=<mark>, not several.\n"},
		{"two characters", "task path=A.md line=1 status=xx", answer.ExitMisuse, "Error: Invalid status: xx. Use one character.\n"},
		{"half a character", "task path=A.md line=1 status=\xc3", answer.ExitMisuse, "Error: Invalid status: \xc3. Use one character.\n"},
		{"a mark that would be none", "task path=A.md line=1 status=\x01", answer.ExitFailed, "Error: Line 1: this character cannot be the mark of a task.\n"},
	})
	assert.Equal(t, h.Get("A.md"), text, "the note became")
}

const pluginData = ".obsidian/plugins/obsidian-tasks-plugin/data.json"

// withPlugin is a vault in which the Tasks plugin is enabled, with its settings.
func withPlugin(t *testing.T, settings string, files map[string]string) *embedded.Vault {
	h := embedded.New(t, files)
	h.Put(".obsidian/community-plugins.json", `["dataview","obsidian-tasks-plugin"]`)
	h.Put(pluginData, settings)
	return h
}

// A recurring task that is completed has its next one in the note, and undo takes both back.
func TestCompletingARecurringTask(t *testing.T) {
	for _, test := range []struct{ name, settings, note, args, want, said string }{
		{"above", `{}`, "- [ ] mow 🔁 every week 📅 2026-11-20", "done", "- [ ] mow 🔁 every week 📅 2026-11-27\n- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21",
			"status\tx\ntext\t- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\nfile\tA.md\nline\t2\nnext\t- [ ] mow 🔁 every week 📅 2026-11-27\nnext-line\t1\n"},
		{"below, where the settings say so", `{"recurrenceOnNextLine":true}`, "- [ ] mow 🔁 every week 📅 2026-11-20",
			"toggle", "- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\n- [ ] mow 🔁 every week 📅 2026-11-27",
			"status\tx\ntext\t- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\nfile\tA.md\nline\t1\nnext\t- [ ] mow 🔁 every week 📅 2026-11-27\nnext-line\t2\n"},
		{"indented, quoted, with another list mark", `{}`, "> 1) [ ]  mow 🔁 every day", "done",
			"> 1) [ ]  mow 🔁 every day\n> 1) [x]  mow 🔁 every day ✅ 2026-11-21", ""},
		{"on another day", `{}`, "- [ ] mow 🔁 every week when done 📅 2026-11-20", "done date=yesterday",
			"- [ ] mow 🔁 every week when done 📅 2026-11-27\n- [x] mow 🔁 every week when done 📅 2026-11-20 ✅ 2026-11-20",
			""},
		{"the mark of the settings",
			`{"statusSettings":{"coreStatuses":[{"symbol":"x","type":"DONE","nextStatusSymbol":"/"},{"symbol":"/","type":"IN_PROGRESS","nextStatusSymbol":"x"}]}}`,
			"- [ ] mow 🔁 every day", "status=x", "- [/] mow 🔁 every day\n- [x] mow 🔁 every day ✅ 2026-11-21", ""},
		{"and the finished one goes", `{}`, "- [ ] mow 🔁 every day 📅 2026-11-20 🏁 delete", "done", "- [ ] mow 🔁 every day 📅 2026-11-21 🏁 delete",
			"removed\t- [ ] mow 🔁 every day 📅 2026-11-20 🏁 delete\nnext\t- [ ] mow 🔁 every day 📅 2026-11-21 🏁 delete\nnext-line\t1\n"},
		{"one that does not recur", `{}`, "- [ ] mow", "done", "- [x] mow ✅ 2026-11-21", "status\tx\ntext\t- [x] mow ✅ 2026-11-21\nfile\tA.md\nline\t1\n"},
		{"one that goes", `{}`, "- [ ] mow 🏁 delete", "done", "", "removed\t- [ ] mow 🏁 delete\n"},
		{"no date, where the settings say so", `{"setDoneDate":false}`, "- [ ] mow", "done", "- [x] mow", ""},
		{"a date that was asked for", `{"setDoneDate":true,"globalFilter":"#task"}`, "- [ ] mow", "done date=2026-11-19", "- [x] mow ✅ 2026-11-19", ""},
		{"with a date what the filter leaves out does not recur", `{"setDoneDate":true,"globalFilter":"#task"}`,
			"- [ ] mow 🔁 every day 📅 2024-05-01", "done date=2024-05-01",
			"- [x] mow 🔁 every day 📅 2024-05-01 ✅ 2024-05-01", ""},
		{"nor is it removed", `{"globalFilter":"#task"}`, "- [ ] mow 🏁 delete", "done date=2024-05-01", "- [x] mow 🏁 delete ✅ 2024-05-01", ""},
		{"what the filter leaves out", `{"globalFilter":"#task"}`, "- [ ] mow 🔁 every day", "done", "- [x] mow 🔁 every day", ""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(test.name, func(t *testing.T) {
				wrap := func(text string) string {
					lines := strings.ReplaceAll(text, "\n", end) + end
					if text == "" {
						lines = ""
					}
					return "\ufeff" + lines + "- [ ] other" + end + "\xff"
				}
				h := withPlugin(t, test.settings, map[string]string{"A.md": wrap(test.note)})
				args := append([]string{"task", "ref=A.md:1"}, strings.Fields(test.args)...)
				if _, out, _ := h.Run(append([]string{"--plan"}, args...)...); !strings.Contains(out, `"sign":"-"`) &&
					!strings.Contains(out, `"sign":"+"`) || h.Get("A.md") != wrap(test.note) {
					t.Errorf("the plan is %q and left %q", out, h.Get("A.md"))
				}
				status, out, _ := h.Run(args...)
				if got := h.Get("A.md"); status != answer.ExitDone || got != wrap(test.want) || test.said != "" && out != test.said {
					t.Errorf("status %d, %q\nthe note became %q\nwant            %q", status, out, got, wrap(test.want))
				}
				status, out, _ = h.Run("undo")
				assert.Equal(t, status, answer.ExitDone, "undo: %q left %q", out, h.Get("A.md"))
				assert.Equal(t, h.Get("A.md"), wrap(test.note), "undo: %q left %q", out, h.Get("A.md"))
			})
		}
	}
}

// Without the plugin a task that does not recur gets a mark and nothing else.
func TestATaskInAVaultWithoutThePlugin(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "- [ ] a\n- [ ] b 🔁 every day 📅 2026-11-21\n- [ ] c 🏁 delete\n"})
	h.Run("task", "ref=A.md:1", "done")
	h.Run("task", "ref=A.md:3", "done")
	h.Run("task", "ref=A.md:2", "done")
	assert.Equal(t, h.Get("A.md"),
		"- [x] a\n- [ ] b 🔁 every day 📅 2026-11-22\n- [x] b 🔁 every day 📅 2026-11-21 ✅ 2026-11-21\n- [x] c 🏁 delete\n",
		"the note became")
}

func TestTasksThatCannotBeCompleted(t *testing.T) {
	text := "- [ ] a 🔁 every other week 📅 2026-11-20\n- [ ] b 🔁 every day 📅 2026-02-30\n- [ ] c 🏁 delete\n    - below\n"
	h := withPlugin(t, `{}`, map[string]string{"A.md": text})
	h.Steps([]embedded.Turn{
		{"a rule that is none", "task ref=A.md:1 done", answer.ExitFailed,
			"Error: Task \"A.md:1\" cannot be completed: the recurrence \"every other week\" is not understood: \"other\" is not understood there. Its mark alone can be changed once the text is mended.\n"},
		{"a date that does not exist", "task ref=A.md:2 toggle", answer.ExitFailed,
			"Error: Task \"A.md:2\" cannot be completed: the date 2026-02-30 does not exist, so the next one cannot be computed. Its mark alone can be changed once the text is mended.\n"},
		{"one that has others below it", "task ref=A.md:3 done", answer.ExitFailed,
			"Error: Task \"A.md:3\" cannot be completed: it says that it is to be deleted then, and there are items below it.\n"},
		{"a day without a change", "task ref=A.md:1 date=today", answer.ExitMisuse,
			"Error: date=<date> is the day on which a task is done: give done, toggle or status=<mark> too.\n"},
		{"a day that is none", "task ref=A.md:1 done date=soon", answer.ExitMisuse, noDay("soon")},
	})
	assert.Equal(t, h.Get("A.md"), text, "the note became")
	h.Put(pluginData, "{")
	status, out, _ := h.Run("task", "ref=A.md:1", "done")
	assert.Equal(t, status, answer.ExitFailed, "status %d", status)
	assert.Contains(t, out, "Cannot use the settings in "+pluginData, "status %d", status)
}

func TestTaskAdd(t *testing.T) {
	for _, test := range []struct{ name, settings, note, args, want, said string }{
		{"at the end", `{}`, "text", "content=call", "text\n- [ ] call", "A.md:2"},
		{"with dates", `{}`, "a\n",
			"content=call due=tomorrow scheduled=2026-11-21 start=-1d priority=high recurs=every_week",
			"a\n- [ ] call ⏫ 🔁 every week 🛫 2026-11-20 ⏳ 2026-11-21 📅 2026-11-22", "A.md:2"},
		{"a weekday lies ahead", `{}`, "a\n", "content=call due=friday", "a\n- [ ] call 📅 2026-11-27", ""},
		{"a week is due at its end", `{}`, "a\n", "content=call due=2026-W48 start=2026-W48", "a\n- [ ] call 🛫 2026-11-23 📅 2026-11-29", ""},
		{"in brackets", `{"taskFormat":"dataview"}`, "a\n", "content=call due=2026-12-01 priority=low",
			"a\n- [ ] call  [priority:: low]  [due:: 2026-12-01]", ""},
		{"with what the plugin adds", `{"globalFilter":"#task","setCreatedDate":true}`, "a\n",
			"content=call due=2026-12-01", "a\n- [ ] #task call ➕ 2026-11-21 📅 2026-12-01", ""},
		{"below a heading", `{}`, "# A\n- [ ] old\n\n# B\n", "content=call heading=A priority=normal", "# A\n- [ ] old\n- [ ] call\n\n# B\n", "A.md:3"},
		{"below one that is made", `{}`, "# A\n", "content=call heading=Todo create-heading", "# A\n\n## Todo\n- [ ] call", "A.md:4"},
		{"a task already", `{}`, "a\n", "content=-_[_]_call_📅_2026-12-01", "a\n- [ ] call 📅 2026-12-01", ""},
		{"in a note with CRLF", `{}`, "# A\r\n", "content=call heading=A", "# A\r\n- [ ] call\r\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := withPlugin(t, test.settings, map[string]string{"A.md": test.note})
			args := []string{"task:add", "path=A.md"}
			for _, arg := range strings.Fields(test.args) {
				args = append(args, strings.ReplaceAll(arg, "_", " "))
			}
			status, out, _ := h.Run(args...)
			if got := h.Get("A.md"); status != answer.ExitDone ||
				strings.TrimRight(got, "\n") != strings.TrimRight(test.want, "\n") ||
				test.said != "" && out != "Task added to: "+test.said+"\n" {
				t.Errorf("status %d, %q\nthe note became %q\nwant            %q", status, out, got, test.want)
			}
			status, out, _ = h.Run("undo")
			assert.Equal(t, status, answer.ExitDone, "undo: %q left %q", out, h.Get("A.md"))
			assert.Equal(t, h.Get("A.md"), test.note, "undo: %q left %q", out, h.Get("A.md"))
		})
	}
}

func TestTaskAddToTodaysNote(t *testing.T) {
	files := map[string]string{".obsidian/daily-notes.json": `{"folder":"D","template":"T"}`, "T.md": "# {{date}}\n## Tasks\n## Log\n"}
	want := map[string]string{"D/2026-11-21.md": "# 2026-11-21\n## Tasks\n- [ ] call\n\n## Log\n"}
	changed(t, files, "Task added to: D/2026-11-21.md:3", want, "task:add", "daily", "heading=Tasks", "content=call")
}

func TestTasksThatCannotBeAdded(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "```\ncode\n"})
	h.Steps([]embedded.Turn{
		{"nowhere", "task:add content=a", answer.ExitMisuse, "Error: Missing required parameter: path=<path>, file=<name> or daily\n"},
		{"twice", "task:add content=a path=A.md daily", answer.ExitMisuse, "Error: Use file=<name>, path=<path> or daily, not several.\n"},
		{"no text", "task:add path=A.md content=-", answer.ExitMisuse, "Error: Invalid value for content: a task is one line of text.\n"},
		{"in code", "task:add path=A.md content=a", answer.ExitFailed,
			"Error: The task cannot be added to \"A.md\": at that place the line would not be a task.\n"},
		{"a heading without a name", "task:add path=A.md content=a create-heading", answer.ExitMisuse,
			"Error: create-heading makes the heading that heading=<text> names: give it too.\n"},
		{"a missing heading", "task:add path=A.md content=a heading=B", answer.ExitFailed, "Error: Heading \"B\" not found. The note has no headings.\n"},
		{"a rule that is none", "task:add path=A.md content=a recurs=weekly", answer.ExitMisuse,
			"Error: Invalid value for recurs: it does not begin with \"every\". Use a rule such as \"every week on Friday\" or \"every 2 months when done\".\n"},
		{"a day that is none", "task:add path=A.md content=a due=soon", answer.ExitMisuse, noDay("soon")},
		{"a missing note", "task:add path=B.md content=a", answer.ExitFailed, "Error: File \"B.md\" not found.\n"},
	})
	h.Expect(answer.ExitMisuse, "Error: Invalid value for content: a task is one line of text.\n", "task:add", "path=A.md", "content=a\nb")
	h.Expect(answer.ExitMisuse, "Error: Invalid value for content: a task is one line of text.\n", "task:add", "path=A.md", "content= - ")
}

func TestTaskReschedule(t *testing.T) {
	for _, test := range []struct{ line, args, want string }{
		{"- [ ] call 📅 2026-11-20 ^id", "due=tomorrow", "- [ ] call 📅 2026-11-22 ^id"},
		{"- [ ] call", "due=2026-12-01", "- [ ] call 📅 2026-12-01"},
		{"- [ ] call [scheduled:: 2026-11-20]", "due=2026-12-01 scheduled=2026-11-30", "- [ ] call [scheduled:: 2026-11-30]  [due:: 2026-12-01]"},
		{"- [ ] call 🛫 2026-11-01 📅 2026-11-20", "clear=due start=today", "- [ ] call 🛫 2026-11-21"},
		{"> 2. [/] call 🔁 every day 📅 2026-11-20", "due=2w", "> 2. [/] call 🔁 every day 📅 2026-12-05"},
	} {
		note := func(line string) map[string]string { return map[string]string{"A.md": "\r\n" + line + "\r\nx"} }
		call := append([]string{"task:reschedule", "ref=A.md:2"}, strings.Fields(test.args)...)
		changed(t, note(test.line), "Rescheduled: A.md:2\n"+strings.TrimPrefix(test.want, "> "), note(test.want), call...)
	}
	h := embedded.New(t, map[string]string{"A.md": "- [ ] a 📅 2026-11-20\ntext\n"})
	h.Steps([]embedded.Turn{
		{"no date", "task:reschedule ref=A.md:1", answer.ExitMisuse,
			"Error: Missing required parameter: due=<date>, scheduled=<date>, start=<date> or clear=<name>\n"},
		{"one date twice", "task:reschedule ref=A.md:1 due=today clear=due", answer.ExitMisuse, "Error: Use due=<date> or clear=due, not both.\n"},
		{"no task", "task:reschedule ref=A.md:2 due=today", answer.ExitFailed,
			"Error: Task \"A.md:2\" not found. The nearest are line 1 \"- [ ] a 📅 2026-11-20\".\n"},
		{"the same date", "task:reschedule ref=A.md:1 due=2026-11-20", answer.ExitDone, "Nothing was changed: the task \"A.md:1\" has these dates already.\n"},
	})
}

func TestAppendUnderAHeadingThatIsMade(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "# A\n"})
	h.Expect(answer.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "heading=Log", "create-heading", "content=x")
	h.Expect(answer.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "heading=Log", "create-heading", "content=y")
	h.Expect(answer.ExitDone, "Added to: 2026-11-21.md\n", "daily:append", "heading=Log", "create-heading", "content=x")
	h.Expect(answer.ExitMisuse, "Error: create-heading makes the heading that heading=<text> names: give it too.\n",
		"append", "path=A.md", "create-heading", "content=y")
	h.Expect(answer.ExitMisuse, "Error: create-heading makes the heading that heading=<text> names: give it too.\n",
		"daily:append", "create-heading", "content=y")
	a, today := h.Get("A.md"), h.Get("2026-11-21.md")
	assert.Equal(t, a, "# A\n\n## Log\nx\n\ny\n", "the notes became %q and %q", a, today)
	assert.Equal(t, today, "## Log\nx", "the notes became %q and %q", a, today)
}
