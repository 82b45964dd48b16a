package task

import "time"

// Exists reports whether a date is one that exists, which "2026-02-30" does not.
func Exists(date string) bool {
	_, err := time.Parse(time.DateOnly, date)
	return err == nil
}

// day returns the day that a date names; ok is false for one that does not exist.
func day(date string) (t time.Time, ok bool) {
	t, err := time.Parse(time.DateOnly, date)
	return t, err == nil
}
