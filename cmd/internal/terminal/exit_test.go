package terminal

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestEveryClassHasAStatusOfTheTable(t *testing.T) {
	for code, want := range map[string]int{
		"not_found": 1, "unknown_command": 2, "tier_closed": 3, "cli_not_found": 4, "timeout": 5, "internal": 70, "no such code": 70,
	} {
		if got := StatusOfCode(code); got != want {
			t.Errorf("%s ends with %d, want %d", code, got, want)
		}
	}
}

func TestErrorsArePrintedWithTheirHints(t *testing.T) {
	denied := Fail(ExitDenied, "denied", "")
	for _, tt := range []struct {
		err    error
		status int
		want   string
	}{
		{nil, 0, ""},
		{Silent(5), 5, ""},
		{&UsageError{Reason: "no command given", Advice: "try help"}, 2, "vaultwicket: error: no command given\nvaultwicket: hint: try help\n"},
		{denied, 3, "vaultwicket: error: denied\n"},
		{Several{denied, &UsageError{Reason: "a\x1bb"}}, 3, "vaultwicket: error: denied\nvaultwicket: error: a\\u{1b}b\n"},
		{fmt.Errorf("write the output: %w", io.ErrShortWrite), 70, "vaultwicket: error: write the output: short write\n"},
	} {
		var out strings.Builder
		if got := PrintError(&out, tt.err); got != tt.status || out.String() != tt.want {
			t.Errorf("%v: status %d and %q, want %d and %q", tt.err, got, out.String(), tt.status, tt.want)
		}
	}
}
