package ui

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"vaultwicket/tests/rig"

	"github.com/chromedp/chromedp"
)

// pictures is where the pictures of the documentation are written, "" for nowhere.
var pictures = flag.String("pictures", "", "folder to write pictures of the views to")

// everyView are the views by their names.
var everyView = []struct{ name, path string }{
	{"overview", ""}, {"activity", "activity"}, {"approvals", "approvals"}, {"changes", "changes"}, {"policy", "policy"},
	{"try", "policy/try?command=delete&params=path%3DBread.md"}, {"access", "policy/access"}, {"health", "health"}, {"settings", "settings"},
}

func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no folder for pictures is given")
	}
	w := begin(t, nil)
	w.lively()
	b := w.open()
	for _, view := range append(everyView, struct{ name, path string }{"change", w.changePath()}) {
		for _, look := range []struct {
			name, scheme string
			width        int64
		}{{"", "light", 1200}, {"-dark", "dark", 1200}, {"-phone", "light", 390}} {
			b.run(chromedp.EmulateViewport(look.width, 800), emulate("prefers-color-scheme="+look.scheme))
			b.visit(view.path)
			image := get(b, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(*pictures, view.name+look.name+".png"), image, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// lively has a client make calls of all kinds: some are denied, one waits for approval.
func (w *world) lively() *rig.Client {
	w.t.Helper()
	client := w.Stdio(false, "")
	for range 3 {
		client.Do(rig.Calling("read", "path=Bread.md"))
		client.Do(rig.Calling("search", "query=water"))
	}
	client.Do(rig.Calling("append", "path=Bread.md", "content=yeast"))
	client.Do(rig.Calling("append", "path=Work/Plan.md", "content=four"))
	client.Do(rig.Calling("read", "path=Missing.md"))
	client.Do(rig.Calling("eval", "code=1"))
	client.Do(rig.Calling("delete", "path=Bread.md"))
	return client
}

// changePath is the path of the view of the latest change.
func (w *world) changePath() string {
	w.t.Helper()
	var list []struct{ ID string }
	w.decode(w.Must("journal", "--json", "list"), &list)
	if len(list) == 0 {
		w.t.Fatal("there are no changes")
	}
	return "changes/one/" + list[0].ID + "?vault=Notes"
}
