package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"vaultwicket/gateway"
)

// handshake is the first message of a client of an earlier protocol.
func handshake(capabilities string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`
}

// agent is a client of a site, with a session of its own.
type agent struct {
	*site
	session string
	ids     int
}

// connect opens a session.
func (s *site) connect(ctx context.Context) (*agent, error) {
	answer, err := s.send(ctx, http.MethodPost, handshake("{}"))
	if err != nil || answer.status != http.StatusOK {
		return nil, fmt.Errorf("initialize: %d %s %w", answer.status, answer.body, err)
	}
	return &agent{site: s, session: answer.header.Get("Mcp-Session-Id")}, nil
}

// ask sends a request of the session and returns the message that answers it,
// which has to have its id.
func (a *agent) ask(ctx context.Context, method string, params any) (rpcAnswer, error) {
	a.ids++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.ids, "method": method, "params": params})
	if err != nil {
		return rpcAnswer{}, err
	}
	return a.post(ctx, fmt.Sprint(a.ids), string(body), "Mcp-Session-Id", a.session)
}

// errUnanswered is the end of a response without an answer: the request was
// cancelled.
var errUnanswered = errors.New("the request was not answered")

// post sends a request with an id and returns the message that answers it. The
// error may be errUnanswered.
func (s *site) post(ctx context.Context, id, body string, headers ...string) (found rpcAnswer, err error) {
	response, err := s.client.Do(s.request(ctx, http.MethodPost, "/mcp", body, headers...))
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
			rpcAnswer
			Method string
		}
		if err = json.Unmarshal([]byte(message), &one); err == nil && one.Method == "" {
			count++
			found = one.rpcAnswer
		}
		return err == nil
	}
	if fault := events(response, read); fault != nil && fault != io.EOF {
		return found, fault
	}
	switch {
	case err == nil && count == 0:
		err = errUnanswered
	case err == nil && (count != 1 || string(found.ID) != id):
		err = fmt.Errorf("%d answers, the last to the request %s and not to %s", count, found.ID, id)
	}
	return found, err
}

// call calls the tool and returns its result.
func (a *agent) call(ctx context.Context, arguments map[string]any) (gateway.Result, error) {
	answer, err := a.ask(ctx, "tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments})
	var result gateway.Result
	if err == nil {
		err = json.Unmarshal(answer.Result.StructuredContent, &result)
	}
	return result, err
}

// answered is an answer, read to its end.
type answered struct {
	status int
	header http.Header
	body   string
}

// send sends one request and reads its answer.
func (s *site) send(ctx context.Context, method, body string, headers ...string) (answered, error) {
	response, err := s.client.Do(s.request(ctx, method, "/mcp", body, headers...))
	if err != nil {
		return answered{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answered{response.StatusCode, response.Header, string(text)}, err
}
