package stdio

import (
	"log/slog"
	"strings"
	"testing"
)

func TestOnlyTheHeadlineOfWhatTheLibraryLogsIsKept(t *testing.T) {
	var out strings.Builder
	log := headlinesOnly(slog.New(slog.NewTextHandler(&out, nil)))
	log.Printf("Error handling message: %v", "CANARY")
	log.Printf("Tool call queue full, processing synchronously")
	got := out.String()
	if strings.Contains(got, "CANARY") || !strings.Contains(got, `level=WARN msg="Error handling message"`) || !strings.Contains(got, "queue full") {
		t.Errorf("logged %q", got)
	}
}
