// Package builds has tests of how the program is built.
package builds
