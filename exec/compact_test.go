package exec

import (
	"slices"
	"testing"
)

func TestCompactJSONStandsBeforeTheFacts(t *testing.T) {
	_, p, _ := embeddedRunner(t, Config{}, script{})
	command, err := p.Command(mustPermit("tags", params{"format": "json"}).Call())
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(command.Args)
	got := command.compactJSON(CompactJSON(t.Context()))
	if want := slices.Insert(slices.Clone(before), 2, "--compact"); !slices.Equal(got.Args, want) || got.Prefix != command.Prefix+1 || !slices.Equal(command.Args, before) {
		t.Errorf("%q with a prefix of %d, of %q", got.Args, got.Prefix, before)
	}
	state := command.compactJSON(CompactJSON(t.Context())).unlessState(UnlessState(t.Context(), "0123456789abcdef"))
	if want := slices.Insert(slices.Clone(before), 2, "--compact", "--unless", "0123456789abcdef"); !slices.Equal(state.Args, want) {
		t.Errorf("with a state: %q, want %q", state.Args, want)
	}
	if same := command.compactJSON(t.Context()); !slices.Equal(same.Args, before) || same.Prefix != command.Prefix {
		t.Errorf("nobody asked: %q", same.Args)
	}
}
