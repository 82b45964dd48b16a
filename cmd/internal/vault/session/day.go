package session

import (
	"fmt"
	"strconv"
	"time"
)

// DayStartVariable is the hour at which a day begins: before it, what is called today is
// still the day before. It is from 0, which is the default, to [LatestDayStart].
const DayStartVariable = "VAULTWICKET_DAY_START"

// LatestDayStart is the latest hour at which a day can begin.
const LatestDayStart = 12

// dayStart reads the hour at which a day begins.
func dayStart(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	hour, err := strconv.Atoi(text)
	if err != nil || hour < 0 || hour > LatestDayStart {
		return 0, fmt.Errorf("%s is not an hour from 0 to %d: %q", DayStartVariable, LatestDayStart, text)
	}
	return time.Duration(hour) * time.Hour, nil
}

// Today returns the moment at hand, on the day that counts as today: before the hour at
// which a day begins, the day is that before, at the same time of day.
func (v *Vault) Today() time.Time {
	now := v.Clock()
	return OnDay(now, now.Add(-v.DayStart))
}

// OnDay returns the time of day of a moment on another day.
func OnDay(now, day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond(), now.Location())
}
