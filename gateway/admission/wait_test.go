package admission

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"vaultwicket/gateway/failure"
)

// Forty calls at once are answered within the limit of one, whether they ran or not.
func TestWaitingCountsForTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, running := New("", Limits{}, false, "", func() time.Duration { return 15 * time.Second }), NewSemaphore(4)
		begun := time.Now()
		ends := make(chan error, 40)
		for i := range 40 {
			go func() {
				ctx, cancel := a.WithDeadline(t.Context(), begun, 0)
				defer cancel()
				release, err := a.Acquire(ctx, fmt.Sprint(i%20), "search", running)
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
