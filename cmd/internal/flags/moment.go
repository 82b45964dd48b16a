package flags

import (
	"fmt"
	"strings"
	"time"

	"vaultwicket/allowlist/day"
	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
)

// MomentHelp says in the help of a flag what [Moment] reads.
const MomentHelp = "a date (2026-11-21, yesterday, -3d, monday), a time (RFC 3339) or an age (24h)"

// Moment reads the value of a flag: a date, a time or how long ago that was; "" is
// the zero time. A date stands for its first moment in the time zone of now, or for
// its end. The error is an [*exit.UsageError].
func Moment(flag, text string, now time.Time, end bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if ago, err := time.ParseDuration(strings.TrimPrefix(text, "-")); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	span, err := day.Read(text, now, day.Past)
	switch {
	case err != nil:
		return time.Time{}, &exit.UsageError{Reason: fmt.Sprintf("flag --%s: invalid date, time or duration %q", flag, quote.Short(text)),
			Advice: "use 2026-11-21, yesterday, -3d, monday, 2026-W47, 2026-11-21T09:30:00Z or 24h"}
	case end:
		return span.End(), nil
	}
	return span.First, nil
}
