package task

import "time"

// Exists reports whether a date is one that exists, which "2026-02-30" does not.
func Exists(date string) bool {
	if isInEveryMonth(date) {
		return true
	}
	_, err := time.Parse(time.DateOnly, date)
	return err == nil
}

// isInEveryMonth reports whether a date is one of the first 28 days of a month, which is known
// without a calendar.
func isInEveryMonth(date string) bool {
	if len(date) != len(time.DateOnly) {
		return false
	}
	for i, c := range []byte(date) {
		if i == 4 || i == 7 {
			if c != '-' {
				return false
			}
		} else if c < '0' || c > '9' {
			return false
		}
	}
	month, day := date[5:7], date[8:]
	return "01" <= month && month <= "12" && "01" <= day && day <= "28"
}

// day returns the day that a date names; ok is false for one that does not exist.
func day(date string) (t time.Time, ok bool) {
	t, err := time.Parse(time.DateOnly, date)
	return t, err == nil
}
