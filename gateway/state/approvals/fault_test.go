package approvals

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// faulty lets the n-th call fail, or does something else instead. With broken
// every later call fails too.
type faulty struct {
	real    realDisk
	n       int
	broken  bool
	instead func() // may be nil
	calls   int
}

var errFault = syscall.ENOSPC

func (f *faulty) fails() bool {
	f.calls++
	if f.calls == f.n && f.instead != nil {
		f.instead()
	}
	return f.calls == f.n || f.broken && f.calls > f.n
}

func (f *faulty) do(real func() error) error {
	if f.fails() {
		return errFault
	}
	return real()
}

func (f *faulty) mkdir(name string) error { return f.do(func() error { return f.real.mkdir(name) }) }
func (f *faulty) rename(from, to string) error {
	return f.do(func() error { return f.real.rename(from, to) })
}
func (f *faulty) remove(name string) error { return f.do(func() error { return f.real.remove(name) }) }
func (f *faulty) sync(dir string) error    { return f.do(func() error { return f.real.sync(dir) }) }

func (f *faulty) create(name string) (handle, error) {
	if f.fails() {
		return nil, errFault
	}
	h, err := f.real.create(name)
	if err != nil {
		return nil, err
	}
	return &faultyHandle{h, f}, nil
}

// faultyHandle writes half before it fails.
type faultyHandle struct {
	handle
	faulty *faulty
}

func (h *faultyHandle) Write(data []byte) (int, error) {
	if h.faulty.fails() {
		n, _ := h.handle.Write(data[:len(data)/2])
		return n, errFault
	}
	return h.handle.Write(data)
}

func (h *faultyHandle) Sync() error { return h.faulty.do(h.handle.Sync) }

func (h *faultyHandle) Close() error {
	err := h.handle.Close()
	if h.faulty.fails() {
		return errFault
	}
	return err
}

// deskCalls is how many calls to the disk a question takes until it is redeemed.
func deskCalls(t *testing.T, answer func(*Desk, string) (Question, error)) int {
	t.Helper()
	d, _ := newDesk(t)
	counted := &faulty{n: -1}
	d.disk = counted
	q := ask(t, d, about(1))
	_, err := answer(d, q.Code)
	must(t, err)
	_, _ = redeem(d, q)
	return counted.calls
}

// Whatever call to the disk fails, a yes is granted at most once, a no is never
// a yes, and what was told to have failed is no yes.
func TestAnyCallToTheDiskMayFail(t *testing.T) {
	for name, answer := range map[string]func(*Desk, string) (Question, error){"approve": (*Desk).Approve, "deny": (*Desk).Deny} {
		calls := deskCalls(t, answer)
		if calls < 10 {
			t.Fatalf("%d calls", calls)
		}
		for n := 1; n <= calls; n++ {
			for _, broken := range []bool{false, true} {
				d, c := newDesk(t)
				d.disk = &faulty{n: n, broken: broken}
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
						if err != nil || !isYes {
							t.Errorf("%s, call %d, broken %v: granted, yes %v, %v", name, n, broken, isYes, err)
						}
						break
					}
				}
				// Somebody else looks at it on a disk that works.
				again := Open(d.dir, c.now)
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
	var typed interface{ Code() string }
	if err != nil && !errors.As(err, &typed) {
		t.Errorf("%v has no code", err)
	}
}

// An approval whose last step failed leaves no yes behind.
func TestAnApprovalThatFailedIsNone(t *testing.T) {
	d, _ := newDesk(t)
	q := ask(t, d, about(1))
	const lastStep = 6 // create, write, sync, close, rename, sync of the folder
	d.disk = &faulty{n: lastStep}
	var unusable *Unusable
	if _, err := d.Approve(q.Code); !errors.As(err, &unusable) || !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	d.disk = realDisk{}
	wantUngranted(t, d, q, Unasked)
}

// A yes that was taken is gone even if nobody can tell whether that will last.
func TestATakenYesIsGoneWhateverTheDiskSays(t *testing.T) {
	d, q, _, _ := approved(t)
	d.disk = &faulty{n: 2} // remove, sync of the folder
	var unusable *Unusable
	if grant, err := redeem(d, q); grant.Valid() || !errors.As(err, &unusable) {
		t.Errorf("%v", err)
	}
	d.disk = realDisk{}
	wantUngranted(t, d, q, Unasked)
}

// Where the lock does not hold others off, taking still works once.
func TestTwoThatTakeAtOnceInSpiteOfTheLock(t *testing.T) {
	d, q, path, _ := approved(t)
	d.disk = &faulty{n: 1, instead: func() { must(t, realDisk{}.remove(path)) }}
	if grant, _ := redeem(d, q); grant.Valid() {
		t.Error("granted")
	}
	d, q, _, _ = approved(t)
	must(t, d.take(q))
	var ungranted *Ungranted
	if err := d.take(q); !errors.As(err, &ungranted) {
		t.Error(err)
	}
	if filepath.Dir(path) == d.dir {
		t.Error("the desks are one")
	}
}
