//go:build !linux

package main

// releaseProgram has no counterpart here.
func releaseProgram() {}
