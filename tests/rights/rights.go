// Package rights gives accounts rights to the files of tests on Windows. Wine keeps rights
// as modes of Unix: there only what the user and everybody (WD) may do is told apart.
package rights
