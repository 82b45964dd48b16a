package exec

import (
	"context"
	"slices"
)

type compactKey struct{}

// CompactJSON has the embedded program leave out the space between the tokens of a listing in
// JSON, for a caller who would do so himself. It is not promised that it does.
func CompactJSON(ctx context.Context) context.Context {
	return context.WithValue(ctx, compactKey{}, true)
}

// compactJSON returns the command as the context has it.
func (c Command) compactJSON(ctx context.Context) Command {
	if compact, _ := ctx.Value(compactKey{}).(bool); compact {
		c.Args = slices.Insert(slices.Clone(c.Args), c.Prefix-1, "--compact") // before --facts
		c.Prefix++
	}
	return c
}
