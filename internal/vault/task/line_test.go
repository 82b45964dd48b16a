package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// fieldNames are the names of the fields in the tables below.
var fieldNames = [fieldCount]string{
	ID: "id", DependsOn: "depends", Priority: "priority", Recurs: "recurs", OnCompletion: "completion", Created: "created",
	Start: "start", Scheduled: "scheduled", Due: "due", Cancelled: "cancelled", Done: "done",
}

func fieldsOf(text string) string {
	var all []string
	l := Read(text)
	for field, name := range fieldNames {
		if value := l.Get(Field(field)); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return strings.Join(all, " ")
}

// Every sign and every field that the plugin documents.
func TestEveryFieldInBothFormats(t *testing.T) {
	for _, test := range []struct{ signs, brackets, want string }{
		{"➕ 2023-04-13", "[created:: 2023-04-13]", "created=2023-04-13"},
		{"⏳ 2023-04-14", "[scheduled:: 2023-04-14]", "scheduled=2023-04-14"},
		{"⌛ 2023-04-14", "(scheduled:: 2023-04-14)", "scheduled=2023-04-14"},
		{"🛫 2023-04-15", "[start:: 2023-04-15]", "start=2023-04-15"},
		{"📅 2023-04-16", "[due:: 2023-04-16]", "due=2023-04-16"},
		{"📆 2023-04-16", "(due:: 2023-04-16)", "due=2023-04-16"},
		{"🗓️ 2023-04-16", "[due::2023-04-16]", "due=2023-04-16"},
		{"🗓 2023-04-16", "[ due :: 2023-04-16 ]", "due=2023-04-16"},
		{"✅ 2023-04-17", "[completion:: 2023-04-17]", "done=2023-04-17"},
		{"❌ 2023-04-18", "[cancelled:: 2023-04-18]", "cancelled=2023-04-18"},
		{"🔺", "[priority:: highest]", "priority=highest"},
		{"⏫", "[priority:: high]", "priority=high"},
		{"⏫️", "(priority:: high)", "priority=high"},
		{"🔼", "[priority:: medium]", "priority=medium"},
		{"🔽", "[priority:: low]", "priority=low"},
		{"⏬", "[priority:: lowest]", "priority=lowest"},
		{"🔁 every day when done", "[repeat:: every day when done]", "recurs=every day when done"},
		{"🔁 every week on Tuesday, Friday", "[repeat:: every week on Tuesday, Friday]", "recurs=every week on Tuesday, Friday"},
		{"🏁 delete", "[onCompletion:: delete]", "completion=delete"},
		{"🆔 dcf64c", "[id:: dcf64c]", "id=dcf64c"},
		{"⛔ dcf64c,0h17ye", "[dependsOn:: dcf64c,0h17ye]", "depends=dcf64c,0h17ye"},
		{"⛔️ dcf64c, 0h17ye", "(dependsOn:: dcf64c, 0h17ye)", "depends=dcf64c, 0h17ye"},
		{"📅2023-04-16", "[due:: 2023-02-30]", "due="},
	} {
		for i, text := range []string{"#task Has it " + test.signs, "#task Has it  " + test.brackets,
			"x " + test.signs + " #tag ^block", "x " + test.brackets + ", #tag"} {
			got := fieldsOf(text)
			if test.want == "due=" && got != test.want { // one of the two is a day
				assert.HasPrefix(t, got, "due=2023-0", "%d %q", i, text)
				continue
			}
			assert.Equal(t, got, test.want, "%d %q", i, text)
		}
	}
}

func TestWhatCountsAsAField(t *testing.T) {
	for _, test := range []struct{ name, text, fields, description string }{
		{"nothing", "call", "", "call"},
		{"nothing at all", "", "", ""},
		{"all at once, in any order", "mow 🔁 every 2 weeks ⏳ 2021-10-28 ⏫ 📅 2021-10-30 🆔 a",
			"id=a priority=high recurs=every 2 weeks scheduled=2021-10-28 due=2021-10-30", "mow"},
		{"both formats", "a [priority:: low]  📅 2021-10-30, (id:: x)", "priority=low id=x", "a 📅 2021-10-30,"},
		{"both formats at the end", "a 📅 2021-10-30 [priority:: low], [id:: x]", "id=x priority=low due=2021-10-30", "a"},
		{"tags between the fields", "a 📅 2021-10-30 #x ⏫ #y/z", "priority=high due=2021-10-30", "a #x #y/z"},
		{"text behind a sign", "a 📅 2021-10-30 b", "", "a 📅 2021-10-30 b"},
		{"text behind a field in brackets", "a [due:: 2021-10-30] b", "due=2021-10-30", "a b"},
		{"no date behind the sign", "a 📅 today", "", "a 📅 today"},
		{"no number of digits", "a 📅 2021-1-1", "", "a 📅 2021-1-1"},
		{"a blank that is none", "a 📅\u00a02021-10-30", "", "a 📅\u00a02021-10-30"},
		{"a sign that is none of them", "a 🎉 2021-10-30", "", "a 🎉 2021-10-30"},
		{"the first of two", "a 📅 2021-10-30 📅 2021-11-30", "due=2021-10-30", "a"},
		{"a key of somebody else", "a [owner:: x] [due:: 2021-10-30]", "due=2021-10-30", "a [owner:: x]"},
		{"a key in another case", "a [Due:: 2021-10-30]", "", "a [Due:: 2021-10-30]"},
		{"other brackets", "a [x](y) [[due:: 2021-10-30]] (b", "", "a [x](y) [[due:: 2021-10-30]] (b"},
		{"a level that does not exist", "a [priority:: normal]", "", "a [priority:: normal]"},
		{"the id of the block", "a 📅 2021-10-30 ^id-1", "due=2021-10-30", "a"},
		{"a sign alone", "📅 2021-10-30", "due=2021-10-30", ""},
		{"blanks at the end", "a 📅 2021-10-30  \t", "due=2021-10-30", "a"},
		{"broken text", "a\xff 📅 2021-10-30 \xff", "", "a\xff 📅 2021-10-30 \xff"},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.EqualSlices(t, slices.Sorted(strings.FieldsSeq(fieldsOf(test.text))), slices.Sorted(strings.FieldsSeq(test.fields)), "%q", test.text)
			assert.Equal(t, string(Read(test.text).AppendDescription(nil)), test.description, "%q: description", test.text)
		})
	}
}

