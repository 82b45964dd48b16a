package date

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests, on every machine

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// saturday is a moment in the middle of a week, in a zone that is not UTC.
var saturday = time.Date(2026, time.November, 21, 23, 30, 0, 0, time.FixedZone("", 13*3600))

func TestWordsOfTheDay(t *testing.T) {
	for _, tt := range []struct{ text, first, last string }{
		{"2026-11-21", "2026-11-21", ""},
		{"2024-02-29", "2024-02-29", ""},
		{"2026-02", "2026-02-01", "2026-02-28"},
		{"2026-12", "2026-12-01", "2026-12-31"},
		{"2026-W47", "2026-11-16", "2026-11-22"},
		{"2026w47", "2026-11-16", "2026-11-22"},
		{"2026-W53", "2026-12-28", "2027-01-03"}, // a year of 53 weeks
		{"2027-W01", "2027-01-04", "2027-01-10"},
		{"2025-W01", "2024-12-30", "2025-01-05"}, // begins in the year before
		{"2026-W47-3", "2026-11-18", ""},
		{"today", "2026-11-21", ""},
		{"Today", "2026-11-21", ""},
		{" yesterday ", "2026-11-20", ""},
		{"tomorrow", "2026-11-22", ""},
		{"-3d", "2026-11-18", ""},
		{"+3d", "2026-11-24", ""},
		{"3d", "2026-11-18", ""},
		{"-2w", "2026-11-07", ""},
		{"-9mo", "2026-02-21", ""},
		{"-1y", "2025-11-21", ""},
		{"3 days ago", "2026-11-18", ""},
		{"1 week ago", "2026-11-14", ""},
		{"last 7 days", "2026-11-14", ""},
		{"past 2 weeks", "2026-11-07", ""},
		{"in 2 weeks", "2026-12-05", ""},
		{"monday", "2026-11-16", ""},
		{"Mon", "2026-11-16", ""},
		{"saturday", "2026-11-21", ""},
		{"sunday", "2026-11-15", ""},
		{"last saturday", "2026-11-14", ""},
		{"last-monday", "2026-11-16", ""},
		{"next_saturday", "2026-11-28", ""},
		{"next monday", "2026-11-23", ""},
		{"this week", "2026-11-16", "2026-11-22"},
		{"last week", "2026-11-09", "2026-11-15"},
		{"next month", "2026-12-01", "2026-12-31"},
		{"last month", "2026-10-01", "2026-10-31"},
		{"this year", "2026-01-01", "2026-12-31"},
	} {
		if tt.last == "" {
			tt.last = tt.first
		}
		got, err := Read(tt.text, saturday, Past)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		first, last := got.First.Format(time.DateOnly), got.Last.Format(time.DateOnly)
		assert.Equal(t, first, tt.first, "%q: from %s to %s, want from %s to %s", tt.text, first, last, tt.first, tt.last)
		assert.Equal(t, last, tt.last, "%q: from %s to %s, want from %s to %s", tt.text, first, last, tt.first, tt.last)
		assert.Equal(t, got.First.Location(), saturday.Location(), "%q begins at %s", tt.text, got.First)
		assert.Equal(t, got.First.Hour(), 0, "%q begins at %s", tt.text, got.First)
		assert.That(t, dateOf(got.End()) == dateOf(got.Last).add(1), "%q ends at %s", tt.text, got.End())
	}
}

func TestPlansLookAhead(t *testing.T) {
	for text, want := range map[string]string{
		"monday": "2026-11-23", "saturday": "2026-11-21", "friday": "2026-11-27",
		"last monday": "2026-11-16", "next saturday": "2026-11-28",
		"3d": "2026-11-24", "-3d": "2026-11-18", "2 weeks": "2026-12-05", "2 weeks ago": "2026-11-07",
	} {
		got, err := Read(text, saturday, Ahead)
		require.Equal(t, err, nil, "%q", text)
		assert.Equal(t, got.First.Format(time.DateOnly), want, "%q", text)
	}
}

