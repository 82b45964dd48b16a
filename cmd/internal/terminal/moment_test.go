package terminal

import (
	"testing"
	"time"
)

func TestMoments(t *testing.T) {
	here := time.FixedZone("", 3600)
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, here)
	for _, test := range []struct {
		text  string
		end   bool
		want  time.Time
		wrong bool
	}{
		{text: ""},
		{text: "24h", want: now.Add(-24 * time.Hour)},
		{text: "1h30m", end: true, want: now.Add(-90 * time.Minute)},
		{text: "0s", want: now},
		{text: "2026-11-20", want: time.Date(2026, 11, 20, 0, 0, 0, 0, here)},
		{text: "2026-11-20", end: true, want: time.Date(2026, 11, 21, 0, 0, 0, 0, here)},
		{text: "2026-11-20T08:00:00Z", want: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)},
		{text: "2026-11-20T08:00:00.5+02:00", end: true, want: time.Date(2026, 11, 20, 6, 0, 0, 5e8, time.UTC)},
		{text: "24", wrong: true},
		{text: "someday", wrong: true},
		{text: "30m", want: now.Add(-30 * time.Minute)}, // minutes, and no months
		{text: "-24h", want: now.Add(-24 * time.Hour)},
		{text: "yesterday", want: time.Date(2026, 11, 20, 0, 0, 0, 0, here)},
		{text: "yesterday", end: true, want: time.Date(2026, 11, 21, 0, 0, 0, 0, here)},
		{text: "-3d", want: time.Date(2026, 11, 18, 0, 0, 0, 0, here)},
		{text: "monday", want: time.Date(2026, 11, 16, 0, 0, 0, 0, here)},
		{text: "2026-W47", want: time.Date(2026, 11, 16, 0, 0, 0, 0, here)},
		{text: "2026-W47", end: true, want: time.Date(2026, 11, 23, 0, 0, 0, 0, here)},
		{text: "2026-13-01", wrong: true},
		{text: "2026-11-20 08:00", wrong: true},
	} {
		got, err := ParseMoment("since", test.text, now, test.end)
		if (err != nil) != test.wrong || !got.Equal(test.want) {
			t.Errorf("%q (end %v) is %v, %v, want %v", test.text, test.end, got, err, test.want)
		}
	}
}
