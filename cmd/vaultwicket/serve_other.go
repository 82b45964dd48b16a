//go:build !linux

package main

import (
	"io"
)

// releaseProgram has no counterpart here.
func releaseProgram() {}

// ownInput is a matter of Linux, see there.
func ownInput(in io.Reader) io.Reader { return in }
