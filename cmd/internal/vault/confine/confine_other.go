//go:build !linux

package confine

// To does nothing: there is no Landlock on this system.
func To([]string) State { return Unconfined("Landlock is for Linux") }
