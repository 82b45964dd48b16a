package vault

import (
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

const pluginData = ".obsidian/plugins/obsidian-tasks-plugin/data.json"

// withPlugin is a vault in which the Tasks plugin is enabled, with its settings.
func withPlugin(t *testing.T, settings string, files map[string]string) *testVault {
	h := build(t, files)
	h.put(".obsidian/community-plugins.json", `["dataview","obsidian-tasks-plugin"]`)
	h.put(pluginData, settings)
	return h
}

// A recurring task that is completed has its next one in the note, and undo takes both back.
func TestCompletingARecurringTask(t *testing.T) {
	for _, test := range []struct{ name, settings, note, args, want, said string }{
		{"above", `{}`, "- [ ] mow 🔁 every week 📅 2026-11-20", "done", "- [ ] mow 🔁 every week 📅 2026-11-27\n- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21",
			"status\tx\ntext\t- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\nfile\tA.md\nline\t2\nnext\t- [ ] mow 🔁 every week 📅 2026-11-27\nnext-line\t1\n"},
		{"below, where the settings say so", `{"recurrenceOnNextLine":true}`, "- [ ] mow 🔁 every week 📅 2026-11-20", "toggle", "- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\n- [ ] mow 🔁 every week 📅 2026-11-27",
			"status\tx\ntext\t- [x] mow 🔁 every week 📅 2026-11-20 ✅ 2026-11-21\nfile\tA.md\nline\t1\nnext\t- [ ] mow 🔁 every week 📅 2026-11-27\nnext-line\t2\n"},
		{"indented, quoted, with another list mark", `{}`, "> 1) [ ]  mow 🔁 every day", "done", "> 1) [ ]  mow 🔁 every day\n> 1) [x]  mow 🔁 every day ✅ 2026-11-21", ""},
		{"on another day", `{}`, "- [ ] mow 🔁 every week when done 📅 2026-11-20", "done date=yesterday", "- [ ] mow 🔁 every week when done 📅 2026-11-27\n- [x] mow 🔁 every week when done 📅 2026-11-20 ✅ 2026-11-20", ""},
		{"the mark of the settings", `{"statusSettings":{"coreStatuses":[{"symbol":"x","type":"DONE","nextStatusSymbol":"/"},{"symbol":"/","type":"IN_PROGRESS","nextStatusSymbol":"x"}]}}`,
			"- [ ] mow 🔁 every day", "status=x", "- [/] mow 🔁 every day\n- [x] mow 🔁 every day ✅ 2026-11-21", ""},
		{"and the finished one goes", `{}`, "- [ ] mow 🔁 every day 📅 2026-11-20 🏁 delete", "done", "- [ ] mow 🔁 every day 📅 2026-11-21 🏁 delete",
			"removed\t- [ ] mow 🔁 every day 📅 2026-11-20 🏁 delete\nnext\t- [ ] mow 🔁 every day 📅 2026-11-21 🏁 delete\nnext-line\t1\n"},
		{"one that does not recur", `{}`, "- [ ] mow", "done", "- [x] mow ✅ 2026-11-21", "status\tx\ntext\t- [x] mow ✅ 2026-11-21\nfile\tA.md\nline\t1\n"},
		{"one that is open again", `{}`, "- [x] mow ✅ 2026-11-20", "todo", "- [ ] mow", ""},
		{"one that goes", `{}`, "- [ ] mow 🏁 delete", "done", "", "removed\t- [ ] mow 🏁 delete\n"},
		{"no date, where the settings say so", `{"setDoneDate":false}`, "- [ ] mow", "done", "- [x] mow", ""},
		{"a date that was asked for", `{"setDoneDate":true,"globalFilter":"#task"}`, "- [ ] mow", "done date=2026-11-19", "- [x] mow ✅ 2026-11-19", ""},
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
				if _, out, _ := h.run(append([]string{"--plan"}, args...)...); !strings.Contains(out, `"sign":"-"`) && !strings.Contains(out, `"sign":"+"`) || h.get("A.md") != wrap(test.note) {
					t.Errorf("the plan is %q and left %q", out, h.get("A.md"))
				}
				status, out, _ := h.run(args...)
				if got := h.get("A.md"); status != command.ExitDone || got != wrap(test.want) || test.said != "" && out != test.said {
					t.Errorf("status %d, %q\nthe note became %q\nwant            %q", status, out, got, wrap(test.want))
				}
				if status, out, _ := h.run("undo"); status != command.ExitDone || h.get("A.md") != wrap(test.note) {
					t.Errorf("undo: %q left %q", out, h.get("A.md"))
				}
			})
		}
	}
}

// Without the plugin a task that does not recur gets a mark and nothing else.
func TestATaskInAVaultWithoutThePlugin(t *testing.T) {
	h := build(t, map[string]string{"A.md": "- [ ] a\n- [ ] b 🔁 every day 📅 2026-11-21\n- [ ] c 🏁 delete\n"})
	h.run("task", "ref=A.md:1", "done")
	h.run("task", "ref=A.md:3", "done")
	h.run("task", "ref=A.md:2", "done")
	if got := h.get("A.md"); got != "- [x] a\n- [ ] b 🔁 every day 📅 2026-11-22\n- [x] b 🔁 every day 📅 2026-11-21 ✅ 2026-11-21\n- [x] c 🏁 delete\n" {
		t.Errorf("the note became %q", got)
	}
}

