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
)

// queueOf has calls wait, one after the other, and returns who got a place in which
// order. Each call runs for a second.
func queueOf(t *testing.T, places int, callers ...string) (order []string) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(places)
		served := make(chan string, len(callers))
		for _, caller := range callers {
			go func() {
				if _, err := turns.acquire(t.Context(), caller); err != nil {
					t.Error(err)
				}
				served <- caller
				time.Sleep(time.Second)
				turns.release(caller)
			}()
			time.Sleep(time.Millisecond) // no two of them end at one moment
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for range callers {
			order = append(order, <-served)
		}
		if turns.running() != 0 || len(turns.callers) != 0 || len(turns.waiting) != 0 {
			t.Errorf("%d run, %d callers, %d wait at the end", turns.running(), len(turns.callers), len(turns.waiting))
		}
	})
	return order
}

func TestCallersTakeTurns(t *testing.T) {
	for _, test := range []struct {
		places  int
		callers string
		want    string
	}{
		{1, "aaa", "aaa"},
		{1, "aaaab", "abaaa"},
		{1, "aaabbbc", "abcabab"},
		{4, "aaaaaa", "aaaaaa"},   // there is nobody else
		{4, "baaaaaa", "baaaaaa"}, // the fourth place is of whoever comes next
		{4, "baaaaab", "baaabaa"},
	} {
		var callers []string
		for _, c := range test.callers {
			callers = append(callers, string(c))
		}
		got := ""
		for _, c := range queueOf(t, test.places, callers...) {
			got += c
		}
		if got != test.want {
			t.Errorf("%d places, %s came: %s, want %s", test.places, test.callers, got, test.want)
		}
	}
}

// Once there are two callers, none of them takes every place.
func TestOneCallerLeavesAPlaceForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(4)
		for _, caller := range []string{"b", "a", "a", "a"} {
			if _, err := turns.acquire(t.Context(), caller); err != nil {
				t.Fatal(err)
			}
		}
		turns.release("b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := turns.acquire(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a fourth place of four for one caller: %v", err)
		}
		if _, err := turns.acquire(t.Context(), "c"); err != nil {
			t.Error(err)
		}
		for _, caller := range []string{"a", "a", "a", "c"} {
			turns.release(caller)
		}
		if turns.running() != 0 || len(turns.callers) != 0 {
			t.Errorf("%d are running", turns.running())
		}
	})
}

// Who gives up in the moment of getting a place gives it back.
func TestAPlaceIsNotLost(t *testing.T) {
	for range 2000 {
		turns := newTurns(1)
		if _, err := turns.acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() { _, err := turns.acquire(ctx, "b"); got <- err }()
		go cancel()
		turns.release("a")
		if err := <-got; err == nil {
			turns.release("b")
		}
		if turns.running() != 0 || len(turns.callers) != 0 || len(turns.waiting) != 0 {
			t.Fatalf("%d run, %d wait", turns.running(), len(turns.waiting))
		}
	}
}

// Forty calls at once are answered within the limit of one, whether they ran or not.
func TestWaitingCountsForTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &shared{runner: exec.New(exec.Config{Timeout: 15 * time.Second}), slots: newTurns(4), admission: newAdmission(Limits{}, false, "")}
		begun := time.Now()
		ends := make(chan error, 40)
		for i := range 40 {
			go func() {
				req := Request{Caller: fmt.Sprint(i % 2), Taken: begun}
				ctx, cancel := g.limited(t.Context(), req, 0)
				defer cancel()
				leave, err := g.enter(ctx, req, "search", g.slots)
				if err == nil {
					select {
					case <-time.After(7 * time.Second): // what a slow search takes
					case <-ctx.Done():
						err = ctx.Err()
					}
					leave()
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
			case errorOf(err).Code == "timeout" && errorOf(err).Hint != "":
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
	ctx, cancel := f.gateway.limited(t.Context(), late, time.Minute)
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
