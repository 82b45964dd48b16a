package exec

import (
	"slices"
	"testing"

	"vaultwicket/tests/require"
)

func TestSwitchesStandBeforeTheFacts(t *testing.T) {
	_, p, _ := embeddedRunner(t, Config{}, script{})
	command, err := p.Command(mustPermit("tags", params{"format": "json"}).Call())
	require.NoError(t, err)
	before := slices.Clone(command.Args)
	compact, unless := CompactJSON(t.Context()), UnlessState(t.Context(), "0123456789abcdef")
	for _, test := range []struct {
		got      Command
		switches []string
	}{
		{command.withSwitches(t.Context()), nil},
		{command.withSwitches(UnlessState(t.Context(), "")), nil},
		{command.withSwitches(compact), []string{"--compact"}},
		{command.withSwitches(unless), []string{"--unless", "0123456789abcdef"}},
		{command.withSwitches(UnlessState(compact, "0123456789abcdef")), []string{"--compact", "--unless", "0123456789abcdef"}},
	} {
		if want := slices.Insert(slices.Clone(before), 2, test.switches...); !slices.Equal(test.got.Args, want) || test.got.Prefix != command.Prefix+len(test.switches) {
			t.Errorf("%q with a prefix of %d, want %q", test.got.Args, test.got.Prefix, want)
		}
	}
	if !slices.Equal(command.Args, before) {
		t.Errorf("the command itself was changed: %q", command.Args)
	}
}
