package stdio

import (
	"context"
	"time"
)

// acceptedContext is the context of a call of a tool.
type acceptedContext struct {
	context.Context
	at time.Time
}

type acceptedKey struct{}

func (c acceptedContext) Value(key any) any {
	if key == (acceptedKey{}) {
		return c.at
	}
	return c.Context.Value(key)
}

// AcceptedAt returns when the call was read from the input whose handler has ctx: it can
// have waited for minutes. It is the zero time if the call did not come from there.
func AcceptedAt(ctx context.Context) time.Time {
	at, _ := ctx.Value(acceptedKey{}).(time.Time)
	return at
}
