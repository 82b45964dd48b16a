package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"

	"vaultwicket/cmd/internal/release"
	"vaultwicket/exec"
	"vaultwicket/gateway"
	"vaultwicket/policy"
)

// demoClient is the client's side of an MCP session: one request after another
// over the pipes of a server that runs as a child.
type demoClient struct {
	peer    *exec.Peer
	answers *bufio.Reader
	lastID  int
}

// connectDemo starts a server with the rights of p on the vault in folder and
// opens a session.
func connectDemo(ctx context.Context, runner *exec.Runner, p policy.Policy, folder string) (*demoClient, error) {
	peer, err := runner.Serve(ctx, p.Server(folder))
	if err != nil {
		return nil, err
	}
	c := &demoClient{peer: peer, answers: bufio.NewReader(peer.Out)}
	opening := map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "vaultwicket demo", "version": release.Version},
	}
	if err := c.ask("initialize", opening, nil); err != nil {
		peer.Stop()
		return nil, err
	}
	return c, c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// close ends the session as a client does, by closing the server's input, and
// waits until the server has gone.
func (c *demoClient) close() error {
	if err := c.peer.In.Close(); err != nil {
		return err
	}
	return c.peer.Wait()
}

// ask sends a request and decodes its result into result, unless that is nil.
func (c *demoClient) ask(method string, params, result any) error {
	c.lastID++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.lastID, "method": method, "params": params}); err != nil {
		return err
	}
	line, err := c.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: the server did not answer: %w", method, err)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: the server answered %s", method, answer.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

func (c *demoClient) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.peer.In.Write(append(line, '\n'))
	return err
}

// tools returns the names and descriptions of the server's tools.
func (c *demoClient) tools() ([]demoTool, error) {
	var list struct{ Tools []demoTool }
	err := c.ask("tools/list", map[string]any{}, &list)
	return list.Tools, err
}

type demoTool struct {
	Name, Description string
	Annotations       struct{ ReadOnlyHint bool }
}

// call runs a command through the tool and decodes the result.
func (c *demoClient) call(arguments map[string]any, result any) error {
	var answer struct{ StructuredContent json.RawMessage }
	if err := c.ask("tools/call", map[string]any{"name": "obsidianCli", "arguments": arguments}, &answer); err != nil {
		return err
	}
	return json.Unmarshal(answer.StructuredContent, result)
}

// command is call for a command that is to be run.
func (c *demoClient) command(name string, params map[string]any) (gateway.Result, error) {
	var result gateway.Result
	err := c.call(map[string]any{"command": name, "params": params}, &result)
	return result, err
}
