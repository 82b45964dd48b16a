//go:build !linux

package serving

import (
	"io"
)

// releaseProgram does nothing on this system.
func releaseProgram() {}

// ownInput returns in unchanged on this system.
func ownInput(in io.Reader) io.Reader { return in }
