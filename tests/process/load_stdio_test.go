package process

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/mcpserver"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// pipeline is one connection on which many ask without waiting for each other.
type pipeline struct {
	mu      sync.Mutex
	in      io.WriteCloser
	last    int
	waiting map[int]chan harness.Answer
	wrong   error // what came that no one waits for
}

// ask is for several goroutines.
func (p *pipeline) Ask(_ context.Context, method string, params any) (harness.Answer, error) {
	_, answer, err := p.begin(method, params)
	if err != nil {
		return harness.Answer{}, err
	}
	got, ok := <-answer
	if !ok {
		return harness.Answer{}, io.ErrUnexpectedEOF
	}
	return got, nil
}

// begin sends a request.
func (p *pipeline) begin(method string, params any) (id int, answer chan harness.Answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	answer = make(chan harness.Answer, 1)
	p.waiting[p.last] = answer
	return p.last, answer, p.send(map[string]any{"jsonrpc": "2.0", "id": p.last, "method": method, "params": params})
}

func (p *pipeline) send(message any) error {
	line, err := json.Marshal(message)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	return err
}

// cancel cancels a request, which may get its answer or none.
func (p *pipeline) cancel(id int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
}

// hear gives each answer to who waits for it, until there are no more.
func (p *pipeline) hear(out io.Reader) {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		var answer harness.Answer
		var id int
		if err == nil {
			err = json.Unmarshal(line, &answer)
		}
		if err == nil {
			err = json.Unmarshal(answer.ID, &id)
		}
		p.mu.Lock()
		switch waits := p.waiting[id]; {
		case err == io.EOF:
			for _, waits := range p.waiting {
				close(waits)
			}
			p.mu.Unlock()
			return
		case err != nil || waits == nil:
			p.wrong = fmt.Errorf("no one waits for %.300s, %w", line, err)
		default:
			delete(p.waiting, id)
			waits <- answer
		}
		p.mu.Unlock()
	}
}

func TestManyClientsOnOnePipe(t *testing.T) {
	clients, times := 20, testenv.Count(18, 45)
	check := afterwards(t)
	c := gather(t, clients)
	in, theirIn := io.Pipe()
	theirOut, out := io.Pipe()
	p := &pipeline{in: theirIn, waiting: map[int]chan harness.Answer{}}
	ended := make(chan error, 1)
	go func() {
		err := mcpserver.ServeStdio(t.Context(), c.config, in, out)
		out.Close()
		ended <- err
	}()
	heard := make(chan struct{})
	go func() { defer close(heard); p.hear(theirOut) }()
	if _, err := p.Ask(t.Context(), "initialize",
		map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "t", "version": "1"}}); err != nil {
		t.Fatal(err)
	}
	all := map[string]func(*client) error{"cancel": p.cancelled}
	for name, act := range acts {
		all[name] = act
	}
	var running sync.WaitGroup
	crowd := make([]*client, clients)
	for i := range crowd {
		crowd[i] = c.client(i, p)
		crowd[i].shared = true
		running.Go(func() { crowd[i].act(times, all) })
	}
	running.Wait()
	theirIn.Close()
	assert.NoError(t, <-ended, "the server ended")
	<-heard
	assert.That(t, p.wrong == nil, "%v", p.wrong)
	c.judge(crowd)
	c.runner.Close()
	check()
}

// cancelled begins a call and cancels it. Where the cancellation came too late, the
// answer is that of the call.
func (p *pipeline) cancelled(c *client) error {
	id, answer, err := p.begin("tools/call",
		map[string]any{"name": "obsidianCli",
			"arguments": map[string]any{"command": "files", "params": map[string]any{"folder": c.name}}})
	if err == nil {
		err = p.cancel(id)
	}
	if err == nil {
		err = c.readOwn()
	}
	if err != nil {
		return err
	}
	select {
	case got := <-answer:
		var result struct{ OK bool }
		if err := json.Unmarshal(got.Result.StructuredContent, &result); err != nil || !result.OK {
			return fmt.Errorf("a call that was cancelled is answered with %s, %w", got.Result.StructuredContent, err)
		}
	default:
	}
	return nil
}
