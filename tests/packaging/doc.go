// Package packaging tests what the user gets: archives, packages and services of several kinds, and the documents: that
// the commands in them run, that links lead somewhere, and that the pictures are what the program prints.
//
//go:generate go test -run TestPicturesAreFresh -update .
package packaging
