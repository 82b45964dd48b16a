//go:build !unix

package private

// Unwritable returns no error: it is not known before a file is made.
func Unwritable(string) error { return nil }
