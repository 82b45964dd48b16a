package task

import "time"

// Date is a day as a field has it, which may not exist. Dates compare as their days do. The
// zero Date is that of a task without the field, and comes before all others.
type Date uint32

// isGiven is set in every date but the zero one. No day has so large a number.
const isGiven Date = 1 << 27

// DateOf returns the date of a text of the form 2006-01-02. It is zero for every other text.
func DateOf(text string) Date {
	if len(text) != len(time.DateOnly) {
		return 0
	}
	var number Date
	for i, c := range []byte(text) {
		switch {
		case i == 4 || i == 7:
			if c != '-' {
				return 0
			}
		case c < '0' || c > '9':
			return 0
		default:
			number = number*10 + Date(c-'0')
		}
	}
	return isGiven | number
}

// Exists reports whether there is such a day: 2026-02-30 is none, and neither is the zero Date.
func (d Date) Exists() bool {
	number := int(d &^ isGiven)
	year, month, day := number/10000, number/100%100, number%100
	if d == 0 || month < 1 || month > 12 || day < 1 {
		return false
	}
	return day <= 28 || day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// day returns the day that a date names; ok is false for one that does not exist.
func day(date string) (t time.Time, ok bool) {
	t, err := time.Parse(time.DateOnly, date)
	return t, err == nil
}
