//go:build !unix

package vault

import (
	"io"
)

// pollable returns in; only Unix needs more.
func pollable(in io.Reader) io.Reader { return in }
