package change_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// An approved change is made on the notes that were shown, all of them, and no other
// change is made in its name.
func TestAnApprovedChangeIsTheOneThatWasShown(t *testing.T) {
	for name, test := range map[string]struct {
		call   string
		meddle func(*embedded.Vault)
	}{
		"the note":                 {"delete path=n.md permanent", func(h *embedded.Vault) { h.Put("n.md", "other") }},
		"another note of a move":   {"rename path=n.md name=z", func(h *embedded.Vault) { h.Put("l.md", "see [[n]], [[n]]") }},
		"one more linked note":     {"rename path=n.md name=z", func(h *embedded.Vault) { h.Put("m.md", "see [[n]]") }},
		"a note in the way":        {"create path=new.md content=x overwrite", func(h *embedded.Vault) { h.Put("new.md", "there") }},
		"one note of several":      {"vault:replace old=see new=x", func(h *embedded.Vault) { h.Put("m.md", "see") }},
		"the text of one":          {"property:set name=a value=1 folder=T", func(h *embedded.Vault) { h.Put("T/u.md", "other") }},
		"a link to a heading":      {"heading:rename path=h.md heading=H to=I", func(h *embedded.Vault) { h.Put("m.md", "[[h#H]]") }},
		"the version to restore":   {"history:restore path=n.md version=1", func(h *embedded.Vault) { h.Run("append", "path=n.md", "content=y"); h.Run("undo") }},
		"the template":             {"create path=new.md template=t", func(h *embedded.Vault) { h.Put("T/t.md", "{{time}} other") }},
		"a template without clock": {"create path=new.md template=u", func(h *embedded.Vault) { h.Put("T/u.md", "other") }},
	} {
		t.Run(name, func(t *testing.T) {
			h := embedded.New(t, map[string]string{
				"n.md": "text", "l.md": "see [[n]]", "h.md": "# H\n", "T/t.md": "{{time}}", "T/u.md": "plain",
				".obsidian/templates.json": `{"folder":"T"}`, ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
			})
			h.Expect(answer.ExitDone, "Appended to: n.md\n", "append", "path=n.md", "content=x")
			words := strings.Fields(test.call)
			digest := h.Plan(words...).Digest
			test.meddle(h)
			before := h.Texts(true)
			h.ExpectPrefix(answer.ExitFailed, "Error: Conflict: ", append([]string{call.ApprovedSwitch, digest}, words...)...)
			for path, text := range h.Texts(true) {
				assert.That(t, before[path] == text, "%s is %q", path, text)
			}
			h.Does(append([]string{call.ApprovedSwitch, h.Plan(words...).Digest}, words...)...)
		})
	}
}

// What a template makes at another minute is the same change: the user needs some
// minutes to decide.
func TestAnApprovedTemplateMayTellTheTime(t *testing.T) {
	h := embedded.New(t, map[string]string{"T/t.md": "{{date}} {{time}}", ".obsidian/templates.json": `{"folder":"T"}`})
	digest := h.Plan("create", "path=new.md", "template=t").Digest
	h.Env[date.NowVariable] = embedded.Saturday[:len("2026-11-21T")] + "23:59:00+01:00"
	h.Expect(answer.ExitDone, "Created: new.md\n", call.ApprovedSwitch, digest, "create", "path=new.md", "template=t")
	assert.Equal(t, h.Get("new.md"), "2026-11-21 23:59", "the note")
}

func TestAnApprovalIsADigest(t *testing.T) {
	h := embedded.New(t, map[string]string{"n.md": "text"})
	for _, digest := range []string{"", "x", strings.Repeat("0", 63), strings.Repeat("G", 64)} {
		status, out, _ := h.Run(call.ApprovedSwitch, digest, "delete", "path=n.md")
		assert.Equal(t, status, answer.ExitMisuse, "%q: %q", digest, out)
		assert.Equal(t, h.Get("n.md"), "text", "%q: %q", digest, out)
	}
	h.Expect(answer.ExitFailed, "Error: Conflict: the change is not the one that was approved, because notes were changed since.\n",
		call.ApprovedSwitch, strings.Repeat("0", 64), "delete", "path=n.md")
}

// A change that takes long to work out keeps no other writer waiting, and is made of the
// notes as they are then.
func TestAPlanKeepsNoWriterWaiting(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "a", "b.md": "b"})
	v := &call.Vault{Path: h.Dir, Ctx: t.Context(), Host: call.NewHost(func(name string) string { return h.Env[name] }, nil), Clock: time.Now}
	t.Cleanup(v.Host.Close) // Windows does not remove a folder that is open
	require.NoError(t, v.Host.OpenFolder(h.Dir, v))
	path := require.Value(disk.ParsePath("a.md"))(t)
	planned, others := make(chan struct{}), make(chan struct{})
	plans := 0
	slow := handlers.Command{Name: "append", Plan: func(v *call.Vault, _ call.Values) (change.Proposal, error) {
		before, err := v.Disk.Read(path)
		if plans++; plans == 1 {
			close(planned)
			<-others
		}
		return change.ProposeChange(path, before, append(before, " slow"...), "Appended"), err
	}}
	ended := make(chan error)
	go func() {
		_, err := change.Write(v, slow.Change(), call.Values{}, protocol.Write{})
		ended <- err
	}()
	<-planned
	for _, call := range []string{"b.md", "a.md"} { // they would wait for ever
		h.Does("append", "path="+call, "content=other")
	}
	close(others)
	err := <-ended
	require.Equal(t, err, nil, "%d plans", plans)
	assert.Equal(t, plans, 2, "%d plans", plans)
	got := h.Get("a.md")
	assert.Equal(t, got, "a\nother slow", "the notes are %q and %q", got, h.Get("b.md"))
	assert.Equal(t, h.Get("b.md"), "b\nother", "the notes are %q and %q", got, h.Get("b.md"))
}

// What others changed while a change of many was worked out is looked at before they have to wait for it.
func TestNoWriterWaitsWhileTheChangesOfOthersAreLookedAt(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "a", "b.md": "b", "other.md": "other"})
	v := &call.Vault{Path: h.Dir, Ctx: t.Context(), Host: call.NewHost(func(name string) string { return h.Env[name] }, nil), Clock: time.Now}
	t.Cleanup(v.Host.Close) // Windows does not remove a folder that is open
	require.NoError(t, v.Host.OpenFolder(h.Dir, v))
	j := require.Value(v.Journal())(t)
	looks, waits := 0, 0
	look := func(journal.Entry) bool {
		looks++
		unlock, isFree := j.TryLock()
		if isFree {
			unlock()
		} else {
			waits++
		}
		return false
	}
	const others = 5
	many := handlers.Command{Name: "append", Plan: func(v *call.Vault, _ call.Values) (change.Proposal, error) {
		p := change.Proposal{Message: "Appended", Outdated: look}
		for _, name := range []string{"a.md", "b.md"} {
			path := require.Value(disk.ParsePath(name))(t)
			before := require.Value(v.Disk.Read(path))(t)
			p.Steps = append(p.Steps, change.ProposeChange(path, before, append(before, " many"...), "").Steps...)
		}
		for i := range others {
			h.Does("append", "path=other.md", fmt.Sprintf("content=%d", i))
		}
		return p, nil
	}}
	_, err := change.Write(v, many.Change(), call.Values{}, protocol.Write{})
	require.NoError(t, err)
	assert.Equal(t, looks, others, "changes that were looked at")
	assert.Equal(t, waits, 0, "looks for which other writers waited")
	assert.Equal(t, h.Get("a.md")+h.Get("b.md"), "a manyb many")
}
