//go:build !unix

package vault

import (
	"io"
)

// pollable has no counterpart here.
func pollable(in io.Reader) io.Reader { return in }
