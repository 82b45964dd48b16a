package main

import (
	"time"

	"vaultwicket/cmd/internal/vault"
)

// clockOf returns the clock by which a day has its name: the one of the embedded
// CLI, which an environment variable sets for tests and scripts. What is recorded,
// awaited or limited goes by the machine's clock.
func clockOf(std streams) (func() time.Time, error) {
	clock, err := vault.Clock(std.getenv(vault.NowVariable))
	if err != nil {
		return nil, &wrongUse{reason: err.Error(), hint: "unset it: it is for tests and scripts"}
	}
	return clock, nil
}
