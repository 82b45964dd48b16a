package ui

import (
	"slices"
	"testing"

	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/state/audit"
	"vaultwicket/gateway/trail"
)

// What a view has read first is told of all the same, once.
func TestEventsTellWhatAViewHasSeen(t *testing.T) {
	state := t.TempDir()
	g := gateway.New(gateway.Config{Runner: exec.New(exec.Config{})})
	p := New(Config{Gateway: g, State: state, Session: "s"}, "").page
	told := p.events.subscribe()
	t.Cleanup(func() { p.events.unsubscribe(told) })
	logs := trail.Open(state)
	for i, code := range []string{"", "bad_value"} {
		decision := []string{"allow", "deny"}[i]
		if err := logs.Write(audit.Line{Kind: "decision", Decision: decision, Code: code, Call: []string{"1-a-1", "1-a-2"}[i], Session: "1-a"}, false, false); err != nil {
			t.Fatal(err)
		}
		if _, err := p.calls.Update(); err != nil { // as a view does
			t.Fatal(err)
		}
		one := <-told
		if want := []string{"allowed", "denied"}[i]; one.Gate != want || one.Calls != 1 || !slices.Equal(one.Parts, []string{"calls"}) {
			t.Errorf("%+v, want %s", one, want)
		}
	}
	if err := admission.Pause(state, p.Now()); err != nil {
		t.Fatal(err)
	}
	if one := <-told; !one.Paused || !slices.Equal(one.Parts, []string{"state"}) {
		t.Errorf("%+v of a pause", one)
	}
	p.events.mu.Lock()
	defer p.events.mu.Unlock()
	if more := p.events.look(); len(more.Parts) > 0 {
		t.Errorf("%+v is told twice", more)
	}
}
