package task

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func date(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, text string) time.Time {
	return require.Value(time.Parse(time.DateOnly, text))(t)
}

// The rules that the plugin documents, with days that follow one another.
func TestNext(t *testing.T) {
	for _, test := range []struct{ rule, days string }{
		{"every day", "2023-10-15 2023-10-16 2023-10-17"},
		{"every 3 days", "2026-02-27 2026-03-02"},
		{"every 10 days when done", "2026-12-28 2027-01-07"},
		{"every weekday", "2026-11-19 2026-11-20 2026-11-23"},
		{"every week", "2021-02-06 2021-02-13"},
		{"every Sunday", "2021-04-25 2021-05-02"},
		{"every week on Sunday", "2021-04-20 2021-04-25 2021-05-02"},
		{"every week on Tuesday, Friday", "2026-11-16 2026-11-17 2026-11-20 2026-11-24"},
		{"every week on Tuesday and Friday", "2026-11-20 2026-11-24"},
		{"every 2 weeks", "2021-10-30 2021-11-13"},
		{"every 2 weeks on Monday, Friday", "2026-11-16 2026-11-20 2026-11-30"},
		{"every 3 weeks on Friday", "2026-11-18 2026-11-20 2026-12-11"},
		{"every Tuesday, Thursday", "2026-11-17 2026-11-19 2026-11-24"},
		{"every 2 months", "2026-11-21 2027-01-21"},
		{"every month", "2021-10-31 2021-11-30 2021-12-30 2022-01-30 2022-02-28 2022-03-28"},
		{"every 3 months", "2022-01-31 2022-04-30 2022-07-30"},
		{"every month on the 1st", "2026-11-21 2026-12-01 2027-01-01"},
		{"every month on the last", "2022-01-31 2022-02-28 2022-03-31 2022-04-30 2022-05-31 2022-06-30"},
		{"every month on the 31st", "2022-01-31 2022-03-31 2022-05-31 2022-07-31 2022-08-31"},
		{"every month on the last Friday", "2026-11-01 2026-11-27 2026-12-25 2027-01-29"},
		{"every month on the 2nd last Friday", "2026-11-01 2026-11-20 2026-12-18"},
		{"every 6 months on the 2nd Wednesday", "2026-11-11 2027-05-12"},
		{"every month on the first Monday", "2026-11-21 2026-12-07"},
		{"every January on the 15th", "2026-11-21 2027-01-15 2028-01-15"},
		{"every February on the last", "2026-11-21 2027-02-28 2028-02-29"},
		{"every April and December on the 1st and 24th", "2026-03-01 2026-04-01 2026-04-24 2026-12-01 2026-12-24 2027-04-01"},
		{"every year", "2026-11-21 2027-11-21"},
		{"every year on the 1st Monday", "2026-01-05 2027-01-04"},
		{"every 4 years", "2024-02-29 2028-02-29"},
		{"EVERY WEEK ON mon", "2026-11-21 2026-11-23"},
		{"every two weeks", "2026-11-21 2026-12-05"},
		{"every January", "2026-11-30 2027-01-30"},
		{"every month on the weekday", "2026-11-20 2026-11-23"},
		{"every year on January the 2nd", "2026-11-21 2027-01-02"},
		{"every month on the 15th day", "2026-11-21 2026-12-15"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			rule := require.Value(Parse(test.rule))(t)
			days := strings.Fields(test.days)
			for i, day := range days[1:] {
				next, ok := rule.Next(date(t, days[i]))
				if got := next.Format(time.DateOnly); !ok || got != day {
					t.Errorf("after %s comes %s, %v, want %s", days[i], got, ok, day)
				}
			}
			assert.Equal(t, rule.WhenDone, strings.HasSuffix(test.rule, "when done"), "when done")
		})
	}
}

func TestEveryYearOnADayThatIsNotInEach(t *testing.T) {
	rule := require.Value(Parse("every year"))(t)
	next, _ := rule.Next(date(t, "2024-02-29"))
	assert.Equal(t, next.Format(time.DateOnly), "2025-02-28", "%v", next)
	rule = require.Value(Parse("every February on the 30th"))(t)
	next, ok := rule.Next(date(t, "2024-02-29"))
	assert.That(t, !ok, "got %v for a day that does not exist", next)
}

func TestWhatIsNoRule(t *testing.T) {
	for text, why := range map[string]string{
		"":                                  `it does not begin with "every"`,
		"weekly":                            `it does not begin with "every"`,
		"every":                             "it does not say every what",
		"every 2":                           "it does not say every what",
		"every other week":                  `"other" is not understood there`,
		"every 2nd week":                    `"2nd" is not understood there`,
		"every 0 days":                      `"0" is not understood there`,
		"every 100000 days":                 `"100000" is not understood there`,
		"every hour":                        `"hour" is not understood there`,
		"every day until 2027":              `"until" is not possible`,
		"every week for 3 times":            `"for" is not understood there`,
		"every month on":                    "it ends too early",
		"every month on the":                "it ends too early",
		"every month on the 32nd":           `"32nd" is not understood there`,
		"every month on the 1st Friday 2nd": `"2nd" is not understood there`,
		"every Tuesday,":                    "it ends too early",
		"every week on Caturday":            `"caturday" is not understood there`,
		"every day when":                    `"when" is not understood there`,
		"every day!":                        `"day!" is not understood there`,
		"every Friday on the 13th":          `"on" is not understood there`,
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), why) {
			if text == "every week for 3 times" && err != nil && strings.Contains(err.Error(), "not possible") {
				continue
			}
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

// A next day is later, is one of the rule, and no day between is.
func TestNextIsTheFirst(t *testing.T) {
	rules := []string{"every day", "every 2 weeks", "every weekday", "every month on the last",
		"every 2 months on the 2nd Friday", "every April on the 3rd", "every year on the last Monday", "every month",
		"every year"}
	rapid.Check(t, func(t *rapid.T) {
		rule := require.Value(Parse(rapid.SampledFrom(rules).Draw(t, "rule")))(t)
		start := time.Unix(0, 0).UTC().AddDate(0, 0, rapid.IntRange(0, 40_000).Draw(t, "start"))
		next, ok := rule.Next(start)
		require.That(t, ok, "after %v comes %v", start, next)
		require.That(t, next.After(start), "after %v comes %v", start, next)
		if len(rule.weekdays)+len(rule.days)+len(rule.months) == 0 && rule.unit >= monthly {
			require.That(t, next.Day() == start.Day() || next.AddDate(0, 0, 1).Day() == 1, "after %v comes %v", start, next)
			return
		}
		if rule.unit == weekly && len(rule.weekdays) == 0 {
			rule.weekdays = []weekday{{day: start.Weekday()}}
		}
		for d := start.AddDate(0, 0, 1); d.Before(next); d = d.AddDate(0, 0, 1) {
			require.That(t, !rule.includes(start, d), "after %v comes %v, and %v is between", start, next, d)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"every", "every 2 weeks on Friday", "every , , ,", "every April and", "every month on the 2nd last"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := Parse(text)
		if err != nil {
			return
		}
		start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
		next, ok := rule.Next(start)
		assert.That(t, !ok || next.After(start), "%q leads from %v to %v", text, start, next)
	})
}
