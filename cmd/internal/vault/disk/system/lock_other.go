//go:build !unix

package system

import "os"

// Lock does nothing: there is no lock on folders here. The check that a note
// is unchanged right before it is replaced has to do.
func Lock(*os.Root) (unlock func()) { return func() {} }
