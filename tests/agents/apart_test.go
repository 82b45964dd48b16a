package agents

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"vaultwicket/tests/rig"
)

// Two agents with different hidden folders in one server over HTTP: while one reads and writes as
// fast as it can, each answer to the other, whole and page by page, keeps its bytes.
func TestAnotherAgentAtFullSpeedChangesNoAnswer(t *testing.T) {
	r := newRig(t)
	for i := range 12 {
		r.Write(fmt.Sprintf("Ann/N%02d.md", i), "text #ann [[Plan]]\n- [ ] task\n")
	}
	r.Save()
	giveTokens(r, []string{"ann", "bob"})
	server := r.OverHTTP()
	ann, bob := &caller{t: t, server: server, token: "vwa_ann"}, &caller{t: t, server: server, token: "vwa_bob"}
	ann.connect()
	bob.connect()
	calls := []rig.Call{
		rig.Calling("files"), rig.Calling("files", "total"), rig.Calling("folders"), rig.Calling("search", "query=zqx"), rig.Calling("find", "query=zqx secret"), rig.Calling("tags", "counts"),
		rig.Calling("tasks"), rig.Calling("orphans"), rig.Calling("unresolved"), rig.Calling("backlinks", "path=Both/Plan.md"), rig.Calling("properties"), rig.Calling("changes", "since=2001-01-01"),
		rig.Calling("recent"), rig.Calling("history:list"), rig.Calling("undo:list"), rig.Calling("read", "path=Bob/Secret1.md"), rig.Calling("read", "file=Secret1"), rig.Calling("read", "path=Ann/N00.mdx"),
		rig.Calling("append", "path=Bob/Secret1.md", "content=x").With("dryRun", true), rig.Calling("related", "path=Both/Plan.md"),
	}
	answers := func() (all []string) {
		for _, call := range calls {
			result, _ := ann.do(call)
			result.DurationMs = 0
			all = append(all, rig.JSON(t, result))
		}
		pages, next := "", rig.Calling("files").With("limit", 3)
		for next != nil {
			result, _ := ann.do(next)
			pages, next = pages+result.Stdout, nil
			if result.Truncated != nil && result.Truncated.Cursor != "" {
				next = rig.Call{"command": "files", "cursor": result.Truncated.Cursor}
			}
		}
		return append(all, pages)
	}
	before := answers()
	var writes atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := int64(1); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			bob.send(rig.ToolCall(5, fmt.Sprintf(`{"command":"create","params":{"path":"Bob/Secret%d.md","content":"secret zqx #zqx%d [[Both/Plan]] [[Ann/N00]]\n- [ ] zqx"}}`, n, n)))
			_, text := bob.send(rig.ToolCall(6, `{"command":"search","params":{"query":"secret"}}`))
			if strings.Contains(text, "Secret") {
				writes.Store(n)
			}
		}
	}()
	for round := 0; round < 4 || writes.Load() < 20; round++ {
		for i, after := range answers() {
			if after != before[i] {
				t.Fatalf("round %d, call %d, after %d writes:\n%s\nbefore:\n%s", round, i, writes.Load(), after, before[i])
			}
		}
	}
	close(stop)
	<-done
	t.Logf("%d notes written meanwhile", writes.Load())
}

// Two sessions of one agent have its past together: a call whose answer was lost is not made twice,
// and its latest change is taken back by its id.
// Another agent has none of it.
func TestTwoSessionsOfOneAgent(t *testing.T) {
	r := newRig(t)
	r.Save()
	giveTokens(r, []string{"ann", "bob"})
	server := r.OverHTTP()
	var sessions []*caller
	for _, name := range []string{"ann", "ann", "bob"} {
		c := &caller{t: t, server: server, token: "vwa_" + name}
		c.connect()
		sessions = append(sessions, c)
	}
	call := rig.Calling("append", "path=Both/Plan.md", "content=once").With("idempotencyKey", "k")
	first, _ := sessions[0].do(call)
	again, _ := sessions[1].do(call)
	if !first.OK || !again.OK || again.Change == nil || again.Change.ID != first.Change.ID || strings.Count(r.Read("Both/Plan.md"), "once") != 1 {
		t.Errorf("the second session: %+v; the first: %+v", again, first)
	}
	if other, _ := sessions[2].do(rig.Calling("undo", "id="+first.Change.ID)); other.OK {
		t.Errorf("another agent undoes it: %+v", other)
	}
	if mine, _ := sessions[2].do(call); !mine.OK || mine.Change == nil || mine.Change.ID == first.Change.ID {
		t.Errorf("another agent with the same key: %+v", mine)
	}
	// The latest change of the agent is taken back by its id in the other session, also where that
	// removes much; a change of another session is not taken back without its id.
	long, _ := sessions[0].do(rig.Calling("create", "path=Ann/Long.md", "content="+strings.Repeat("a line\\n", 40)))
	if other, _ := sessions[1].do(rig.Calling("undo")); other.OK {
		t.Errorf("without an id: %+v", other)
	}
	if other, _ := sessions[2].do(rig.Calling("undo", "id="+long.Change.ID)); other.OK {
		t.Errorf("another agent undoes it: %+v", other)
	}
	if own, _ := sessions[1].do(rig.Calling("undo", "id="+long.Change.ID)); !own.OK || strings.Contains(r.Read("Ann/Plan.md"), "a line") {
		t.Errorf("the agent in its other session: %+v, %+v", own, own.Error)
	}
}
