package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// privateText stands for what no log may have.
const privateText = "Private/Diary.md: my secret"

func TestTracesAreTakenOnlyInTheirForm(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tt := range []struct {
		name     string
		in, want Trace
	}{
		{"both", Trace{parent, "a=b,c=d"}, Trace{parent, "a=b,c=d"}},
		{"none", Trace{}, Trace{}},
		{"capital letters", Trace{strings.ToUpper(parent), ""}, Trace{}},
		{"another version", Trace{"01" + parent[2:], ""}, Trace{}},
		{"a trace of zeros", Trace{"00-" + strings.Repeat("0", 32) + parent[35:], ""}, Trace{}},
		{"a parent of zeros", Trace{parent[:36] + strings.Repeat("0", 16) + "-01", ""}, Trace{}},
		{"text behind it", Trace{parent + "-x", ""}, Trace{}},
		{"dashes at other places", Trace{strings.Repeat("0-", 27) + "0", ""}, Trace{}},
		{"a state with a newline", Trace{parent, "a=b\n"}, Trace{parent, ""}},
		{"a long state", Trace{parent, strings.Repeat("a", 513)}, Trace{parent, ""}},
	} {
		assert.Equal(t, TraceOf(WithTrace(context.Background(), tt.in)), tt.want, "%s", tt.name)
	}
}

func TestFaultsAreLoggedWithoutWhatWasWorkedOn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault any
		want  string
	}{
		{"a text", privateText, "kind=string"},
		{"an error with a text", errors.New(privateText), "kind=*errors.errorString"},
		{"an error with a path", &fs.PathError{Op: "open", Path: privateText, Err: fs.ErrPermission},
			`kind="*fs.PathError > *errors.errorString" fault="permission denied"`},
		{"an error around it", fmt.Errorf("%s: %w", privateText, fs.ErrNotExist), `kind="*fmt.wrapError > *errors.errorString" fault="file does not exist"`},
	} {
		var out strings.Builder
		LogPanic(slog.New(slog.NewTextHandler(&out, nil)), "read", tt.fault, []byte("stack"))
		got := out.String()
		assert.Contains(t, got, tt.want+" in=read stack=stack\n", "%s", tt.name)
		assert.That(t, !strings.Contains(got, privateText), "%s: %s", tt.name, got)
	}
}

func TestNobodyObservingCostsNothing(t *testing.T) {
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		_, seen := Begin(ctx, nil, Single, "daily:read", "mcp", "")
		seen.Decided(Decision{Decision: "allow"})
		seen.Ended(CallOutcome{OK: true, Backend: "embedded", Bytes: 10})
		assert.That(t, CallOf(ctx) == nil, "an observer is set")
	})
	assert.That(t, allocs == 0, "%v allocations", allocs)
}
