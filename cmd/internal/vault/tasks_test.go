package vault

import (
	"encoding/json"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
)

// errands is a vault with tasks of all kinds; today is 2026-11-21.
var errands = map[string]string{
	"Home.md":      "# House\n- [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n- [x] mow ⏳ 2026-11-01 ✅ 2026-11-02\n## Garden\n- [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01\n- [/] dig [due:: 2026-11-10]  [priority:: low]\n",
	"Work/Plan.md": "- [ ] mail #money\n- [-] visit 📅 2026-11-01\n- [ ] broken 📅 2026-02-30\n- [ ] today 📅 2026-11-21 ^id\n",
	"Work/Old.md":  "text\n> - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\n",
}

func TestTasksWithTheirDates(t *testing.T) {
	h := build(t, errands)
	for _, test := range []struct{ args, want string }{
		{"overdue", "Home.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"overdue todo total", "1"},
		{"due=2026-11-21", "Work/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n"},
		{"due-before=2026-11-21 todo", "Home.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n"},
		{"due-before=2026-11-10 total", "1"},
		{"due-after=2026-11-20 todo", "Home.md:5: - [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01\nWork/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n"},
		{"due-after=2026-11-20 due-before=2026-12-01 total", "1"},
		{"due=today total", "1"}, {"due=2026-W47 total", "2"}, {"due-before=tuesday todo total", "2"}, {"due-after=2w total", "0"}, {"due-after=yesterday total", "2"},
		{"no-due todo", "Work/Old.md:2: - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\nWork/Plan.md:1: - [ ] mail #money\n"},
		{"priority=high total", "1"}, {"priority=normal total", "6"}, {"priority=low total", "2"},
		{"tag=money total", "3"}, {"tag=#money/fixed total", "1"}, {"tag=mon total", "0"},
		{"folder=Work todo total", "4"}, {"folder=Work/ total", "5"}, {"folder=/ total", "9"}, {"path=Home.md details total", "4"},
		{"sort=due todo", "Work/Plan.md:3: - [ ] broken 📅 2026-02-30\nHome.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\nWork/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n" +
			"Home.md:5: - [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01\nWork/Plan.md:1: - [ ] mail #money\nWork/Old.md:2: - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\n"},
		{"sort=priority overdue", "Home.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"group=note path=Home.md done", "==> Home.md <==\nHome.md:3: - [x] mow ⏳ 2026-11-01 ✅ 2026-11-02\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"group=heading overdue", "==> Garden <==\nHome.md:6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n==> House <==\nHome.md:2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n"},
		{"group=due folder=Work", "==> 2026-02-30 <==\nWork/Plan.md:3: - [ ] broken 📅 2026-02-30\n==> 2026-11-01 <==\nWork/Plan.md:2: - [-] visit 📅 2026-11-01\n==> 2026-11-21 <==\nWork/Plan.md:4: - [ ] today 📅 2026-11-21 ^id\n" +
			"==> (no due date) <==\nWork/Old.md:2: - [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\nWork/Plan.md:1: - [ ] mail #money\n"},
		{"group=tag path=Home.md overdue verbose", "==> #money/fixed <==\nHome.md\n2: - [ ] rent 📅 2026-11-20 ⏫ #money/fixed\n==> (no tag) <==\nHome.md\n6: - [/] dig [due:: 2026-11-10]  [priority:: low]\n"},
		{"path=Work/Old.md details format=tsv", " \t- [ ] quoted 🆔 a ⛔ b,c 🏁 delete ➕ 2026-01-01 🔽 #Money\tWork/Old.md\t2\t\t\tquoted #Money\t\t\t\t2026-01-01\t\t\tlow\t\tdelete\ta\tb,c\t#Money\n"},
		{"daily overdue", "No tasks found."},
	} {
		want := test.want
		if !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		h.expect(command.ExitDone, want, append([]string{"tasks"}, strings.Fields(test.args)...)...)
	}
}

func TestTasksAsJSONHaveAllFields(t *testing.T) {
	h := build(t, errands)
	_, out, _ := h.run("tasks", "path=Home.md", "details", "format=json", "group=heading")
	var rows []map[string]string
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 4 {
		t.Fatalf("%v: %s", err, out)
	}
	want := map[string]string{
		"status": " ", "text": "- [ ] rake 🔁 every week 🛫 2026-11-20 📅 2026-12-01", "file": "Home.md", "line": "5", "group": "Garden", "heading": "Garden",
		"description": "rake", "due": "2026-12-01", "start": "2026-11-20", "recurs": "every week",
	}
	if got := rows[0]; len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	for key, value := range want {
		if rows[0][key] != value {
			t.Errorf("%s is %q, want %q", key, rows[0][key], value)
		}
	}
	if got := rows[3]; got["done-on"] != "2026-11-02" || got["scheduled"] != "2026-11-01" {
		t.Errorf("got %q", got)
	}
	// Without a parameter of ours the answer is the one of the app.
	if _, out, _ := h.run("tasks", "path=Home.md", "done", "format=json"); strings.Contains(out, "heading") {
		t.Errorf("got %s", out)
	}
}

func TestFiltersOfTasksThatContradict(t *testing.T) {
	h := build(t, errands)
	for _, args := range []string{"overdue done", "no-due overdue", "no-due due=2026-11-21", "no-due due-before=2026-11-21", "folder=Work path=Home.md", "folder=Work daily"} {
		status, out, _ := h.run(append([]string{"tasks"}, strings.Fields(args)...)...)
		if status != command.ExitMisuse || !strings.Contains(out, "not several") {
			t.Errorf("%s: status %d, %q", args, status, out)
		}
	}
	h.expect(command.ExitMisuse, noDay("soon"), "tasks", "due=soon")
	h.expect(command.ExitMisuse, "Error: Invalid value for priority: urgent. Use highest, high, medium, normal, low, lowest.\n", "tasks", "priority=urgent")
	h.expect(command.ExitFailed, "Error: Folder \"Wrk\" not found.\n", "tasks", "folder=Wrk")
	h.expect(command.ExitFailed, "Error: Folder \"../x\" not found.\n", "tasks", "folder=../x")
}

// A day that begins later than at midnight is one on which a task of yesterday is not late.
func TestTheHourAtWhichADayBegins(t *testing.T) {
	h := build(t, errands)
	h.env["VAULTWICKET_DAY_START"] = "12" // it is five past nine
	h.expect(command.ExitDone, "1\n", "tasks", "overdue", "total")
	h.expect(command.ExitDone, "2026-11-20.md\n", "daily:path")
	h.expect(command.ExitDone, "2026-11-19.md\n", "daily:path", "offset=-1")
	h.env["VAULTWICKET_DAY_START"] = "9"
	h.expect(command.ExitDone, "2026-11-21.md\n", "daily:path")
	h.env["VAULTWICKET_DAY_START"] = "24"
	h.expect(command.ExitMisuse, "Error: VAULTWICKET_DAY_START is not an hour from 0 to 12: \"24\"\n", "daily:path")
}
