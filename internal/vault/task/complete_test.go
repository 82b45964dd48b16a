package task

import (
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var today = time.Date(2022, 2, 13, 9, 5, 0, 0, time.FixedZone("", 2*60*60))

func settings(change func(*Settings)) Settings {
	s := Settings{Managed: true}
	if change != nil {
		change(&s)
	}
	return s
}

// What the documentation of the plugin shows, and what its settings change.
func TestFinishing(t *testing.T) {
	no := false
	for _, test := range []struct {
		name, text string
		s          Settings
		want, next string
	}{
		{"nothing of the plugin", "call", Settings{}, "call", ""},
		{"a date, where the plugin is enabled", "call", settings(nil), "call ✅ 2022-02-13", ""},
		{"no date, where the settings say so", "call", settings(func(s *Settings) { s.SetDone = &no }), "call", ""},
		{"a date in brackets", "call", settings(func(s *Settings) { s.Format = "dataview" }), "call  [completion:: 2022-02-13]", ""},
		{"not what the global filter leaves out", "call 🔁 every day 📅 2022-02-13",
			settings(func(s *Settings) { s.GlobalFilter = "#task" }), "call 🔁 every day 📅 2022-02-13", ""},
		{"a task that recurs, without the plugin", "trash 🔁 every Sunday 📅 2022-02-13", Settings{},
			"trash 🔁 every Sunday 📅 2022-02-13 ✅ 2022-02-13", "trash 🔁 every Sunday 📅 2022-02-20"},
		{"relative to its own date", "sweep 🔁 every week ⏳ 2021-02-06", settings(nil),
			"sweep 🔁 every week ⏳ 2021-02-06 ✅ 2022-02-13", "sweep 🔁 every week ⏳ 2021-02-13"},
		{"relative to today", "sweep 🔁 every week when done ⏳ 2021-02-06", settings(nil),
			"sweep 🔁 every week when done ⏳ 2021-02-06 ✅ 2022-02-13", "sweep 🔁 every week when done ⏳ 2022-02-20"},
		{"dates keep their distance", "mow 🔁 every 2 weeks 🛫 2021-10-01 ⏳ 2021-10-28 📅 2021-10-30", settings(nil),
			"mow 🔁 every 2 weeks 🛫 2021-10-01 ⏳ 2021-10-28 📅 2021-10-30 ✅ 2022-02-13", "mow 🔁 every 2 weeks 🛫 2021-10-15 ⏳ 2021-11-11 📅 2021-11-13"},
		{"the date when it was created", "trash 🔁 every day ➕ 2022-01-01 📅 2022-02-13", settings(func(s *Settings) { s.SetCreated = true }),
			"trash 🔁 every day ➕ 2022-01-01 📅 2022-02-13 ✅ 2022-02-13", "trash 🔁 every day ➕ 2022-02-13 📅 2022-02-14"},
		{"which is not that of the next one", "trash 🔁 every day ➕ 2022-01-01 📅 2022-02-13", settings(nil),
			"trash 🔁 every day ➕ 2022-01-01 📅 2022-02-13 ✅ 2022-02-13", "trash 🔁 every day 📅 2022-02-14"},
		{"ids stay with the first", "a 🆔 x ⛔ y 🔁 every day 📅 2022-02-13 ^b", settings(nil),
			"a 🆔 x ⛔ y 🔁 every day 📅 2022-02-13 ✅ 2022-02-13 ^b", "a 🔁 every day 📅 2022-02-14"},
		{"no date at all", "a 🔁 every day", settings(nil), "a 🔁 every day ✅ 2022-02-13", "a 🔁 every day"},
		{"in brackets", "a [repeat:: every day]  [due:: 2022-02-13] #x", settings(nil),
			"a [repeat:: every day]  [due:: 2022-02-13] #x  [completion:: 2022-02-13]",
			"a [repeat:: every day]  [due:: 2022-02-14] #x"},
		{"the plan goes, where the settings say so", "a 🔁 every day ⏳ 2022-02-12 📅 2022-02-13",
			settings(func(s *Settings) { s.DropSchedule = true }),
			"a 🔁 every day ⏳ 2022-02-12 📅 2022-02-13 ✅ 2022-02-13", "a 🔁 every day 📅 2022-02-14"},
		{"but not as the only date", "a 🔁 every day ⏳ 2022-02-12",
			settings(func(s *Settings) { s.DropSchedule = true }), "a 🔁 every day ⏳ 2022-02-12 ✅ 2022-02-13",
			"a 🔁 every day ⏳ 2022-02-13"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Mark(test.text, ' ', 'x', today, test.s)
			if err != nil || c.Text != test.want || c.Next != test.next || c.HasNext != (test.next != "") ||
				c.HasNext && c.NextMark != " " || c.Extra != (c.HasNext || c.Text != test.text) {
				t.Errorf("got %+v, %v\nwant %q, %q", c, err, test.want, test.next)
			}
		})
	}
}

