package exec

import (
	"context"
	"slices"
)

type unlessKey struct{}

// UnlessState has the embedded program leave its answer out if it would make it from a
// state that an earlier [Outcome] has named. "" leaves nothing out.
func UnlessState(ctx context.Context, state string) context.Context {
	return context.WithValue(ctx, unlessKey{}, state)
}

// unlessState returns the command with the state of the context.
func (c Command) unlessState(ctx context.Context) Command {
	if state, _ := ctx.Value(unlessKey{}).(string); state != "" {
		c.Args = slices.Insert(slices.Clone(c.Args), c.Prefix-1, "--unless", state) // before --facts
		c.Prefix += 2
	}
	return c
}
