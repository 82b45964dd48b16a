// Package windows has what is tested with the built program on Windows alone. The script tests/wine/run.sh tests what Wine has of
// it, and this package with it.
package windows
