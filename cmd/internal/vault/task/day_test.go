package task

import (
	"fmt"
	"testing"
	"time"
)

func TestADayExistsAsForTheLibrary(t *testing.T) {
	check := func(date string) {
		if _, err := time.Parse(time.DateOnly, date); Exists(date) != (err == nil) {
			t.Errorf("%q exists: %v, %v", date, Exists(date), err)
		}
	}
	for _, year := range []int{0, 1, 1900, 2000, 2023, 2024, 9999} {
		for month := range 100 {
			for day := range 100 {
				check(fmt.Sprintf("%04d-%02d-%02d", year, month, day))
			}
		}
	}
	for _, date := range []string{"", "2024-01-1", "2024-1-01", "2024-01-011", "2024/01/01", "2024-01-0x", "x024-01-01", "2024-01 01", "+024-01-01", "2024-01-01\n"} {
		check(date)
	}
}
