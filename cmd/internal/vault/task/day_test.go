package task

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestADayExistsAsForTheLibrary(t *testing.T) {
	check := func(date string) {
		if _, err := time.Parse(time.DateOnly, date); DateOf(date).Exists() != (err == nil) {
			t.Errorf("%q exists: %v, %v", date, DateOf(date).Exists(), err)
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
		if DateOf(date) != 0 {
			t.Errorf("%q is the date %d", date, DateOf(date))
		}
	}
}

func TestDatesCompareAsTheirDaysDo(t *testing.T) {
	var dates []Date
	for _, date := range []string{"", "0000-00-00", "0000-01-01", "1999-12-31", "2024-02-28", "2024-02-31", "2024-03-01", "2024-10-01", "9999-99-99"} {
		dates = append(dates, DateOf(date))
	}
	if !slices.IsSorted(dates) || len(slices.Compact(dates)) != 9 {
		t.Errorf("%d", dates)
	}
}
