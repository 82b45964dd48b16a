package day

import (
	"fmt"
	"time"
)

// NowVariable names the environment variable that sets the clock, for tests and scripts: a
// moment in RFC 3339, whose offset is the time zone.
const NowVariable = "VAULTWICKET_NOW"

// Clock returns the clock that tells which day is today, for a value of [NowVariable]: the
// clock of the machine if the value is empty, else one that is stopped at that moment. Both
// programs of the binary ask it, so that they agree on the day. The error names the variable
// and quotes the value.
func Clock(now string) (func() time.Time, error) {
	if now == "" {
		return time.Now, nil
	}
	fixed, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return nil, fmt.Errorf("%s is not a time of the form 2006-01-02T15:04:05Z: %q", NowVariable, now)
	}
	return func() time.Time { return fixed }, nil
}
