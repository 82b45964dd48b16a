package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Progress tells the user that work is in progress: one line on standard error, once the work
// has taken a second. It writes nothing if standard error is not a terminal.
type Progress struct {
	out   io.Writer // nil without a reader
	width int
	text  string
	hint  string

	mu     sync.Mutex
	count  string // how far the work has come, "" if that is not known
	shown  int    // columns of the line that is on the screen
	paused bool
	timer  *time.Timer // until the next line, nil if there is none to come
}

// progressInterval is the time until the first line, and between two.
const progressInterval = time.Second

// StartProgress starts to count the seconds. text says what is being done, and hint what to expect until more
// is known. The caller calls Stop before it prints anything else. stderr may be a [Messages].
func StartProgress(stderr io.Writer, text, hint string) *Progress {
	p := &Progress{text: text, hint: hint}
	messages, shared := stderr.(*Messages)
	if shared {
		stderr = messages.out
	}
	width, isTerminal := Width(stderr)
	if _, isQuiet := stderr.(*Quiet); isQuiet || !isTerminal {
		return p
	}
	p.begin(stderr, width)
	if shared {
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

// show writes the line over the one before it.
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
	line := cut(
		fmt.Sprintf("vaultwicket: %s, %s", about, Span(elapsed.Round(time.Second))),
		p.width-1,
	) // in the last column some terminals wrap
	fmt.Fprint(p.out, "\r"+pad(line, p.shown))
	p.shown = columns.String(line)
}

// Count sets how far the work has come, such as "120 of 3000 files read", which replaces the hint.
func (p *Progress) Count(count string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count = count
}

// echoed is what a terminal shows for Ctrl-C.
const echoed = len("^C")

// remove takes the line off the screen, by blanks: that works on every terminal.
func (p *Progress) remove() {
	if p.shown > 0 {
		fmt.Fprint(p.out, "\r"+strings.Repeat(" ", min(p.shown+echoed, p.width-1))+"\r")
		p.shown = 0
	}
}

// Pause removes the line while something else is on the screen, such as a question, until resume.
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

// Messages is standard error for messages that may come while a [Progress] is shown: its
// line is removed before one.
type Messages struct {
	out      io.Writer
	progress atomic.Pointer[Progress]
}

// NewMessages returns a writer to stderr.
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
