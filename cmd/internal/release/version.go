// Package release names the release that this source belongs to. Both programs
// in the binary, the gateway and the embedded vault CLI, print it.
package release

// Version is the release, see CHANGELOG.md.
const Version = "0.1.0"
