// Package access tests what callers may read and change: hidden notes, spellings of
// paths, changes that are off.
package access