func TestSet(t *testing.T) {
	for _, test := range []struct {
		name, text string
		field      Field
		value      string
		format     Format
		want       string
	}{
		{"the first field", "call", Due, "2026-01-02", Signs, "call 📅 2026-01-02"},
		{"the first field in brackets", "call", Due, "2026-01-02", Brackets, "call  [due:: 2026-01-02]"},
		{"the format of the others", "call [id:: a]", Due, "2026-01-02", Signs, "call [id:: a]  [due:: 2026-01-02]"},
		{"another value, in its own form", "call 📆 2026-01-01 #x", Due, "2026-01-02", Brackets, "call 📆 2026-01-02 #x"},
		{"another value in brackets", "call (due::2026-01-01) Bob", Due, "2026-01-02", Signs, "call (due::2026-01-02) Bob"},
		{"further ones go", "call 📅 2026-01-01 ⏫ 📅 2026-03-01", Due, "2026-01-02", Signs, "call 📅 2026-01-02 ⏫"},
		{"in the order of the plugin", "call 🔁 every day 📅 2026-01-01 ✅ 2026-01-01", Scheduled, "2026-01-02", Signs,
			"call 🔁 every day ⏳ 2026-01-02 📅 2026-01-01 ✅ 2026-01-01"},
		{"in order, in brackets", "call  [due:: 2026-01-01]", Priority, "high", Signs, "call  [priority:: high]  [due:: 2026-01-01]"},
		{"before the id of the block", "call ^id", Done, "2026-01-02", Signs, "call ✅ 2026-01-02 ^id"},
		{"behind a tag", "call 📅 2026-01-01 #x", Done, "2026-01-02", Signs, "call 📅 2026-01-01 #x ✅ 2026-01-02"},
		{"a priority", "call ⏬ 📅 2026-01-01", Priority, "highest", Signs, "call 🔺 📅 2026-01-01"},
		{"in an empty task", "", Due, "2026-01-02", Signs, "📅 2026-01-02"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Set(test.text, test.field, test.value, test.format)
			assert.Equal(t, got, test.want, "%q became %q", test.text, got)
			assert.Equal(t, Read(got).Get(test.field), test.value, "%q became %q", test.text, got)
		})
	}
}

