// Package wine has what is tested with the built program on Windows alone. The script run.sh tests there what Wine has of
// it, and this package with it.
package wine
