package exec

import (
	"context"
	"slices"
)

type (
	unlessKey  struct{}
	compactKey struct{}
)

// UnlessState has the embedded program leave its answer out if it would make it from a
// state that an earlier [Outcome] has named. "" leaves nothing out.
func UnlessState(ctx context.Context, state string) context.Context {
	return context.WithValue(ctx, unlessKey{}, state)
}

// CompactJSON has the embedded program leave out the space between the tokens of a listing in
// JSON, for a caller who would do so himself. It is not promised that it does.
func CompactJSON(ctx context.Context) context.Context {
	return context.WithValue(ctx, compactKey{}, true)
}

// withSwitches returns a command of the embedded program with what the context asks for.
func (c Command) withSwitches(ctx context.Context) Command {
	var switches []string
	if compact, _ := ctx.Value(compactKey{}).(bool); compact {
		switches = append(switches, "--compact")
	}
	if state, _ := ctx.Value(unlessKey{}).(string); state != "" {
		switches = append(switches, "--unless", state)
	}
	if len(switches) == 0 {
		return c
	}
	c.Args = slices.Insert(slices.Clone(c.Args), c.Prefix-1, switches...) // before --facts
	c.Prefix += len(switches)
	return c
}