func TestRemove(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"call 📅 2026-01-01 ⏫", "call ⏫"},
		{"call [due:: 2026-01-01], [id:: a]", "call [id:: a]"},
		{"[due:: 2026-01-01] call", "call"},
		{"call (due:: 2026-01-01) Bob 📅 2026-01-01", "call Bob"},
		{"📅 2026-01-01", ""},
		{"call", "call"},
	} {
		assert.Equal(t, Remove(test.text, Due), test.want, "%q became", test.text)
	}
}

// A field that is set is the only thing that changes, and one that is removed is gone.
func TestSetChangesNothingElse(t *testing.T) {
	part := rapid.SampledFrom([]string{"call", "Bob", "#tag", "📅 2026-01-01", "⏳ 2026-02-02", "⏫", "🔁 every day",
		"[due:: 2026-03-03]", "(id:: a)", "[x](y)", "🆔 b", "^id", "🏁 keep"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), " ")
		field := rapid.SampledFrom([]Field{Start, Scheduled, Due, Done}).Draw(t, "field")
		format := rapid.SampledFrom([]Format{Signs, Brackets}).Draw(t, "format")
		edited := Set(text, field, "2027-07-07", format)
		before, after := Read(text), Read(edited)
		require.That(t, after.Get(field) == "2027-07-07", "%q became %q", text, edited)
		for other := range fieldCount {
			if other != field && before.Get(other) != after.Get(other) {
				t.Fatalf("%q became %q: field %d is %q, was %q", text, edited, other, after.Get(other), before.Get(other))
			}
		}
		require.Equal(t, Read(Remove(edited, field)).Get(field), "", "%q became", edited)
		if !reflect.DeepEqual(before.AppendDescription(nil), after.AppendDescription(nil)) {
			t.Fatalf("%q became %q: description %q, was %q", text, edited, after.AppendDescription(nil), before.AppendDescription(nil))
		}
	})
}

func TestPriorities(t *testing.T) {
	assert.Equal(t, strings.Join(Priorities(), " "), "highest high medium normal low lowest")
	assert.Equal(t, Rank(""), Rank(Normal), "ranks and levels differ")
	assert.Equal(t, Rank("highest"), 0, "ranks and levels differ")
	assert.Equal(t, Read("a").Get(Priority), "", "ranks and levels differ")
	assert.Equal(t, Read("a ⏬").Get(Priority), "lowest", "ranks and levels differ")
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "a 📅 2026-01-01", "[due:: 2026-01-01]", "(((", "🔁", "a [due::", "^", " ^a", "#", "⏫️", "📅\xff 2026-01-01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Read(text).AppendDescription(nil)
		if strings.ContainsAny(text, "\r\n") {
			return
		}
		assert.Equal(t, Read(Set(text, Due, "2026-01-01", Signs)).Get(Due), "2026-01-01", "%q became", text)
		assert.Equal(t, Read(Remove(text, Due)).Get(Due), "", "%q became", text)
	})
}

func TestADayExistsAsForTheLibrary(t *testing.T) {
	check := func(date string) {
		_, err := time.Parse(time.DateOnly, date)
		assert.That(t, DateOf(date).Exists() == (err == nil), "%q exists: %v, %v", date, DateOf(date).Exists(), err)
	}
	for _, year := range []int{0, 1, 1900, 2000, 2023, 2024, 9999} {
		for month := range 100 {
			for day := range 100 {
				check(fmt.Sprintf("%04d-%02d-%02d", year, month, day))
			}
		}
	}
	for _, date := range []string{"", "2024-01-1", "2024-1-01", "2024-01-011", "2024/01/01", "2024-01-0x", "x024-01-01",
		"2024-01 01", "+024-01-01", "2024-01-01\n"} {
		check(date)
		assert.Equal(t, DateOf(date), 0, "%q is the date", date)
	}
}

func TestDatesCompareAsTheirDaysDo(t *testing.T) {
	var dates []Date
	for _, date := range []string{"", "0000-00-00", "0000-01-01", "1999-12-31", "2024-02-28", "2024-02-31", "2024-03-01", "2024-10-01", "9999-99-99"} {
		dates = append(dates, DateOf(date))
	}
	assert.That(t, slices.IsSorted(dates), "%d", dates)
	assert.Equal(t, len(slices.Compact(dates)), 9)
}

// Priorities returns the names of the priorities, the highest first.
func Priorities() []string {
	var names []string
	for _, p := range priorities {
		names = append(names, p.name)
	}
	return names
}
