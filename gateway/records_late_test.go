package gateway

import (
	"testing"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/gateway/trail"
)

// TestTheDecisionOfALongReadDoesNotWaitForItsEnd, and the end comes behind it either way.
func TestTheDecisionOfALongReadDoesNotWaitForItsEnd(t *testing.T) {
	state := t.TempDir()
	r := newRecords(state, "s-1")
	lines := func() (kinds []string) {
		for line, err := range trail.Lines(state, audit.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, line.Kind+" "+line.Call)
		}
		return kinds
	}
	decision := func(call string) audit.Line {
		return audit.Line{Kind: "decision", Call: call, Decision: "allow", Command: "read"}
	}
	end := func(call string) audit.Line { return audit.Line{Kind: "end", Call: call, Command: "read"} }

	long := r.writeLate(decision("long"))
	for limit := time.Now().Add(30 * time.Second); len(lines()) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the decision is not in the log before the end")
		}
	}
	if long.withEnd(r.logs, end("long")) {
		t.Error("the decision is written twice")
	}
	_ = r.logs.Write(end("long"), false, false)

	short := r.writeLate(decision("short"))
	if !short.withEnd(r.logs, end("short")) { // on a machine that stood still
		_ = r.logs.Write(end("short"), false, false)
	}
	got := lines()
	if want := []string{"decision long", "end long", "decision short", "end short"}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("got %q, want %q", got, want)
	}
}
