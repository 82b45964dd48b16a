package gateway

import (
	"strings"
	"testing"
	"time"

	"vaultwicket/gateway/state/journal"
	"vaultwicket/policy/access"
)

// An agent lists its own changes that stand, without those that concern what is hidden.
func TestAnAgentListsItsOwnChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) {
		c.Policy.Access, _ = access.New(map[string]access.Level{"/": access.Delete, "Secret": access.None})
	})
	kept, err := f.gateway.Journal("")
	if err != nil {
		t.Fatal(err)
	}
	begin := func(caller, path, batch, undoes string) string {
		id := journal.NewID(time.Now())
		e := journal.Entry{ID: id, Time: time.Now(), Session: "s", Caller: caller, Command: "append", Backend: "embedded", Batch: batch, Undoes: undoes,
			Steps: []journal.Step{{Path: path, After: journal.Image{Exists: true, Hash: strings.Repeat("0", 64)}}}}
		if err := kept.Begin(e, nil); err != nil {
			t.Fatal(err)
		}
		if err := kept.End(id, journal.Done, nil, ""); err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := begin("me", "a.md", "", "")
	begin("you", "b.md", "", "")
	begin("me", "Secret/c.md", "", "")
	second := begin("me", "d.md", "b1", "")
	list := func(params ...string) Result {
		return f.gateway.Do(t.Context(), Request{Command: "undo:list", Words: append([]string{}, params...), Caller: "me"})
	}
	rows := strings.Split(strings.TrimSuffix(list().Stdout, "\n"), "\n")
	if len(rows) != 2 || !strings.HasPrefix(rows[0], second+"\t") || !strings.HasSuffix(rows[0], "\tappend\td.md\tbatch b1") || !strings.HasPrefix(rows[1], first+"\t") || !strings.HasSuffix(rows[1], "\tappend\ta.md") {
		t.Errorf("listed %q", rows)
	}
	if got := list("limit=1").Stdout; strings.Count(got, "\n") != 1 {
		t.Errorf("one is asked for: %q", got)
	}
	undo := begin("me", "a.md", "", first)
	if err := kept.MarkUndone(first, undo); err != nil {
		t.Fatal(err)
	}
	if got := list().Stdout; strings.Contains(got, first) || strings.Contains(got, undo) || !strings.Contains(got, second) {
		t.Errorf("after an undo: %q", got)
	}
	if got := f.gateway.Do(t.Context(), Request{Command: "undo:list", Caller: "somebody else"}); got.Stdout != "No change of yours can be undone.\n" || !got.OK {
		t.Errorf("another caller: %+v", got)
	}
	if app, own := f.called(); len(app)+len(own) > 0 {
		t.Errorf("started %q and %q", app, own)
	}
}
