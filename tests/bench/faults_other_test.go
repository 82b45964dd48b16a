//go:build !unix

package bench

import "os"

// pageFaults returns 0: the system does not tell them.
func pageFaults(*os.ProcessState) int { return 0 }