func TestWhatIsNoDay(t *testing.T) {
	for _, tt := range []struct{ text, meant string }{
		{"", ""},
		{"someday", ""},
		{"2026-02-30", ""},
		{"0000-01", ""},
		{"2026-W54", ""},
		{"2025-W53", ""}, // that year has 52
		{"2026-W00", ""},
		{"-99999d", ""},
		{"9999999d", ""},
		{"-3", ""},
		{"30m", ""}, // minutes, in lengths of time
		{"in -3d", ""},
		{"+3 days ago", ""},
		{"in 3 days ago", ""},
		{"this monday morning", ""},
		{"last", "yesterday"},
		{"-1", "yesterday"},
		{"yesteday", "yesterday"},
		{"tomorow", "tomorrow"},
		{"wendesday", "wednesday"},
		{"2026-11-21T10:00:00Z", "2026-11-21"},
		{"2026-11-21 10:00", "2026-11-21"},
		{"2026/11/21", "2026-11-21"},
		{"20261121", "2026-11-21"},
		{"21.11.2026", "2026-11-21"},
		{"November 21, 2026", "2026-11-21"},
		{"2026-W7", "2026-W07"},
		{"2026-W0", ""}, // no year has that week
		{"P3W", "-3w"},
		{"P99999D", ""}, // more than a century
		{"P101Y", ""},
		{"P6000W", ""},
		{"day before yesterday", "-2d"},
		{"a week ago", "-1w"},
		{"a month ago", "-1mo"},
	} {
		_, err := Parse(tt.text)
		if err == nil {
			t.Errorf("%q is a day", tt.text)
			continue
		}
		_, meant, _ := strings.Cut(err.Error(), "; did you mean ")
		assert.That(t, tt.meant != "" || meant == "", "%q: %v", tt.text, err)
		assert.That(t, tt.meant == "" || meant == `"`+tt.meant+`"?`, "%q: %v", tt.text, err)
		if tt.meant != "" {
			_, err := Parse(tt.meant)
			assert.NoError(t, err, "what is suggested for %q", tt.text)
		}
	}
}

func TestMonthsHaveTheirLastDay(t *testing.T) {
	end := time.Date(2024, time.March, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{"-1mo": "2024-02-29", "-13mo": "2023-02-28", "+1mo": "2024-04-30", "last month": "2024-02-01", "-1y": "2023-03-31"} {
		got, err := Read(text, end, Past)
		require.Equal(t, err, nil, "%q", text)
		assert.Equal(t, got.First.Format(time.DateOnly), want, "%q", text)
	}
}

func TestDaysBeginWhereClocksAreChanged(t *testing.T) {
	for _, tt := range []struct{ zone, day, want string }{
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"},
		{"America/Havana", "2026-11-01", "2026-11-01T00:00:00-04:00"},
		{"Asia/Beirut", "2026-03-29", "2026-03-29T01:00:00+03:00"},
		{"Europe/Berlin", "2026-10-25", "2026-10-25T00:00:00+02:00"},
		{"Pacific/Kiritimati", "2026-11-21", "2026-11-21T00:00:00+14:00"},
	} {
		zone := require.Value(time.LoadLocation(tt.zone))(t)
		got, err := Read(tt.day, time.Date(2026, time.January, 1, 0, 0, 0, 0, zone), Past)
		if err != nil || got.First.Format(time.RFC3339) != tt.want {
			t.Errorf("%s in %s begins at %s, %v, want %s", tt.day, tt.zone, got.First.Format(time.RFC3339), err, tt.want)
		}
		length := got.End().Sub(got.First)
		assert.That(t, length >= 23*time.Hour, "%s in %s lasts %s", tt.day, tt.zone, length)
		assert.That(t, length <= 25*time.Hour, "%s in %s lasts %s", tt.day, tt.zone, length)
	}
}

func TestAgo(t *testing.T) {
	for text, want := range map[string]int{"today": 0, "yesterday": 1, "-2w": 14, "tomorrow": -1, "2025-11-21": 365, "this week": 5} {
		span, err := Read(text, saturday, Past)
		require.Equal(t, err, nil, "%q: %d days ago, want %d", text, span.Ago(saturday), want)
		assert.Equal(t, span.Ago(saturday), want, "%q: %d days ago", text, span.Ago(saturday))
	}
}

func TestZeroWordsAreToday(t *testing.T) {
	got := (Words{}).Resolve(saturday, Ahead)
	assert.Equal(t, got.First.Format(time.DateOnly), "2026-11-21", "the zero words: %s to %s", got.First, got.Last)
	assert.That(t, got.First.Equal(got.Last), "the zero words: %s to %s", got.First, got.Last)
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"today", "-3d", "2026-W47-3", "last monday", "in 3 weeks", "1999-12", "yesteday", "20261121"} {
		f.Add(text, int64(1_795_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%100_000_000_000, 0).UTC()
		words, err := Parse(text)
		if err != nil {
			return
		}
		for _, toward := range []Direction{Past, Ahead} {
			span := words.Resolve(now, toward)
			if span.Last.Before(span.First) || !span.Last.Before(span.End()) {
				t.Errorf("%q at %s: %s to %s, end %s", text, now, span.First, span.Last, span.End())
			}
		}
	})
}