func TestOtherMarks(t *testing.T) {
	s := settings(nil)
	for _, test := range []struct {
		name, text string
		from, to   rune
		want       string
	}{
		{"in progress", "a 🔁 every day 📅 2022-02-13", ' ', '/', "a 🔁 every day 📅 2022-02-13"},
		{"cancelled", "a 🔁 every day 📅 2022-02-13", ' ', '-', "a 🔁 every day 📅 2022-02-13 ❌ 2022-02-13"},
		{"finished again", "a 🔁 every day ✅ 2022-01-01", 'x', 'X', "a 🔁 every day ✅ 2022-01-01"},
		{"open again", "a ✅ 2022-01-01", 'x', ' ', "a"},
		{"finished after it was cancelled", "a ❌ 2022-01-01", '-', 'x', "a ✅ 2022-02-13"},
	} {
		c, err := Mark(test.text, test.from, test.to, today, s)
		require.Equal(t, err, nil, "%s", test.name)
		require.That(t, !c.HasNext, "%s: %+v, %v, want %q", test.name, c, err, test.want)
		assert.Equal(t, c.Text, test.want, "%s", test.name)
	}
}

func TestMarksOfTheSettings(t *testing.T) {
	s := settings(nil)
	s.Statuses.Core = []status{{" ", "/", typeTodo}, {"x", "-", typeDone}}
	s.Statuses.Custom = []status{{"/", "x", typeProgress}, {"-", "/", typeCancelled}, {"P", "C", typeNone}, {"!", "!", typeDone}, {"?", "", typeDone}}
	for _, test := range []struct {
		to   rune
		next string
	}{{'x', "/"}, {'!', " "}, {'?', " "}} {
		c, err := Mark("a 🔁 every day", ' ', test.to, today, s)
		require.Equal(t, err, nil, "%q", test.to)
		require.That(t, c.HasNext, "%q: %+v, %v", test.to, c, err)
		assert.Equal(t, c.NextMark, test.next, "%q", test.to)
	}
	s.Statuses.Custom[1].Next = " "
	c, _ := Mark("a 🔁 every day", ' ', 'x', today, s)
	assert.Equal(t, c.NextMark, " ", "where a cancelled one leads to what is to do")
	c, err := Mark("a 🔁 every day", ' ', 'P', today, s)
	require.Equal(t, err, nil, "an item that is no task")
	assert.That(t, !c.Extra, "an item that is no task: %+v, %v", c, err)
	for mark, open := range map[rune]bool{' ': true, '/': true, 'x': false, 'X': false, '-': false, 'P': false, '>': true} {
		assert.That(t, s.IsOpen(mark) == open, "%q is open: %v", mark, !open)
	}
}

func TestOnCompletion(t *testing.T) {
	for text, removed := range map[string]bool{"a 🏁 delete": true, "a 🏁 Delete": true, "a 🏁 keep": false, "a 🏁 delete 🔁 every day": true} {
		c, err := Mark(text, ' ', 'x', today, settings(nil))
		require.Equal(t, err, nil, "%q", text)
		require.Equal(t, c.Removed, removed, "%q", text)
		assert.That(t, c.Extra, "%q: %+v, %v", text, c, err)
	}
	c, _ := Mark("a 🏁 delete", ' ', 'x', today, Settings{})
	assert.That(t, !c.Removed, "a task goes in a vault without the plugin")
}

func TestRefusals(t *testing.T) {
	for text, why := range map[string]string{
		"a 🔁 every other week 📅 2022-02-13":           `the recurrence "every other week" is not understood`,
		"a 🔁 every day 📅 2022-02-30":                  "the date 2022-02-30 does not exist",
		"a 🔁 every February on the 30th 📅 2022-02-13": "has no next day",
	} {
		_, err := Mark(text, ' ', 'x', today, Settings{})
		require.That(t, err != nil, "%q: %v, want %q", text, err, why)
		assert.Contains(t, err.Error(), why, "%q", text)
	}
}

func TestNew(t *testing.T) {
	fields := map[Field]string{Due: "2026-01-02", Priority: "high", Recurs: "every week"}
	assert.Equal(t, New("call #x", fields, today, Settings{}), "call #x ⏫ 🔁 every week 📅 2026-01-02")
	s := settings(func(s *Settings) { s.GlobalFilter, s.SetCreated, s.Format = "#task", true, "dataview" })
	assert.Equal(t, New("call", fields, today, s), "#task call  [priority:: high]  [repeat:: every week]  [created:: 2022-02-13]  [due:: 2026-01-02]")
	assert.Equal(t, New("call #task", nil, today, s), "call #task  [created:: 2022-02-13]")
}
