//go:build !unix

package resident

import (
	"io"
)

// pollable has no counterpart here.
func pollable(in io.Reader) io.Reader { return in }
