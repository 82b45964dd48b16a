// Package testenv is the environment that tests of all packages share: how much of their work they do, which cases
// property tests draw, where temporary folders are, programs that a test starts, file systems that differ from the
// one of this machine, and golden files. It imports nothing of the module but assert and require, so that the tests
// of every other package can import it.
//
// A package of tests that imports it draws the same cases of its properties at each run (seed.go).
package testenv
