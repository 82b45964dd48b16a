// Package release has the version of this program and how it was built. Both programs in the
// binary, the gateway and the embedded vault CLI, use it.
package release

import "time"

// Version is the version of the release, see CHANGELOG.md.
const Version = "0.1.0"

// Date is the day of the release, for the manual pages.
var Date = time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC)
