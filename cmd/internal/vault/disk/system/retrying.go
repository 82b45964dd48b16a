package system

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

// Retrying makes the calls that fail while another program has the file open once
// more, after a while.
type Retrying struct {
	Calls
	InUse func(error) bool
	Sleep func(time.Duration)
}

// RetryReads retries calls that only read.
var RetryReads = Retrying{InUse: IsInUse, Sleep: time.Sleep}

// Move implements [Calls].
func (p Retrying) Move(source *os.Root, from string, target *os.Root, to string) error {
	return p.Repeat(from, func() error { return p.Calls.Move(source, from, target, to) })
}

// Rename implements [Calls].
func (p Retrying) Rename(source *os.Root, from string, target *os.Root, to string) error {
	return p.Repeat(to, func() error { return p.Calls.Rename(source, from, target, to) })
}

// Remove implements [Calls].
func (p Retrying) Remove(dir *os.Root, name string) error {
	return p.Repeat(name, func() error { return p.Calls.Remove(dir, name) })
}

// Repeat makes a call that concerns the file name, and makes it again for up to a
// second while another program has the file open. Then the error wraps [ErrInUse].
func (p Retrying) Repeat(name string, call func() error) error {
	for wait := firstWait; ; wait *= 2 {
		err := call()
		if !p.InUse(err) {
			return err
		}
		if wait > lastWait {
			return fmt.Errorf("%q %w", name, ErrInUse)
		}
		p.Sleep(wait)
	}
}
