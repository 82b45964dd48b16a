package exec

import (
	"context"
	"slices"
	"strconv"
)

type (
	unlessKey  struct{}
	compactKey struct{}
	partKey    struct{}
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

// Part is how much of a long answer is asked for.
type Part struct {
	Bytes int  // at least so much; the part ends with a row. 0 is all
	Lines bool // every line is a row
}

// FirstPart has a resident embedded program send the first part of a listing and keep the
// whole, of which the [Outcome] then tells. It is not promised that it does: what is no listing,
// or not much longer, comes as a whole.
func FirstPart(ctx context.Context, part Part) context.Context {
	return context.WithValue(ctx, partKey{}, part)
}

// String returns the part as a switch has it.
func (p Part) String() string {
	if p.Lines {
		return "lines:" + strconv.Itoa(p.Bytes)
	}
	return strconv.Itoa(p.Bytes)
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
	if part, _ := ctx.Value(partKey{}).(Part); part.Bytes > 0 {
		switches = append(switches, "--part", part.String())
	}
	if len(switches) == 0 {
		return c
	}
	c.Args = slices.Insert(slices.Clone(c.Args), c.Prefix-1, switches...) // before --facts
	c.Prefix += len(switches)
	return c
}
