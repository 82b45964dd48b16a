package wiring

import (
	"time"

	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/cmd/internal/vault"
)

// Clock returns the clock by which a day has its name: the one of the embedded
// CLI, which an environment variable sets for tests and scripts. What is recorded,
// awaited or limited goes by the machine's clock.
func Clock(std terminal.Streams) (func() time.Time, error) {
	clock, err := vault.Clock(std.Getenv(vault.NowVariable))
	if err != nil {
		return nil, &exit.UsageError{Reason: err.Error(), Advice: "unset it: it is for tests and scripts"}
	}
	return clock, nil
}

// DayClock returns a clock whose day is the one that counts as today where a day begins at
// an hour: it is that much late.
func DayClock(clock func() time.Time, dayStart int) func() time.Time {
	return func() time.Time { return clock().Add(-time.Duration(dayStart) * time.Hour) }
}
