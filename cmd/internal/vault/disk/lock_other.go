//go:build !unix

package disk

import "os"

// lock does nothing: there is no lock on folders here. The check that a note
// is unchanged right before it is replaced has to do.
func lock(*os.Root) (unlock func()) { return func() {} }
