package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/gateway"
)

// rig is a vault, a home and a file of settings, and the program on them in all the
// ways in which a call can come.
type rig struct {
	t           *testing.T
	vault, home string
	settings    string // lines of the settings file before its tables
	tables      string // lines of the table of the vault and of what follows
	flags       []string
}

// newRig makes the vault with the notes by their paths. The settings are those of
// a gateway that refuses nothing; the default of confirm stays.
func newRig(t *testing.T, notes map[string]string) *rig {
	t.Helper()
	folder := t.TempDir()
	r := &rig{t: t, vault: filepath.Join(folder, "Notes"), home: filepath.Join(folder, "home"), settings: "tier = \"v3\"\nallow-mutations = true\nbackend = \"embedded\"\nrate = 0\nrate-mutations = 0\nrate-mutations-hour = 0\ntoolsets = [\"all\"]\n"}
	for path, text := range notes {
		r.write(path, text)
	}
	if err := os.MkdirAll(filepath.Join(r.home, ".config", "vaultwicket"), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) write(path, text string) {
	r.t.Helper()
	writeFile(r.t, filepath.Join(r.vault, filepath.FromSlash(path)), []byte(text))
}

func (r *rig) read(path string) string {
	text, _ := os.ReadFile(filepath.Join(r.vault, filepath.FromSlash(path)))
	return string(text)
}

// set replaces a setting, or adds it.
func (r *rig) set(name, value string) *rig {
	var kept []string
	for line := range strings.Lines(r.settings) {
		if !strings.HasPrefix(line, name+" = ") {
			kept = append(kept, line)
		}
	}
	r.settings = strings.Join(kept, "") + name + " = " + value + "\n"
	return r
}

// save writes the file of settings, which a running server reads again.
func (r *rig) save() string {
	r.t.Helper()
	file := filepath.Join(r.home, ".config", "vaultwicket", "config.toml")
	text := fmt.Sprintf("%s[[vaults]]\nname = \"Notes\"\nfolder = %q\n%s", r.settings, r.vault, r.tables)
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// command is the program with the home and the settings of the rig. Its clock
// stands still.
func (r *rig) command(args ...string) *osexec.Cmd {
	r.save()
	c := osexec.Command(binary, args...)
	c.Env = []string{"HOME=" + r.home, "PATH=" + filepath.Join(r.home, "bin"), "VAULTWICKET_TOKEN=" + httpToken, "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}
	return c
}

// run is the program at a terminal that nobody sits at.
func (r *rig) run(args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	c := r.command(args...)
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	if err := c.Run(); c.ProcessState == nil {
		r.t.Fatalf("%q: %v", args, err)
	}
	return out.String(), log.String(), c.ProcessState.ExitCode()
}

// must is run of what has to succeed.
func (r *rig) must(args ...string) string {
	r.t.Helper()
	stdout, stderr, status := r.run(args...)
	if status != 0 {
		r.t.Fatalf("%q ended with %d: %s%s", args, status, stdout, stderr)
	}
	return stdout
}

// app writes an official CLI that is a shell script, and has the app know the vault.
func (r *rig) app(script string) (name string) {
	r.t.Helper()
	name = filepath.Join(r.home, "bin", "obsidian")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	registry := asText(r.t, map[string]any{"vaults": map[string]any{"a1b2c3d4e5f60718": map[string]any{"path": r.vault, "ts": 1, "open": true}}})
	writeFile(r.t, filepath.Join(r.home, ".config", "obsidian", "obsidian.json"), []byte(registry))
	return name
}

// entrance is a way by which calls come. ask sends a request of the protocol and
// returns its answer; asking is what is answered to a form, "" if there are none.
type entrance struct {
	rig     *rig
	name    string
	ask     func(method string, params map[string]any) rpcAnswer
	process *os.Process // of the server
	answer  string      // to a form
	forms   []string    // that were shown
}

const statelessMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// stdio starts a server on a pipe. modern is the protocol without a session.
// A client that has an answer can be asked.
func (r *rig) stdio(modern bool, answer string) *entrance {
	r.t.Helper()
	e := &entrance{rig: r, name: "stdio", answer: answer}
	server := r.command(append([]string{"serve"}, r.flags...)...)
	log := &bytes.Buffer{}
	server.Stderr = log
	in, err := server.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		r.t.Fatal(err)
	}
	e.process = server.Process
	watchdog := time.AfterFunc(wireDeadline, func() { server.Process.Kill() })
	r.t.Cleanup(func() { in.Close(); _, _ = io.Copy(io.Discard, out); _ = server.Wait(); watchdog.Stop() })
	lines, ids := bufio.NewReader(out), 0
	next := func() (line []byte) {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			r.t.Fatalf("%v; the log:\n%s", err, log)
		}
		return line
	}
	if modern {
		e.name = "stdio without a session"
	} else {
		capabilities := "{}"
		if answer != "" {
			capabilities = `{"elicitation":{}}`
		}
		fmt.Fprintln(in, handshake(capabilities))
		next()
		fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	e.ask = func(method string, params map[string]any) rpcAnswer {
		r.t.Helper()
		if modern {
			params["_meta"] = json.RawMessage(statelessMeta)
		}
		ids++
		fmt.Fprintln(in, asText(r.t, map[string]any{"jsonrpc": "2.0", "id": ids, "method": method, "params": params}))
		for {
			var m struct {
				rpcAnswer
				Method string
				Params struct{ Message string }
			}
			line := next()
			if err := json.Unmarshal(line, &m); err != nil {
				r.t.Fatalf("%s: %v", line, err)
			}
			switch {
			case m.Method == "elicitation/create":
				e.forms = append(e.forms, m.Params.Message)
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, e.answer)
			case m.Method == "":
				return m.rpcAnswer
			}
		}
	}
	return e
}

// overHTTP starts a server over HTTP and returns where it is.
func (r *rig) overHTTP() *httpServer {
	r.t.Helper()
	s := &httpServer{ended: make(chan error, 1)}
	s.process = r.command(append([]string{"serve", "--http=127.0.0.1:0"}, r.flags...)...)
	s.start(r.t)
	return s
}

// session opens a session of a server over HTTP.
func (r *rig) session(s *httpServer) *entrance {
	r.t.Helper()
	a, err := s.connect(r.t.Context())
	if err != nil {
		r.t.Fatalf("%v; the log:\n%s", err, s.said())
	}
	return &entrance{rig: r, name: "session over HTTP", process: s.process.Process, ask: func(method string, params map[string]any) rpcAnswer {
		r.t.Helper()
		answer, err := a.ask(r.t.Context(), method, params)
		if err != nil {
			r.t.Fatalf("%v; the log:\n%s", err, s.said())
		}
		return answer
	}}
}

// stateless is a caller of a server over HTTP that has no session.
func (r *rig) stateless(s *httpServer) *entrance {
	return &entrance{rig: r, name: "HTTP without a session", process: s.process.Process, ask: func(method string, params map[string]any) rpcAnswer {
		r.t.Helper()
		name, _ := params["name"].(string)
		if uri, ok := params["uri"].(string); ok {
			name = uri
		}
		params["_meta"] = json.RawMessage(statelessMeta)
		body := asText(r.t, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		response, err := s.send(r.t.Context(), http.MethodPost, body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
		if err != nil {
			r.t.Fatal(err)
		}
		var answer rpcAnswer
		text := response.body
		for line := range strings.Lines(response.body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				text = data
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			r.t.Fatalf("status %d: %s: %v", response.status, response.body, err)
		}
		return answer
	}}
}

// call is what a tool is called with.
type call map[string]any

// calling is a call of a command with parameters, which are name=value or flags.
func calling(command string, words ...string) call {
	params := map[string]any{}
	for _, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok {
			params[name] = value
		} else {
			params[word] = true
		}
	}
	return call{"command": command, "params": params}
}

// with returns the call with one more argument.
func (c call) with(name string, value any) call {
	more := call{name: value}
	for key, old := range c {
		if key != name {
			more[key] = old
		}
	}
	return more
}

// words is the call as it is typed.
func (c call) words() []string {
	all := []string{c["command"].(string)}
	for name, value := range c["params"].(map[string]any) {
		if text, ok := value.(string); ok {
			name += "=" + text
		}
		all = append(all, name)
	}
	return all
}

// tool calls a tool and decodes its structured answer into result.
func (e *entrance) tool(name string, arguments, result any) {
	e.rig.t.Helper()
	answer := e.ask("tools/call", map[string]any{"name": name, "arguments": arguments})
	if answer.Error != nil {
		e.rig.t.Fatalf("%s: %s %v: %+v", e.name, name, arguments, answer.Error)
	}
	if err := json.Unmarshal(answer.Result.StructuredContent, result); err != nil {
		e.rig.t.Fatalf("%s: %s: %v", e.name, answer.Result.StructuredContent, err)
	}
}

// do calls obsidianCli.
func (e *entrance) do(c call) (result gateway.Result) {
	e.rig.t.Helper()
	e.tool("obsidianCli", c, &result)
	return result
}

// batch makes one batch of calls. Arguments that a call has beside its command and
// parameters are those of the batch.
func (e *entrance) batch(calls ...call) (result gateway.BatchResult) {
	e.rig.t.Helper()
	batch := map[string]any{}
	var operations []map[string]any
	for i, c := range calls {
		operation := map[string]any{"clientId": fmt.Sprintf("c%d", i)}
		for name, value := range c {
			if name == "idempotencyKey" {
				batch[name] = value
			} else {
				operation[name] = value
			}
		}
		operations = append(operations, operation)
	}
	batch["operations"] = operations
	e.tool("obsidianBatch", batch, &result)
	return result
}

func codeOfError(e *gateway.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

// changeID is the id of the change that a result tells of.
func changeID(result gateway.Result) string {
	if result.Change == nil {
		return ""
	}
	return result.Change.ID
}

// longNote is longer than a page.
var longNote = strings.Repeat("a line that is long enough to fill a page\n", 3000)
