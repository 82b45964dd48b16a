package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func (m Machine) system(_ context.Context, r *Report) {
	now := m.Now()
	if now.Year() < 2026 || !m.Built.IsZero() && now.Before(m.Built.Add(-24*time.Hour)) {
		r.warn("clock", fmt.Sprintf("the clock says %s, which is before this program was made", now.Format(time.DateOnly)), "daily notes of the wrong day are read and made", "set the clock")
	}
	if zone := strings.TrimPrefix(m.Getenv("TZ"), ":"); zone != "" && !isZone(zone) {
		r.warn("zone", fmt.Sprintf("the variable TZ names no time zone: %q", zone), "the day of daily notes is that of UTC", "set TZ to a name such as Europe/Berlin, or remove it")
	} else {
		r.ok("clock", fmt.Sprintf("today is %s, %s", now.Format(time.DateOnly), now.Format("-07:00")))
	}
	if m.Elevated() {
		what := "this terminal has the rights of an administrator"
		if m.OS != "windows" {
			what = "running as root"
		}
		r.warn("elevated", what, "files that are made now cannot be changed by your own user later, and an agent would have the same rights", "run vaultwicket as your own user")
	}
}

// isZone reports whether TZ names a zone, or a file with one. One in the form of POSIX,
// such as CET-1, is not known to this program's library.
func isZone(zone string) bool {
	if strings.HasPrefix(zone, "/") {
		return exists(zone)
	}
	_, err := time.LoadLocation(zone)
	return err == nil
}
