package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/tests/long"
)

// longName is as long as the name of a client can be in the log.
var longName = strings.Repeat("long name ", 10)

// However many calls are refused for their rate, the lines about changes and about
// refusals by policy stay: the refused ones have next to no lines. With a line each, 600,000
// would flush every line about changes out of a log of 32 files.
func TestCallsRefusedForTheirRateFlushNothing(t *testing.T) {
	t.Parallel()
	manyRefused := long.Count(30_000, 600_000)
	f := newFixture(t, func(c *Config) { c.Backend, c.Session, c.Limits.Calls = Embedded, "s", 3 }).
		embedded(`--write --change ID --facts vault=Work daily:append content=x => Added to: D.md\n`)
	do := func(command string) Result {
		return f.gateway.Do(context.Background(), Request{Command: command, Params: params("content", "x"), Caller: "me", Client: longName, Surface: "mcp"})
	}
	do("daily:append")
	do("eval")
	do("daily:append")
	refused := 0
	for range manyRefused {
		if got := do(longName); code(got) == "rate_limited" {
			refused++
		} else if code(got) != "unknown_command" { // its time has come
			t.Fatalf("%+v", got)
		}
	}
	var changes, denied, all int
	for line, err := range audit.List(audit.AuditFolder(f.state()), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all++
		if line.Kind == "end" && line.Effect == "write" {
			changes++
		}
		if line.Decision == "deny" && line.Code == "restricted_command" {
			denied++
		}
	}
	if changes != 2 || denied != 1 || refused < manyRefused*99/100 {
		t.Errorf("of two changes and one refusal by policy %d and %d are left, after %d calls refused for their rate", changes, denied, refused)
	}
	if most := 10 + manyRefused/1000; all > most {
		t.Errorf("the log has %d lines, want at most %d", all, most)
	}
}

// The first call that is refused in a period has its line at once, and the others
// are in one line a client when the period is over.
func TestCallsRefusedForTheirRateAreCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *Config) { c.Backend, c.Session, c.Limits.Calls = Embedded, "s", 1 })
	do := func(client string) {
		f.gateway.Do(t.Context(), Request{Command: "nothing", Caller: "me", Client: client, Surface: "mcp"})
	}
	for range 5 {
		do("a")
	}
	for range 3 {
		do("b")
	}
	for i := range 2 * audit.MaxLimited {
		do(fmt.Sprint("client ", i))
	}
	f.gateway.Flush()
	f.gateway.Flush() // there is nothing more to write
	counts, single := map[string]uint64{}, 0
	for _, line := range auditOf(t, f) {
		switch {
		case line.Kind == audit.KindLimited && (line.Code != "rate_limited" || line.Session != "s" || line.Count == 0):
			t.Errorf("%+v", line)
		case line.Kind == audit.KindLimited:
			counts[line.Client] += line.Count
		case line.Code == "rate_limited":
			single++
		}
	}
	// One call of the first client passed, and one has a line of its own.
	if single != 1 || counts["a"] != 3 || counts["b"] != 3 || len(counts) != audit.MaxLimited+1 || counts[""] != 2*audit.MaxLimited-(audit.MaxLimited-2) {
		t.Errorf("%d lines, %v", single, counts)
	}
	do("a")
	f.gateway.Flush()
	if lines := auditOf(t, f); lines[len(lines)-1].Code != "rate_limited" || lines[len(lines)-1].Kind != "decision" {
		t.Errorf("the next period begins with %+v", lines[len(lines)-1])
	}
}

// A period ends by itself, whether another call comes or not.
func TestAPeriodEndsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		written := make(chan audit.Line, 2)
		l := audit.Limited{Write: func(line audit.Line) { written <- line }}
		for range 10 {
			l.First(audit.Line{Client: "c"})
		}
		time.Sleep(audit.LimitedPeriod - time.Second)
		synctest.Wait()
		if len(written) != 0 {
			t.Errorf("before its end: %+v", <-written)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if line := <-written; len(written) != 0 || line.Count != 9 || line.Client != "c" || line.DurationMs != audit.LimitedPeriod.Milliseconds() {
			t.Errorf("%+v", line)
		}
		l.First(audit.Line{Client: "c"})
		time.Sleep(audit.LimitedPeriod)
		synctest.Wait()
		if len(written) != 0 {
			t.Errorf("one call that has its own line: %+v", <-written)
		}
	})
}
