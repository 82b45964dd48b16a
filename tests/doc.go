// Package tests has the tests of the source as a whole: allowed imports, words, and
// comments. The folders below test the program from outside, by subject; what they
// share is in harness.
package tests
