package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestWireOverHTTP plays exchanges against the built server. In a file,
//
//	> POST /mcp       begins a request, with the headers that a client of MCP sends
//	> Name: value     sets another one; without a value it is left out
//	> {…}             is its body
//	< LINE            is what the server must answer: the status, the headers that
//	                  matter, and the messages, each on its line
//
// An answer is read to its end, unless its request has a name: ">call POST /mcp"
// is left open, and each "<call LINE" is the next line of its answer, the last one
// of which is "(end)". A line "-call" hangs up. The ids that the server makes are
// shown as $ID1 and so on, in the order in which they came, and its states as
// $STATE1; a request may use both. The server must end with status 0 when it is
// asked to.
func TestWireOverHTTP(t *testing.T) {
	files, err := filepath.Glob("wire/http/*.txtar")
	require.Equal(t, err, nil, "no wire files")
	require.That(t, len(files) != 0, "no wire files")
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			playWire(t, name, converseOverHTTP)
		})
	}
}

func converseOverHTTP(t *testing.T, vault string, flags []string, session string) string {
	t.Helper()
	server := harness.ServeHTTP(t, append([]string{"--backend=embedded", "--vault=" + vault}, flags...)...)
	ctx, disconnect := context.WithTimeout(t.Context(), harness.Deadline)
	defer disconnect()
	p := &player{Endpoint: server.Endpoint, ctx: ctx, vault: vault, open: map[string]*exchange{}, names: map[string]string{}}
	for line := range strings.Lines(session) {
		p.play(strings.TrimSuffix(line, "\n"))
	}
	p.sendPending()
	disconnect()
	if runtime.GOOS == "windows" {
		return p.got.String() // where a process cannot be asked to end
	}
	require.NoError(t, server.Process.Process.Signal(os.Interrupt))
	err := server.Wait()
	assert.That(t, err == nil, "the server ended with %v; its log:\n%s", err, server.Said())
	return p.got.String()
}

// player plays one file.
type player struct {
	*harness.Endpoint
	ctx     context.Context
	vault   string
	got     strings.Builder
	pending *exchange
	open    map[string]*exchange // by name
	names   map[string]string    // of what the server has made, by its text
	counts  [2]int               // of the names given
}

// exchange is a request and its answer.
type exchange struct {
	name, method, path, body string
	headers                  []string
	answer                   chan string // its lines
	disconnect               context.CancelFunc
}

var (
	sentLine    = regexp.MustCompile(`^>(\w*) (.*)$`)
	requestLine = regexp.MustCompile(`^([A-Z]+) (/\S*)$`)
	headerLine  = regexp.MustCompile(`^([A-Z][\w-]*):\s*(.*)$`)
	readLine    = regexp.MustCompile(`^<(\w*) `)
)

// play plays one line of the session. What is read replaces what the line says.
func (p *player) play(line string) {
	if sent := sentLine.FindStringSubmatch(line); sent != nil {
		p.compose(sent[1], sent[2])
		fmt.Fprintln(&p.got, line)
		return
	}
	p.sendPending()
	read := readLine.FindStringSubmatch(line)
	switch name, ends := strings.CutPrefix(line, "-"); {
	case ends && p.open[name] != nil:
		p.open[name].disconnect()
		fmt.Fprintln(&p.got, line)
	case read == nil:
		fmt.Fprintln(&p.got, line)
	case read[1] != "":
		p.show(read[1])
	}
}

// compose adds a line to the request that is being made.
func (p *player) compose(name, text string) {
	text = p.resolved(text)
	if begins := requestLine.FindStringSubmatch(text); begins != nil {
		p.sendPending()
		p.pending = &exchange{name: name, method: begins[1], path: begins[2]}
		return
	}
	require.That(p.T, p.pending != nil, "the line %q belongs to no request", text)
	if header := headerLine.FindStringSubmatch(text); header != nil && p.pending.body == "" {
		p.pending.headers = append(p.pending.headers, header[1], header[2])
		return
	}
	p.pending.body += text
}

// sendPending sends the request that is complete, and reads the answer to one
// without a name.
func (p *player) sendPending() {
	x := p.pending
	if x == nil {
		return
	}
	p.pending = nil
	var ctx context.Context
	ctx, x.disconnect = context.WithCancel(p.ctx)
	x.answer = make(chan string, 1000)
	go func() { defer close(x.answer); p.follow(ctx, x) }()
	if x.name != "" {
		p.open[x.name] = x
		return
	}
	for line := range x.answer {
		fmt.Fprintln(&p.got, "< "+p.stable(line))
	}
	x.disconnect()
}

// show reads one line of an open answer.
func (p *player) show(name string) {
	x := p.open[name]
	require.That(p.T, x != nil, "no request is called %q", name)
	select {
	case line, more := <-x.answer:
		if !more {
			line = "(end)"
		}
		fmt.Fprintf(&p.got, "<%s %s\n", name, p.stable(line))
	case <-time.After(harness.Deadline):
		p.T.Fatalf("%q has no further line", name)
	}
}

// telling are the headers of an answer that mean something to its client. Those
// that every answer must have are looked at, and not shown.
var telling = []string{"Content-Type", "Mcp-Session-Id", "Allow", "Retry-After", "Www-Authenticate", "Access-Control-Allow-Origin"}

// follow sends a request and passes on the lines of its answer.
func (p *player) follow(ctx context.Context, x *exchange) {
	response, err := p.Client.Do(p.Request(ctx, x.method, x.path, x.body, x.headers...))
	if err != nil {
		x.answer <- fmt.Sprintf("(%v)", err)
		return
	}
	defer response.Body.Close()
	if h := response.Header; h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		p.T.Errorf("%s %s: the answer may be kept, or taken for something else: %v", x.method, x.path, h)
	}
	x.answer <- fmt.Sprint(response.StatusCode)
	for _, name := range telling {
		for _, value := range response.Header.Values(name) {
			x.answer <- name + ": " + value
		}
	}
	err = harness.Events(response, func(message string) bool { x.answer <- message; return true })
	if err != nil && err != io.EOF && ctx.Err() == nil {
		x.answer <- fmt.Sprintf("(%v)", err)
	}
}

// What a server makes differs from run to run: the ids of sessions and of kept
// answers, and the states of questions.
var (
	madeID    = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)
	madeState = regexp.MustCompile(`"requestState":"([^"]*)"`)
)

// stable gives names to what the server has made.
func (p *player) stable(line string) string {
	line = strings.ReplaceAll(stable(line, p.vault), p.Host(), "$ADDR")
	for _, id := range madeID.FindAllString(line, -1) {
		line = strings.ReplaceAll(line, id, p.named("$ID", 0, id))
	}
	for _, state := range madeState.FindAllStringSubmatch(line, -1) {
		line = strings.ReplaceAll(line, state[1], p.named("$STATE", 1, state[1]))
	}
	return line
}

func (p *player) named(kind string, index int, text string) string {
	if p.names[text] == "" {
		p.counts[index]++
		p.names[text] = fmt.Sprint(kind, p.counts[index])
	}
	return p.names[text]
}

// resolved puts in what the names of a request stand for.
func (p *player) resolved(text string) string {
	for made, name := range p.names {
		text = regexp.MustCompile(regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(text, made)
	}
	return strings.NewReplacer("$ADDR", p.Host(), "$TOKEN", harness.Token).Replace(text)
}
