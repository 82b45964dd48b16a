package stdio

import (
	"log"
	"log/slog"
	"strings"
)

// headlinesOnly returns a logger for mcp-go. It passes on only the part of a message
// before the first colon: after it mcp-go prints errors and panics, which can contain
// what the client sent.
func headlinesOnly(to *slog.Logger) *log.Logger { return log.New(headlines{to}, "", 0) }

type headlines struct{ to *slog.Logger }

func (h headlines) Write(message []byte) (int, error) {
	headline, _, _ := strings.Cut(strings.TrimSpace(string(message)), ":")
	h.to.Warn(headline)
	return len(message), nil
}
