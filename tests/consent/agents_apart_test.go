package consent

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
)

func TestAnotherAgentAtFullSpeedChangesNoAnswer(t *testing.T) {
	t.Parallel()
	r := newProgram(t)
	for i := range 12 {
		r.Write(fmt.Sprintf("Ann/N%02d.md", i), "text #ann [[Plan]]\n- [ ] task\n")
	}
	r.Save()
	giveTokens(r, []string{"ann", "bob"})
	server := r.OverHTTP()
	ann, bob := connected(server, "ann"), connected(server, "bob")
	calls := []harness.Call{
		harness.Calling("files"), harness.Calling("files", "total"), harness.Calling("folders"), harness.Calling("search", "query=zqx"),
		harness.Calling("find", "query=zqx secret"), harness.Calling("tags", "counts"),
		harness.Calling("tasks"), harness.Calling("orphans"), harness.Calling("unresolved"),
		harness.Calling("backlinks", "path=Both/Plan.md"), harness.Calling("properties"),
		harness.Calling("changes", "since=2001-01-01"),
		harness.Calling("recent"), harness.Calling("history:list"), harness.Calling("undo:list"),
		harness.Calling("read", "path=Bob/Secret1.md"), harness.Calling("read", "file=Secret1"),
		harness.Calling("read", "path=Ann/N00.mdx"),
		harness.Calling("append", "path=Bob/Secret1.md", "content=x").With("dryRun", true), harness.Calling("related", "path=Both/Plan.md"),
	}
	answers := func() (all []string) {
		for _, call := range calls {
			result, _ := ann.do(call)
			result.DurationMs = 0
			all = append(all, harness.JSON(t, result))
		}
		pages, next := "", harness.Calling("files").With("limit", 3)
		for next != nil {
			result, _ := ann.do(next)
			pages, next = pages+result.Stdout, nil
			if result.Truncated != nil && result.Truncated.Cursor != "" {
				next = harness.Call{"command": "files", "cursor": result.Truncated.Cursor}
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
			bob.send(harness.ToolCall(5,
				fmt.Sprintf(`{"command":"create","params":{"path":"Bob/Secret%d.md","content":"secret zqx #zqx%d [[Both/Plan]] [[Ann/N00]]\n- [ ] zqx"}}`,
					n, n)))
			_, text := bob.send(harness.ToolCall(6, `{"command":"search","params":{"query":"secret"}}`))
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
	t.Parallel()
	r := newProgram(t)
	r.Save()
	giveTokens(r, []string{"ann", "bob"})
	server := r.OverHTTP()
	ann, again, bob := connected(server, "ann"), connected(server, "ann"), connected(server, "bob")
	call := harness.Calling("append", "path=Both/Plan.md", "content=once").With("idempotencyKey", "k")
	first, _ := ann.do(call)
	repeated, _ := again.do(call)
	if !first.OK || !repeated.OK || harness.ChangeID(repeated) != harness.ChangeID(first) || strings.Count(r.Read("Both/Plan.md"), "once") != 1 {
		t.Errorf("the second session: %+v; the first: %+v", repeated, first)
	}
	mine, _ := bob.do(call)
	assert.That(t, mine.OK, "another agent with the same key: %+v", mine)
	assert.That(t, harness.ChangeID(mine) != harness.ChangeID(first), "another agent with the same key: %+v", mine)
	// The latest change of the agent is taken back in its other session, with and without its id, also where that
	// removes much; another agent cannot.
	long, _ := ann.do(harness.Calling("create", "path=Ann/Long.md", "content="+strings.Repeat("a line\\n", 40)))
	undo := harness.Calling("undo", "id="+harness.ChangeID(long))
	undone, _ := bob.do(undo)
	assert.That(t, !undone.OK, "by another agent: %+v", undone)
	latest, _ := again.do(harness.Calling("undo"))
	assert.That(t, latest.OK, "without an id: %+v, %+v", latest, latest.Error)
	assert.Equal(t, r.Read("Ann/Long.md"), "", "without an id: %+v, %+v", latest, latest.Error)
	long, _ = ann.do(harness.Calling("create", "path=Ann/Long.md", "content="+strings.Repeat("a line\\n", 40)))
	undo = harness.Calling("undo", "id="+harness.ChangeID(long))
	own, _ := again.do(undo)
	assert.That(t, own.OK, "the agent in its other session: %+v, %+v", own, own.Error)
	assert.Equal(t, r.Read("Ann/Long.md"), "", "the agent in its other session: %+v, %+v", own, own.Error)
}
