package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vaultwicket/gateway"
	"vaultwicket/gateway/mcpserver/wire"
)

// Config configures a server.
type Config struct {
	Gateway *gateway.Gateway
	Version string
	// Toolsets are names of [ToolsetNames]: the tools that are listed in addition to
	// obsidianCli.
	Toolsets []string
	// MaxOutput is the maximum size of a command's output in one result, in bytes.
	MaxOutput int
	// MarkUntrusted wraps all text of notes in random delimiters, see [marked].
	MarkUntrusted bool
	// Text has obsidianCli and obsidianRead answer with the text of the output itself, in
	// place of JSON that has it as a string. JSON rows stay structured.
	Text bool
	// Grace is how long pending calls may continue after the client closed the input. It
	// should be a little longer than the time limit of a call.
	Grace time.Duration
	// Log receives messages of the server, never protocol messages; nil discards them.
	Log *slog.Logger
	// Now is the clock for the days in prompts and completions; nil is the system clock.
	Now func() time.Time
}

// complete returns c with its defaults.
func (c Config) complete() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// handler handles the requests of clients.
type handler struct {
	Config
	sealers *sealers
	mcp     *server.MCPServer
}

// clock returns the local time of the user.
func (h handler) clock() time.Time {
	if h.Now == nil {
		return time.Now()
	}
	return h.Now()
}

// marked returns an answer of the gateway as it leaves: with marks around the text of notes,
// where that is configured. Everything with such text passes here, and nowhere twice.
func marked[T interface{ Marked() T }](h handler, answer T) T {
	if !h.MarkUntrusted {
		return answer
	}
	return answer.Marked()
}

func answer(result gateway.Result) (*mcp.CallToolResult, error) { return reply(result, !result.OK) }

// reply puts the same JSON into the text and into the structured content: some clients
// show a model only one of them. HTML escaping would turn every < into six characters.
func reply(content any, failed bool) (*mcp.CallToolResult, error) {
	encoder := encoders.Get().(*encoder)
	text, err := encoder.encode(content)
	if encoder.Cap() <= maxPooled {
		encoders.Put(encoder)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	result := mcp.NewToolResultStructured(wire.Compact(text), text)
	result.IsError = failed
	return result, nil
}

// encoder encodes results as JSON in a buffer that is used again.
type encoder struct {
	bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}}

// maxPooled is the size up to which the buffer of an encoder is kept.
const maxPooled = 64 << 10

// encode returns a value as JSON in one line without white space.
func (e *encoder) encode(v any) (string, error) {
	e.Reset()
	err := e.json.Encode(v)
	return strings.TrimSuffix(e.String(), "\n"), err
}

// withImage returns an answer with an image as one more content, if there is one.
func withImage(answer *mcp.CallToolResult, image *gateway.Image) *mcp.CallToolResult {
	if image != nil {
		answer.Content = append(answer.Content, mcp.NewImageContent(image.Base64, image.MediaType))
	}
	return answer
}
