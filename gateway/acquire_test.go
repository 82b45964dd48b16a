package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"vaultwicket/exec"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/semaphore"
)

// Forty calls at once are answered within the limit of one, whether they ran or not.
func TestWaitingCountsForTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &shared{runner: exec.New(exec.Config{Timeout: 15 * time.Second}), running: semaphore.New(4), admission: newAdmission(Limits{}, false, "")}
		begun := time.Now()
		ends := make(chan error, 40)
		for i := range 40 {
			go func() {
				req := Request{Caller: fmt.Sprint(i % 2), Taken: begun}
				ctx, cancel := g.withDeadline(t.Context(), req, 0)
				defer cancel()
				release, err := g.acquire(ctx, req, "search", g.running)
				if err == nil {
					select {
					case <-time.After(7 * time.Second): // what a slow search takes
					case <-ctx.Done():
						err = ctx.Err()
					}
					release()
				}
				if time.Since(begun) > 15*time.Second {
					t.Errorf("a call took %v", time.Since(begun))
				}
				ends <- err
			}()
		}
		done, late := 0, 0
		for range 40 {
			switch err := <-ends; {
			case err == nil:
				done++
			case errors.Is(err, context.DeadlineExceeded):
			case failure.Of(err).Code == "timeout" && failure.Of(err).Hint != "":
				late++
			default:
				t.Error(err)
			}
		}
		if done != 8 || late == 0 { // some get a place in the last moment and are stopped at once
			t.Errorf("%d are done, %d were told that they waited too long", done, late)
		}
	})
}

// The time in which a person was asked does not count, and a call that was taken in
// too long ago is refused before anybody is asked.
func TestTheLimitCountsFromWhenACallWasTakenIn(t *testing.T) {
	f := newFixture(t, embeddedOnly).embedded(`--facts vault=Work version => 1.12.7\n`)
	late := Request{Command: "read", Params: params("path", "N.md"), Taken: time.Now().Add(-f.gateway.runner.Timeout())}
	if got := f.gateway.Do(t.Context(), late); code(got) != "timeout" || got.Error.Hint == "" || got.ExitCode != -1 {
		t.Errorf("%+v", got)
	}
	if _, own := f.called(); len(own) > 0 {
		t.Errorf("started %q", own)
	}
	ctx, cancel := f.gateway.withDeadline(t.Context(), late, time.Minute)
	defer cancel()
	if until, _ := ctx.Deadline(); time.Until(until) < 50*time.Second {
		t.Errorf("%v are left", time.Until(until))
	}
}

// A page of a note that did not change is not read again, however long the note is;
// one that did is.
func TestAPageOfANoteIsNotReadAgain(t *testing.T) {
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
