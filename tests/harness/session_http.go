package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/vaultwicket/vaultwicket/gateway"
)

// Handshake is the first message of a client of an earlier protocol.
func Handshake(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` +
		capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`
}

// HTTPSession is a client of a site, with a session of its own.
type HTTPSession struct {
	*Endpoint
	Session string
	IDs     int
}

// Connect opens a session.
func (s *Endpoint) Connect(ctx context.Context) (*HTTPSession, error) {
	answer, err := s.Send(ctx, http.MethodPost, Handshake("{}"))
	if err != nil || answer.Status != http.StatusOK {
		return nil, fmt.Errorf("initialize: %d %s %w", answer.Status, answer.Body, err)
	}
	return &HTTPSession{Endpoint: s, Session: answer.Header.Get("Mcp-Session-Id")}, nil
}

// Ask sends a request of the session and returns the message that answers it,
// which has to have its id.
func (a *HTTPSession) Ask(ctx context.Context, method string, params any) (Answer, error) {
	a.IDs++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.IDs, "method": method, "params": params})
	if err != nil {
		return Answer{}, err
	}
	return a.Post(ctx, fmt.Sprint(a.IDs), string(body), "Mcp-Session-Id", a.Session)
}

// ErrUnanswered is the end of a response without an answer: the request was
// cancelled.
var ErrUnanswered = errors.New("the request was not answered")

// Post sends a request with an id and returns the message that answers it. The
// error may be errUnanswered.
func (s *Endpoint) Post(ctx context.Context, id, body string, headers ...string) (found Answer, err error) {
	response, err := s.Client.Do(s.Request(ctx, http.MethodPost, "/mcp", body, headers...))
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return found, fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	count := 0
	read := func(message string) bool {
		var one struct {
			Answer
			Method string
		}
		if err = json.Unmarshal([]byte(message), &one); err == nil && one.Method == "" {
			count++
			found = one.Answer
		}
		return err == nil
	}
	if fault := Events(response, read); fault != nil && fault != io.EOF {
		return found, fault
	}
	switch {
	case err == nil && count == 0:
		err = ErrUnanswered
	case err == nil && (count != 1 || string(found.ID) != id):
		err = fmt.Errorf("%d answers, the last to the request %s and not to %s", count, found.ID, id)
	}
	return found, err
}

// Call calls the tool and returns its result.
func (a *HTTPSession) Call(ctx context.Context, arguments map[string]any) (gateway.Result, error) {
	answer, err := a.Ask(ctx, "tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments})
	var result gateway.Result
	if err == nil {
		err = json.Unmarshal(answer.Result.StructuredContent, &result)
	}
	return result, err
}

// answered is an answer, read to its end.
type answered struct {
	Status int
	Header http.Header
	Body   string
}

// Send sends one request and reads its answer.
func (s *Endpoint) Send(ctx context.Context, method, body string, headers ...string) (answered, error) {
	response, err := s.Client.Do(s.Request(ctx, method, "/mcp", body, headers...))
	if err != nil {
		return answered{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answered{response.StatusCode, response.Header, string(text)}, err
}
