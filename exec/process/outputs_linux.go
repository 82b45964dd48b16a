package process

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// outputs returns how the output of the child is read. One thread polls, unless a function hears the output. Polling
// needs handles of processes, which Linux has since 5.4. An error means that a pipe could not be made.
func (c Child) outputs(e *Ending) (outputs, error) {
	if c.Hear != nil || !processesHaveHandles() {
		return c.copied(e), nil
	}
	polled := &polledOutputs{}
	for _, stream := range []*Stream{e.Stdout, e.Stderr} {
		if err := polled.add(stream); err != nil {
			polled.close()
			return nil, err
		}
	}
	return polled, nil
}

// processesHaveHandles reports whether package os has a descriptor for each process that it starts.
var processesHaveHandles = sync.OnceValue(func() bool {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return false
	}
	defer self.Release()
	return self.WithHandle(func(uintptr) {}) == nil
})

// polledOutputs waits on the calling thread alone, for the output of a process and for its end. To wake the threads
// of the goroutines that os/exec starts takes about a tenth of the time of a call to a fast client.
type polledOutputs struct {
	pipes []*polledPipe // standard output and standard error
}

// polledPipe is a pipe from a child to this process.
type polledPipe struct {
	reader int // closed once it has been read to its end
	writer *os.File
	stream *Stream
}

const (
	closed  = -1 // a descriptor that the kernel ignores in a poll
	forever = -1 // the time-out of a poll that ends only with an event
)

// add makes a pipe whose output goes to stream.
func (o *polledOutputs) add(stream *Stream) error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	writer := os.NewFile(uintptr(ends[1]), "|1")
	o.pipes = append(o.pipes, &polledPipe{reader: ends[0], writer: writer, stream: stream})
	return nil
}

// contextOfCommand returns a context without an end: await stops the child.
func (o *polledOutputs) contextOfCommand(ctx context.Context) context.Context {
	return context.WithoutCancel(ctx)
}

func (o *polledOutputs) connect(cmd *osexec.Cmd) {
	cmd.Stdout = o.pipes[0].writer
	cmd.Stderr = o.pipes[1].writer
}

// close closes all ends that are still open.
func (o *polledOutputs) close() {
	o.closeWriters()
	for _, p := range o.pipes {
		p.close()
	}
}

// closeWriters closes the ends for the child, which has its own copies once it runs.
func (o *polledOutputs) closeWriters() {
	for _, p := range o.pipes {
		_ = p.writer.Close() // an error means that it is closed already
	}
}

func (p *polledPipe) close() {
	if p.reader != closed {
		_ = unix.Close(p.reader)
		p.reader = closed
	}
}

func (o *polledOutputs) await(ctx context.Context, s *stopper, ended func()) (isHeld bool) {
	defer o.close()
	o.closeWriters()
	asked := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(asked)
		if s.ask() != nil {
			_ = s.cmd.Process.Kill() // an error means that it has ended already
		}
	})
	defer func() {
		if !forget() {
			<-asked
		}
	}()
	err := s.cmd.Process.WithHandle(func(handle uintptr) { isHeld = o.poll(int(handle), s, ended) })
	if err != nil { // not where processesHaveHandles
		_ = s.cmd.Process.Kill()
		return true
	}
	return isHeld
}

// poll reads the pipes until the process has ended and all of them are at their end, or until the grace of s after
// the end of the process is over.
func (o *polledOutputs) poll(handle int, s *stopper, ended func()) (isHeld bool) {
	pipes := len(o.pipes)
	watched := make([]unix.PollFd, pipes+1)
	for i, p := range o.pipes {
		watched[i] = unix.PollFd{Fd: int32(p.reader), Events: unix.POLLIN}
	}
	process := &watched[pipes]
	*process = unix.PollFd{Fd: int32(handle), Events: unix.POLLIN}
	piece := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(piece)

	wait := forever
	var until time.Time // set when the process has ended
	for {
		_, err := unix.Poll(watched, wait)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil { // out of memory: nobody would see the end of the process
			_ = s.cmd.Process.Kill()
			return true
		}
		if process.Revents != 0 {
			process.Fd = closed
			until = time.Now().Add(s.grace())
			if ended != nil {
				ended()
			}
		}
		isRead := o.readReady(watched[:pipes], piece[:])
		if process.Fd != closed {
			continue
		}
		if isRead {
			return false
		}
		rest := time.Until(until)
		if rest <= 0 {
			return true
		}
		wait = int(rest.Milliseconds()) + 1 // rounded up, so that the last millisecond is not a busy loop
	}
}

// readReady reads once from each pipe for which the poll has an event. isRead reports that all pipes have been read
// to their end.
func (o *polledOutputs) readReady(watched []unix.PollFd, piece []byte) (isRead bool) {
	isRead = true
	for i, p := range o.pipes {
		if watched[i].Revents != 0 && !p.read(piece) {
			watched[i].Fd = closed
		}
		if p.reader != closed {
			isRead = false
		}
	}
	return isRead
}

// read passes what the pipe has, at most len(piece) bytes, to its stream. It reports whether more can come.
func (p *polledPipe) read(piece []byte) (isOpen bool) {
	n, err := unix.Read(p.reader, piece)
	if errors.Is(err, unix.EINTR) {
		return true
	}
	if err != nil || n == 0 {
		p.close()
		return false
	}
	_, _ = p.stream.Write(piece[:n]) // it never fails
	return true
}
