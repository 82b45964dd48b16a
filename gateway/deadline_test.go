package gateway

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The time in which a person was asked does not count, and a call that was taken in
// too long ago is refused before anybody is asked.
func TestTheLimitCountsFromWhenACallWasTakenIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, embeddedOnly).embedded(`--facts vault=Work version => 1.12.7\n`)
	late := Request{Command: "read", Params: params("path", "N.md"), Taken: time.Now().Add(-f.gateway.runner.Timeout())}
	if got := f.gateway.Do(t.Context(), late); code(got) != "timeout" || got.Error.Hint == "" || got.ExitCode != -1 {
		t.Errorf("%+v", got)
	}
	if _, own := f.called(); len(own) > 0 {
		t.Errorf("started %q", own)
	}
	ctx, cancel := f.gateway.admission.WithDeadline(t.Context(), late.Taken, time.Minute)
	defer cancel()
	if until, _ := ctx.Deadline(); time.Until(until) < 50*time.Second {
		t.Errorf("%v are left", time.Until(until))
	}
}

// A page of a note that did not change is not read again, however long the note is;
// one that did is.
func TestAPageOfANoteIsNotReadAgain(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("line %d of the note\n", i)
	}
	for name, age := range map[string]time.Duration{"settled": time.Hour, "young": 0} {
		f := newFixture(t, func(c *Config) { c.Backend = App }).app(versionLine, `vault=Work read path=N.md => `+escapedLines(text))
		writeNote(t, f.vault, "N.md", text, age)
		req := paged("read", "path", "N.md")
		first := f.gateway.Do(t.Context(), req)
		before, _ := f.called()
		second := f.gateway.Do(t.Context(), following(t, req, first))
		after, _ := f.called()
		if !second.OK || len(second.Notices) > 0 || first.Stdout == second.Stdout {
			t.Fatalf("%s: %+v", name, second)
		}
		reads := slices.Index(after, "vault=Work read path=N.md")
		if again := len(after) > len(before); reads < 0 || again != (name == "young") {
			t.Errorf("%s: %d and %d programs were started", name, len(before), len(after))
		}
		f.app(versionLine, `vault=Work read path=N.md => `+escapedLines(text)+"more")
		writeNote(t, f.vault, "N.md", text+"more", 30*time.Minute)
		if got := f.gateway.Do(t.Context(), following(t, req, first)); !got.OK || len(got.Notices) != 1 {
			t.Errorf("%s, changed: %+v", name, got)
		}
	}
}
