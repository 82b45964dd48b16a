package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"

	"github.com/chromedp/chromedp"
)

// pictures is where the pictures of the documentation are written, "" for nowhere.
var pictures = flag.String("pictures", "", "folder to write pictures of the views to")

// high is how high a window of a picture is.
var high = flag.Int64("high", 720, "height of the windows of pictures")

// place is a view by the name of its picture.
type place struct{ name, path string }

// take takes pictures of views in both themes, at three widths.
func (w *world) take(b *tab, prefix string, places []place) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(*pictures, 0o755))
	for _, at := range places {
		for _, look := range []struct {
			name, scheme string
			width        int64
		}{{"", "light", 1280}, {"-dark", "dark", 1280}, {"-tablet", "light", 800}, {"-tablet-dark", "dark", 800},
			{"-phone", "light", 360}, {"-phone-dark", "dark", 360}} {
			b.run(chromedp.EmulateViewport(look.width, *high), emulate("prefers-color-scheme="+look.scheme))
			b.visit(at.path)
			image := get(b, chromedp.CaptureScreenshot())
			require.NoError(w.t, os.WriteFile(filepath.Join(*pictures, prefix+at.name+look.name+".png"), image, 0o644))
		}
	}
}

// everyView are the views by their names.
var everyView = []place{
	{"overview", ""}, {"agents", "agents"}, {"activity", "activity"}, {"approvals", "approvals"}, {"changes", "changes"}, {"policy", "policy"},
	{"try", "policy/try?command=delete&params=path%3DBread.md"}, {"access", "policy/access"}, {"health", "health"}, {"settings", "settings"},
}

func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no folder for pictures is given")
	}
	first := begin(t, nil)
	first.take(first.open(), "", []place{{"first", ""}})
	w := begin(t, func(r *harness.Program) {
		r.Tables = "[agents.cursor]\ntier = \"v3\"\nallow-mutations = true\n"
		r.Client = "Cursor"
		r.Write("Recipes/Sourdough.md",
			"# Sourdough\n\n- 500 g wheat flour\n- 350 g water\n- 10 g salt\n\n## Method\n\n1. Mix, and rest for an hour.\n2. Fold four times.\n3. Bake for 40 minutes at 230 °C.\n")
		aDay(t, r)
	})
	w.Must("run", "append", "path=Work/Plan.md", "content=four")
	w.Run("run", "delete", "path=Bread.md")
	b := w.open()
	w.Flags = []string{"--agent=cursor"}
	client := w.lively()
	client.Batch(harness.Calling("append", "path=Work/Plan.md", "content=five"), harness.Calling("append", "path=Daily/2026-11-21.md", "content=- [ ] bake"))
	client.Do(harness.Calling("create", "path=Ideas.md", "content=# Ideas\n\n- a sourdough *starter*\n"))
	client.Do(harness.Calling("append", "path=Bread.md", "content=flour, again"))
	client.Do(harness.Calling("note:replace", "path=Recipes/Sourdough.md", "old=500 g wheat flour\n- 350 g water",
		"new=400 g wheat flour\n- 370 g water\n- 100 g rye flour"))
	client.Do(harness.Calling("note:replace", "path=Recipes/Sourdough.md", "old=40 minutes", "new=45 minutes"))
	change := w.changePath()
	w.take(b, "", everyView)
	w.take(b, "", []place{{"change", change}, {"rendered", change + "&as=rendered"}, {"call", w.callOf("append")}, {"refused", w.callOf("eval")}})
	b.visit("")
	b.run(chromedp.Click(chromedp.CSS("#overview-changed a[id][href*='changes/one']")))
	b.until("the change", `document.getElementById("undo")`)
	b.press("#undo")
	w.take(b, "", []place{{"undone", value[string](b, `location.href.slice(document.documentElement.dataset.base.length + location.origin.length)`)}})
	b.visit("approvals")
	b.press("#questions .yes")
	w.take(b, "", []place{{"approved", "approvals"}})
	w.Must("pause")
	w.take(b, "", []place{{"paused", "policy"}})
}

// aDay writes what two clients have done since yesterday, one of which is still running.
func aDay(t *testing.T, r *harness.Program) {
	t.Helper()
	state := filepath.Join(r.Home, ".local", "state", "vaultwicket")
	logs := audit.OpenLogs(state)
	paths := []string{"Bread.md", "Work/Plan.md", "Daily/2026-11-21.md"}
	commands := []string{"daily:read", "search", "read", "read", "append", "tasks", "backlinks", "property:set"}
	now := time.Now()
	for i := range 600 {
		at := now.Add(-time.Duration(600-i) * 144 * time.Second)
		if hour := at.Hour(); i%7 > 1 && (hour < 7 || hour > 22) || i%5 == 0 && hour%3 == 0 {
			continue
		}
		line := audit.Line{Time: at, Kind: "decision", Decision: "allow", Call: fmt.Sprintf("1-day-%d", i+1),
			Session: "1-day", Client: "Claude Desktop", Surface: "stdio", Vault: "Notes", Command: commands[i*i%8],
			Note: logs.Digest(paths[i%3])}
		switch {
		case i%41 == 0:
			line.Decision, line.Code, line.Rule, line.Command = "deny", "restricted_command", "restricted", "eval"
		case i%23 == 0:
			line.Decision, line.Code, line.Rule, line.Client, line.Session, line.Call = "deny", "access_denied",
				"access", "Codex", "2-day", fmt.Sprintf("2-day-%d", i+1)
		}
		require.NoError(t, logs.Write(line, audit.Buffered))
		exit := 0
		line.Kind, line.Decision, line.DurationMs, line.Exit, line.Backend = "end", "", int64(3+i*i%90), &exit, "embedded"
		if i%31 == 0 {
			line.Code = "not_found"
		}
		if line.Rule == "" {
			require.NoError(t, logs.Write(line, audit.Buffered))
		}
	}
	remove, err := ownerfiles.RegisterServer(ownerfiles.ServersFolder(state),
		ownerfiles.Server{Session: "1-day", PID: 4711, Since: now.Add(-5 * time.Hour), Version: "0.1.0",
			Transport: "stdio", Vaults: []string{"Notes"}, CallsMinute: 120})
	require.NoError(t, err)
	t.Cleanup(remove)
}

// lively has a client make calls of all kinds: some are denied, one waits for approval.
func (w *world) lively() *harness.Client {
	w.t.Helper()
	client := w.Stdio(false, "")
	for range 3 {
		client.Do(harness.Calling("read", "path=Bread.md"))
		client.Do(harness.Calling("search", "query=water"))
	}
	client.Do(harness.Calling("append", "path=Bread.md", "content=yeast"))
	client.Do(harness.Calling("append", "path=Work/Plan.md", "content=four"))
	client.Do(harness.Calling("read", "path=Missing.md"))
	client.Do(harness.Calling("eval", "code=1"))
	client.Do(harness.Calling("delete", "path=Bread.md"))
	return client
}

// changePath is the path of the view of the latest change.
func (w *world) changePath() string {
	w.t.Helper()
	var list []struct{ ID string }
	w.decode(w.Must("journal", "--json", "list"), &list)
	require.That(w.t, len(list) != 0, "there are no changes")
	return "changes/one/" + list[0].ID + "?vault=Notes"
}

// callOf is the view of a call of a command.
func (w *world) callOf(command string) string {
	w.t.Helper()
	var list []audit.Line
	w.decode(w.Must("audit", "list", "--json", "--command", command), &list)
	require.That(w.t, len(list) != 0, "there are no calls")
	return "activity/call/" + list[0].Call
}
