package oauth

import (
	"context"
	"fmt"
	"time"
)

// LongestIntrospected is how long an answer of the issuer counts.
const LongestIntrospected = introspectFor

// OccupyForUnverified takes all places of those who wait with tokens that were never valid, each for another network.
func (v *Verifier) OccupyForUnverified(ctx context.Context) error {
	for n := range maxAsking {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if _, err := v.newQueue.Acquire(limited, fmt.Sprintf("address 203.0.113.%d", n)); err != nil {
			return err
		}
	}
	return nil
}
