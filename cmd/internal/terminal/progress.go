package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Progress shows the user that a command is still working: one line on standard error, from the first second
// on. It writes nothing if standard error is not a terminal.
type Progress struct {
	out   io.Writer // nil if nothing is shown
	width int
	text  string
	hint  string

	mu     sync.Mutex
	count  string // the progress so far, "" if it is not known
	shown  int    // the number of columns of the line on the screen, 0 if there is none
	paused bool
	timer  *time.Timer // shows the next line, nil before the start and after the end
}

// progressInterval is the time until the first line and between updates.
const progressInterval = time.Second

// StartProgress starts to show progress on stderr, which may be a [Messages]. text describes the work; hint is shown
// until Count is called. The caller must call Stop before it prints anything else.
func StartProgress(stderr io.Writer, text, hint string) *Progress {
	p := &Progress{text: text, hint: hint}
	messages, isShared := stderr.(*Messages)
	if isShared {
		stderr = messages.out
	}
	width, isTerminal := Width(stderr)
	if _, isQuiet := stderr.(*Quiet); isQuiet || !isTerminal {
		return p
	}
	p.begin(stderr, width)
	if isShared {
		messages.progress.Store(p)
	}
	return p
}

func (p *Progress) begin(out io.Writer, width int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	started := time.Now()
	p.out = out
	p.width = width
	p.timer = time.AfterFunc(progressInterval, func() { p.show(time.Since(started)) })
}

// show writes the line over the previous one.
func (p *Progress) show(elapsed time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.timer.Reset(progressInterval)
	if p.paused {
		return
	}
	about := p.text + " (" + p.hint + ")"
	if p.count != "" {
		about = p.text + ", " + p.count
	}
	line := fmt.Sprintf("vaultwicket: %s, %s", about, Span(elapsed.Round(time.Second)))
	line = cut(line, p.width-1) // one column less, because some terminals wrap after the last one
	fmt.Fprint(p.out, "\r"+pad(line, p.shown))
	p.shown = columns.String(line)
}

// Count sets the progress so far, such as "120 of 3000 files read", which replaces the hint.
func (p *Progress) Count(count string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count = count
}

// echoed is the number of columns that a terminal shows for Ctrl-C.
const echoed = len("^C")

// remove overwrites the line with spaces, which works on every terminal.
func (p *Progress) remove() {
	if p.shown > 0 {
		fmt.Fprint(p.out, "\r"+strings.Repeat(" ", min(p.shown+echoed, p.width-1))+"\r")
		p.shown = 0
	}
}

// Pause removes the line until resume is called, so that something else can be shown, such as a question.
func (p *Progress) Pause() (resume func()) {
	set := func(paused bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.paused = paused
		p.remove()
	}
	set(true)
	return func() { set(false) }
}

// Stop removes the line for good. It may be called more than once.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.paused {
		p.remove()
	}
	p.paused = true
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// Messages is a standard error for messages that can be written while a [Progress] is shown. It removes the
// line of the progress before each message.
type Messages struct {
	out      io.Writer
	progress atomic.Pointer[Progress]
}

// NewMessages returns a [Messages] that writes to stderr.
func NewMessages(stderr io.Writer) *Messages { return &Messages{out: stderr} }

// Write writes a whole message.
func (m *Messages) Write(text []byte) (int, error) {
	p := m.progress.Load()
	if p == nil {
		return m.out.Write(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove()
	return m.out.Write(text)
}