func TestTasksThatCannotBeCompleted(t *testing.T) {
	text := "- [ ] a 🔁 every other week 📅 2026-11-20\n- [ ] b 🔁 every day 📅 2026-02-30\n- [ ] c 🏁 delete\n    - below\n"
	h := withPlugin(t, `{}`, map[string]string{"A.md": text})
	h.steps([]turn{
		{"a rule that is none", "task ref=A.md:1 done", command.ExitFailed,
			"Error: Task \"A.md:1\" cannot be completed: the recurrence \"every other week\" is not understood: \"other\" is not understood there. Its mark alone can be changed once the text is mended.\n"},
		{"a date that does not exist", "task ref=A.md:2 toggle", command.ExitFailed,
			"Error: Task \"A.md:2\" cannot be completed: the date 2026-02-30 does not exist, so the next one cannot be computed. Its mark alone can be changed once the text is mended.\n"},
		{"one that has others below it", "task ref=A.md:3 done", command.ExitFailed, "Error: Task \"A.md:3\" cannot be completed: it says that it is to be deleted then, and there are items below it.\n"},
		{"a day without a change", "task ref=A.md:1 date=today", command.ExitMisuse, "Error: date=<date> is the day on which a task is done: give done, toggle or status=<mark> too.\n"},
		{"a day that is none", "task ref=A.md:1 done date=soon", command.ExitMisuse, noDay("soon")},
	})
	if h.get("A.md") != text {
		t.Errorf("the note became %q", h.get("A.md"))
	}
	h.put(pluginData, "{")
	if status, out, _ := h.run("task", "ref=A.md:1", "done"); status != command.ExitFailed || !strings.Contains(out, "Cannot use the settings in "+pluginData) {
		t.Errorf("status %d, %q", status, out)
	}
}

func TestTaskAdd(t *testing.T) {
	for _, test := range []struct{ name, settings, note, args, want, said string }{
		{"at the end", `{}`, "text", "content=call", "text\n- [ ] call", "A.md:2"},
		{"with dates", `{}`, "a\n", "content=call due=tomorrow scheduled=2026-11-21 start=-1d priority=high recurs=every_week", "a\n- [ ] call ⏫ 🔁 every week 🛫 2026-11-20 ⏳ 2026-11-21 📅 2026-11-22", "A.md:2"},
		{"a weekday lies ahead", `{}`, "a\n", "content=call due=friday", "a\n- [ ] call 📅 2026-11-27", ""},
		{"a week is due at its end", `{}`, "a\n", "content=call due=2026-W48 start=2026-W48", "a\n- [ ] call 🛫 2026-11-23 📅 2026-11-29", ""},
		{"in brackets", `{"taskFormat":"dataview"}`, "a\n", "content=call due=2026-12-01 priority=low", "a\n- [ ] call  [priority:: low]  [due:: 2026-12-01]", ""},
		{"with what the plugin adds", `{"globalFilter":"#task","setCreatedDate":true}`, "a\n", "content=call due=2026-12-01", "a\n- [ ] #task call ➕ 2026-11-21 📅 2026-12-01", ""},
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
			status, out, _ := h.run(args...)
			if got := h.get("A.md"); status != command.ExitDone || strings.TrimRight(got, "\n") != strings.TrimRight(test.want, "\n") || test.said != "" && out != "Task added to: "+test.said+"\n" {
				t.Errorf("status %d, %q\nthe note became %q\nwant            %q", status, out, got, test.want)
			}
			if status, out, _ := h.run("undo"); status != command.ExitDone || h.get("A.md") != test.note {
				t.Errorf("undo: %q left %q", out, h.get("A.md"))
			}
		})
	}
}

func TestTaskAddToTodaysNote(t *testing.T) {
	h := build(t, map[string]string{".obsidian/daily-notes.json": `{"folder":"D","template":"T"}`, "T.md": "# {{date}}\n## Tasks\n## Log\n"})
	h.expect(command.ExitDone, "Task added to: D/2026-11-21.md:3\n", "task:add", "daily", "heading=Tasks", "content=call")
	if got := h.get("D/2026-11-21.md"); got != "# 2026-11-21\n## Tasks\n- [ ] call\n\n## Log\n" {
		t.Errorf("the note became %q", got)
	}
	if status, out, _ := h.run("undo"); status != command.ExitDone {
		t.Error(out)
	}
	if h.get("D/2026-11-21.md") != "(missing)" {
		t.Error("undo left the note")
	}
}

