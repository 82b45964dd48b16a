package vault

import (
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/tests/require"
)

// A change that takes long to work out keeps no other writer waiting, and is made of the
// notes as they are then.
func TestAPlanKeepsNoWriterWaiting(t *testing.T) {
	h := build(t, map[string]string{"a.md": "a", "b.md": "b"})
	v := &command.Vault{Path: h.dir, Ctx: t.Context(), Host: command.NewHost(func(name string) string { return h.env[name] }, nil), Clock: time.Now}
	require.NoError(t, v.Host.OpenFolder(h.dir, v))
	path, err := disk.ParsePath("a.md")
	require.NoError(t, err)
	planned, others := make(chan struct{}), make(chan struct{})
	plans := 0
	slow := command.Command{Name: "append", Plan: func(v *command.Vault, _ command.Values) (command.Proposal, error) {
		before, err := v.Disk.Read(path)
		if plans++; plans == 1 {
			close(planned)
			<-others
		}
		return command.ProposeChange(path, before, append(before, " slow"...), "Appended"), err
	}}
	ended := make(chan error)
	go func() {
		_, err := command.Write(v, slow, command.Values{}, command.WriteOptions{})
		ended <- err
	}()
	<-planned
	for _, call := range []string{"b.md", "a.md"} { // they would wait for ever
		if status, out, _ := h.run("append", "path="+call, "content=other"); status != command.ExitDone {
			t.Errorf("%s: %d, %q", call, status, out)
		}
	}
	close(others)
	if err := <-ended; err != nil || plans != 2 {
		t.Errorf("%d plans, %v", plans, err)
	}
	if got := h.get("a.md"); got != "a\nother slow" || h.get("b.md") != "b\nother" {
		t.Errorf("the notes are %q and %q", got, h.get("b.md"))
	}
}
