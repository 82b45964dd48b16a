package disk

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrInUse says that another program has a file open in a way that keeps it from
// being opened, moved, replaced or removed. Only Windows knows that. Nothing was
// changed.
var ErrInUse = errors.New("is open in another program")

// A virus scanner, a sync client or the app has a file open for moments. The
// waits add up to less than a second; who has it open for longer is told.
const (
	firstWait = 10 * time.Millisecond
	lastWait  = 320 * time.Millisecond
)

// patient makes the calls that fail while another program has the file open once
// more, after a while.
type patient struct {
	system
	inUse func(error) bool
	sleep func(time.Duration)
}

// waiting is the patience of calls that only look.
var waiting = patient{inUse: isInUse, sleep: time.Sleep}

func (p patient) move(source *os.Root, from string, target *os.Root, to string) error {
	return p.repeat(from, func() error { return p.system.move(source, from, target, to) })
}

func (p patient) rename(source *os.Root, from string, target *os.Root, to string) error {
	return p.repeat(to, func() error { return p.system.rename(source, from, target, to) })
}

func (p patient) remove(dir *os.Root, name string) error {
	return p.repeat(name, func() error { return p.system.remove(dir, name) })
}

func (p patient) repeat(name string, call func() error) error {
	for wait := firstWait; ; wait *= 2 {
		err := call()
		if !p.inUse(err) {
			return err
		}
		if wait > lastWait {
			return fmt.Errorf("%q %w", name, ErrInUse)
		}
		p.sleep(wait)
	}
}