func TestTasksThatCannotBeAdded(t *testing.T) {
	h := build(t, map[string]string{"A.md": "```\ncode\n"})
	h.steps([]turn{
		{"nowhere", "task:add content=a", command.ExitMisuse, "Error: Missing required parameter: path=<path>, file=<name> or daily\n"},
		{"twice", "task:add content=a path=A.md daily", command.ExitMisuse, "Error: Use file=<name>, path=<path> or daily, not several.\n"},
		{"no text", "task:add path=A.md content=-", command.ExitMisuse, "Error: Invalid value for content: a task is one line of text.\n"},
		{"in code", "task:add path=A.md content=a", command.ExitFailed, "Error: The task cannot be added to \"A.md\": at that place the line would not be a task.\n"},
		{"a heading without a name", "task:add path=A.md content=a create-heading", command.ExitMisuse, "Error: create-heading makes the heading that heading=<text> names: give it too.\n"},
		{"a missing heading", "task:add path=A.md content=a heading=B", command.ExitFailed, "Error: Heading \"B\" not found. The note has no headings.\n"},
		{"a rule that is none", "task:add path=A.md content=a recurs=weekly", command.ExitMisuse,
			"Error: Invalid value for recurs: it does not begin with \"every\". Use a rule such as \"every week on Friday\" or \"every 2 months when done\".\n"},
		{"a day that is none", "task:add path=A.md content=a due=soon", command.ExitMisuse, noDay("soon")},
		{"a missing note", "task:add path=B.md content=a", command.ExitFailed, "Error: File \"B.md\" not found.\n"},
	})
	h.expect(command.ExitMisuse, "Error: Invalid value for content: a task is one line of text.\n", "task:add", "path=A.md", "content=a\nb")
	h.expect(command.ExitMisuse, "Error: Invalid value for content: a task is one line of text.\n", "task:add", "path=A.md", "content= - ")
}

func TestTaskReschedule(t *testing.T) {
	for _, test := range []struct{ line, args, want string }{
		{"- [ ] call 📅 2026-11-20 ^id", "due=tomorrow", "- [ ] call 📅 2026-11-22 ^id"},
		{"- [ ] call", "due=2026-12-01", "- [ ] call 📅 2026-12-01"},
		{"- [ ] call [scheduled:: 2026-11-20]", "due=2026-12-01 scheduled=2026-11-30", "- [ ] call [scheduled:: 2026-11-30]  [due:: 2026-12-01]"},
		{"- [ ] call 🛫 2026-11-01 📅 2026-11-20", "clear=due start=today", "- [ ] call 🛫 2026-11-21"},
		{"> 2. [/] call 🔁 every day 📅 2026-11-20", "due=2w", "> 2. [/] call 🔁 every day 📅 2026-12-05"},
	} {
		h := build(t, map[string]string{"A.md": "\r\n" + test.line + "\r\nx"})
		args := append([]string{"task:reschedule", "ref=A.md:2"}, strings.Fields(test.args)...)
		h.expect(command.ExitDone, "Rescheduled: A.md:2\n"+strings.TrimPrefix(test.want, "> ")+"\n", args...)
		if got := h.get("A.md"); got != "\r\n"+test.want+"\r\nx" {
			t.Errorf("%s became %q", test.line, got)
		}
		if h.run("undo"); h.get("A.md") != "\r\n"+test.line+"\r\nx" {
			t.Errorf("undo left %q", h.get("A.md"))
		}
	}
	h := build(t, map[string]string{"A.md": "- [ ] a 📅 2026-11-20\ntext\n"})
	h.steps([]turn{
		{"no date", "task:reschedule ref=A.md:1", command.ExitMisuse, "Error: Missing required parameter: due=<date>, scheduled=<date>, start=<date> or clear=<name>\n"},
		{"one date twice", "task:reschedule ref=A.md:1 due=today clear=due", command.ExitMisuse, "Error: Use due=<date> or clear=due, not both.\n"},
		{"no task", "task:reschedule ref=A.md:2 due=today", command.ExitFailed, "Error: Task \"A.md:2\" not found. The nearest are line 1 \"- [ ] a 📅 2026-11-20\".\n"},
		{"the same date", "task:reschedule ref=A.md:1 due=2026-11-20", command.ExitDone, "Rescheduled: A.md:1\n- [ ] a 📅 2026-11-20\n"},
	})
}

func TestAppendUnderAHeadingThatIsMade(t *testing.T) {
	h := build(t, map[string]string{"A.md": "# A\n"})
	h.expect(command.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "heading=Log", "create-heading", "content=x")
	h.expect(command.ExitDone, "Appended to: A.md\n", "append", "path=A.md", "heading=Log", "create-heading", "content=y")
	h.expect(command.ExitDone, "Added to: 2026-11-21.md\n", "daily:append", "heading=Log", "create-heading", "content=x")
	h.expect(command.ExitMisuse, "Error: create-heading makes the heading that heading=<text> names: give it too.\n", "append", "path=A.md", "create-heading", "content=y")
	h.expect(command.ExitMisuse, "Error: create-heading makes the heading that heading=<text> names: give it too.\n", "daily:append", "create-heading", "content=y")
	if a, today := h.get("A.md"), h.get("2026-11-21.md"); a != "# A\n\n## Log\nx\n\ny\n" || today != "## Log\nx" {
		t.Errorf("the notes became %q and %q", a, today)
	}
}
