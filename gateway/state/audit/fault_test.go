package audit

import (
	"errors"
	"fmt"
	"testing"
)

// faulty lets the n-th call fail. With killed every later call fails too, as if
// the process had ended there, or the disk.
type faulty struct {
	real   realSystem
	n      int
	killed bool
	calls  int
}

var errFault = errors.New("the disk is full")

func (f *faulty) fails() bool {
	f.calls++
	return f.calls == f.n || f.killed && f.calls > f.n
}

func (f *faulty) do(real func() error) error {
	if f.fails() {
		return errFault
	}
	return real()
}

func (f *faulty) mkdir(name string) error { return f.do(func() error { return f.real.mkdir(name) }) }
func (f *faulty) truncate(name string, size int64) error {
	return f.do(func() error { return f.real.truncate(name, size) })
}
func (f *faulty) rename(from, to string) error {
	return f.do(func() error { return f.real.rename(from, to) })
}
func (f *faulty) remove(name string) error { return f.do(func() error { return f.real.remove(name) }) }
func (f *faulty) sync(dir string) error    { return f.do(func() error { return f.real.sync(dir) }) }

func (f *faulty) create(name string) (handle, error)     { return f.wrap(f.real.create, name) }
func (f *faulty) open(name string) (handle, error)       { return f.wrap(f.real.open, name) }
func (f *faulty) openRecord(name string) (handle, error) { return f.wrap(f.real.openRecord, name) }

func (f *faulty) wrap(open func(string) (handle, error), name string) (handle, error) {
	if f.fails() {
		return nil, errFault
	}
	h, err := open(name)
	if err != nil {
		return nil, err
	}
	return &faultyHandle{h, f}, nil
}

// faultyHandle writes half before it fails, but for a record: that is a sector.
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

func (h *faultyHandle) WriteAt(data []byte, at int64) (int, error) {
	if h.faulty.fails() {
		return 0, errFault
	}
	return h.handle.WriteAt(data, at)
}

func (h *faultyHandle) Sync() error { return h.faulty.do(h.handle.Sync) }

func (h *faultyHandle) Close() error {
	err := h.handle.Close()
	if h.faulty.fails() {
		return errFault
	}
	return err
}

// TestEveryFault lets each call that changes the disk fail once, or for good, in
// a log that begins, goes on, rotates or repairs. No line that was promised is
// lost, none that was refused stays if the disk lets it be taken back, and
// nothing breaks.
func TestEveryFault(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for name, begin := range map[string]func(*testing.T, *Log){
			"a new log":   func(*testing.T, *Log) {},
			"a log":       func(t *testing.T, l *Log) { writeAll(t, l, 1, 2) },
			"a torn log":  func(t *testing.T, l *Log) { writeAll(t, l, 1, 2); tear(t, l) },
			"a full file": func(t *testing.T, l *Log) { writeAll(t, l, 1, 4) },
			"full files":  func(t *testing.T, l *Log) { writeAll(t, l, 1, 12) },
		} {
			t.Run(fmt.Sprintf("%s, killed %v", name, killed), func(t *testing.T) { everyFault(t, begin, killed) })
		}
	}
}

func tear(t *testing.T, l *Log) {
	data := readFile(t, l, presentFile)
	writeFile(t, l, presentFile, append(data, data[:200]...))
}

func everyFault(t *testing.T, begin func(*testing.T, *Log), killed bool) {
	for n := 1; ; n++ {
		if n > 100 {
			t.Fatal("it never succeeded")
		}
		l := newLog(t, Limits{FileSize: 2600, Files: 3})
		begin(t, l)
		must(t, l.Close())
		sys := &faulty{n: n, killed: killed}
		l = again(t, l)
		l.sys = sys
		promised, refused := map[string]bool{}, map[string]bool{}
		for i := 100; i < 103; i++ {
			line := sample(i)
			err := l.Write(line, true)
			var typed *Unusable
			if err != nil && (!errors.As(err, &typed) || !errors.Is(err, errFault)) {
				t.Errorf("call %d: %v", n, err)
			}
			if err == nil {
				promised[line.Call] = true
			} else {
				refused[line.Call] = true
			}
		}
		check := func(when string) {
			t.Helper()
			if r := verified(t, l); r.Broken != nil {
				t.Fatalf("call %d failed%s: %v", n, when, r.Broken)
			}
			there := map[string]bool{}
			for _, line := range listed(t, l, Filter{}) {
				there[line.Call] = true
			}
			for call := range promised {
				if !there[call] {
					t.Errorf("call %d failed%s: %s is lost", n, when, call)
				}
			}
			for call := range refused {
				if there[call] && !killed {
					t.Errorf("call %d failed%s: %s is there", n, when, call)
				}
			}
		}
		check("")
		next := again(t, l)
		writeAll(t, next, 200, 200)
		check(", and another process goes on")
		if sys.calls < n {
			return
		}
	}
}
