package ui

import (
	"fmt"
	"slices"
	"testing"

	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/state/audit"
)

// What a view has read first is told of all the same, once.
func TestEventsTellWhatAViewHasSeen(t *testing.T) {
	state := t.TempDir()
	g := gateway.New(gateway.Config{Runner: exec.New(exec.Config{})})
	p := New(Config{Gateway: g, State: state, Session: "s"}, "").page
	begun, _ := p.events.check()
	told := p.events.subscribe(fmt.Sprint(begun))
	t.Cleanup(func() { p.events.unsubscribe(told) })
	logs := audit.OpenLogs(state)
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
	version, _ := p.events.check()
	for since, want := range map[string]int{fmt.Sprint(version): 0, fmt.Sprint(version - 1): 1, "": 1} {
		late := p.events.subscribe(since)
		if len(late) != want {
			t.Errorf("a page that has seen %q is told %d times", since, len(late))
		}
		p.events.unsubscribe(late)
	}
	if len(told) > 0 {
		t.Errorf("%+v is told twice", <-told)
	}
}
