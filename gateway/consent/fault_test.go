package consent

import (
	"errors"
	"path/filepath"
	"testing"

	"vaultwicket/gateway/state/private"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/faults"
	"vaultwicket/tests/require"
)

// storeCalls is how many calls to the disk a question takes until it is redeemed.
func storeCalls(t *testing.T, answer func(*Store, string) (StoredQuestion, error)) int {
	t.Helper()
	d, _ := newStore(t)
	counted := &faults.System{}
	d.system = counted
	q := ask(t, d, about(1))
	_, err := answer(d, q.Code)
	require.NoError(t, err)
	_, _ = redeem(d, q)
	return counted.Calls
}

// Whatever call to the disk fails, a yes is granted at most once, a no is never
// a yes, and what was told to have failed is no yes.
func TestAnyCallToTheDiskMayFail(t *testing.T) {
	for name, answer := range map[string]func(*Store, string) (StoredQuestion, error){"approve": (*Store).Approve, "deny": (*Store).Deny} {
		calls := storeCalls(t, answer)
		require.That(t, calls >= 10, "%d calls", calls)
		for n := 1; n <= calls; n++ {
			for _, broken := range []bool{false, true} {
				d, c := newStore(t)
				d.system = &faults.System{N: n, Lasting: broken}
				grants, isYes := 0, false
				for range 2 { // the second time the fault is over, unless broken
					q, err := d.Ask(about(1))
					wantTyped(t, err)
					if err != nil {
						continue
					}
					_, err = answer(d, q.Code)
					wantTyped(t, err)
					isYes = isYes || err == nil && name == "approve"
					grant, err := redeem(d, q)
					wantTyped(t, err)
					if grant.Valid() {
						grants++
						assert.That(t, err == nil && isYes, "%s, call %d, broken %v: granted, yes %v, %v", name, n, broken, isYes, err)
						break
					}
				}
				// Another process looks at it on a disk that works.
				again := OpenStore(d.dir, c.now)
				if _, damaged := listed(t, again); len(damaged) != 0 {
					t.Errorf("%s, call %d, broken %v: %v", name, n, broken, damaged)
				}
				if grant, _ := redeem(again, about(1)); grant.Valid() {
					grants++
				}
				if grants > 1 || grants > 0 && name == "deny" {
					t.Errorf("%s, call %d, broken %v: granted %d times", name, n, broken, grants)
				}
			}
		}
	}
}

func wantTyped(t *testing.T, err error) {
	t.Helper()
	var unusable *Unusable
	var damaged *Damaged
	var unknown *Unknown
	var ungranted *Ungranted
	var answered *Answered
	if err != nil && !errors.As(err, &unusable) && !errors.As(err, &answered) && !errors.As(err, &damaged) && !errors.As(err, &unknown) && !errors.As(err, &ungranted) {
		t.Errorf("%v has no type", err)
	}
}

// An approval whose last step failed leaves no approval.
func TestAnApprovalThatFailedIsNone(t *testing.T) {
	d, _ := newStore(t)
	q := ask(t, d, about(1))
	const lastStep = 6 // create, write, sync, close, rename, sync of the folder
	d.system = &faults.System{N: lastStep}
	var unusable *Unusable
	if _, err := d.Approve(q.Code); !errors.As(err, &unusable) || !errors.Is(err, faults.Err) {
		t.Fatal(err)
	}
	d.system = private.Disk{}
	wantUngranted(t, d, q, Unasked)
}

// A yes that was taken is gone even if it cannot be told whether that will last.
func TestATakenYesIsGoneWhateverTheDiskSays(t *testing.T) {
	d, q, _, _ := approved(t)
	d.system = &faults.System{N: 2} // remove, sync of the folder
	var unusable *Unusable
	if grant, err := redeem(d, q); grant.Valid() || !errors.As(err, &unusable) {
		t.Errorf("%v", err)
	}
	d.system = private.Disk{}
	wantUngranted(t, d, q, Unasked)
}

// Where the lock does not hold others off, taking still works once.
func TestTwoThatTakeAtOnceInSpiteOfTheLock(t *testing.T) {
	d, q, path, _ := approved(t)
	d.system = &faults.System{N: 1, Before: func() { require.NoError(t, private.Disk{}.Remove(path)) }}
	if grant, _ := redeem(d, q); grant.Valid() {
		t.Error("granted")
	}
	d, q, _, _ = approved(t)
	require.NoError(t, d.remove(q))
	var ungranted *Ungranted
	if err := d.remove(q); !errors.As(err, &ungranted) {
		t.Error(err)
	}
	assert.That(t, filepath.Dir(path) != d.dir, "the desks are one")
}
