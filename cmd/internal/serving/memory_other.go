//go:build !linux

package serving

import (
	"io"
)

// releaseProgram has no counterpart here.
func releaseProgram() {}

// ownInput is a matter of Linux, see there.
func ownInput(in io.Reader) io.Reader { return in }
