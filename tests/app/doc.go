// Package app tests the program on an app that answers as tests/fakeobsidian does.
package app
