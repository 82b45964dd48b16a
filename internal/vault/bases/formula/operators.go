package formula

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
)

// calculate applies an arithmetic operator to values that are not errors. For an invalid operation it returns
// an error with the message of the app.
func (w *World) calculate(op Operator, a, b Value) Value {
	switch {
	case a.kind == Number && b.kind == Number:
		switch op {
		case Add:
			return OfNumber(a.number + b.number)
		case Subtract:
			return OfNumber(a.number - b.number)
		case Multiply:
			return OfNumber(a.number * b.number)
		case Divide:
			return OfNumber(a.number / b.number)
		}
		return OfNumber(math.Mod(a.number, b.number))
	case op == Add && a.kind == List:
		more := []Value{b}
		if b.kind == List {
			more = b.Items()
		}
		return OfList(slices.Concat(a.Items(), more))
	case a.kind == Date || b.kind == Date:
		return w.calculateDate(op, a, b)
	case a.kind == Duration || b.kind == Duration:
		return w.calculateSpan(op, a, b)
	case op == Add && (a.kind.isText() || b.kind.isText()):
		x := a.Text()
		y := b.Text()
		if len(x)+len(y) > maxText {
			return tooLong
		}
		return OfText(x + y)
	case a.kind == Null || b.kind == Null:
		return Value{}
	case op == Subtract && a.kind == String && b.kind == String:
		x, isX := w.Date(a)
		y, isY := w.Date(b)
		if isX && isY {
			return OfSpan(Span{Millis: between(y.Time, x.Time)})
		}
	}
	return invalidOperator(a, b)
}

// invalidOperator returns the error for an operator that the kinds of a and b do not allow.
func invalidOperator(a, b Value) Value {
	return failure("Invalid operator between " + a.kind.String() + " and " + b.kind.String())
}

// calculateDate adds a duration to a date, subtracts it, or returns the duration between two dates.
func (w *World) calculateDate(op Operator, a, b Value) Value {
	if a.kind == Null || b.kind == Null {
		return Value{}
	}
	date := a
	duration := b
	if op == Add && b.kind == Date {
		date = b
		duration = a // the duration may come first
	}
	isSum := op == Add || op == Subtract
	if span, ok := w.Duration(duration); ok && isSum && date.kind == Date {
		if op == Subtract {
			span = span.times(-1)
		}
		m, _ := date.Moment()
		t, ok := span.after(m.Time)
		if y := t.Year(); !ok || y < minYear || y > maxYear {
			return failure("Invalid date")
		}
		return OfMoment(Moment{t, m.HasTime || span.Millis != 0})
	}
	x, isX := w.Date(a)
	if y, isY := w.Date(b); isX && isY && op == Subtract {
		return OfSpan(Span{Millis: between(y.Time, x.Time)})
	}
	return invalidOperator(a, b)
}

// minYear and maxYear are the bounds of the years that are printed with four digits.
const (
	minYear = 0
	maxYear = 9999
)

// calculateSpan adds and subtracts durations, and multiplies and divides a duration by a number.
func (w *World) calculateSpan(op Operator, a, b Value) Value {
	if a.kind == Null || b.kind == Null {
		return Value{}
	}
	x, isX := w.Duration(a)
	y, isY := w.Duration(b)
	switch {
	case op == Add && isX && isY:
		return finite(x.plus(y))
	case op == Subtract && isX && isY:
		return finite(x.plus(y.times(-1)))
	case op == Multiply && a.kind == Duration && b.kind == Number:
		return finite(x.times(b.number))
	case op == Divide && a.kind == Duration && b.kind == Number:
		return finite(x.times(1 / b.number))
	}
	return invalidOperator(a, b)
}

// finite returns a duration, or an error if it is not finite.
func finite(s Span) Value {
	if length := s.Months + s.Days + s.Millis; length-length != 0 {
		return failure("Invalid duration")
	}
	return OfSpan(s)
}

// Compare compares two values for operators such as <. c is negative, 0 or positive. ok is false if the values
// are not comparable; then all these operators are false. Texts are compared by UTF-16 code units.
func (w *World) Compare(a, b Value) (c int, ok bool) {
	switch {
	case a.kind == Null || b.kind == Null:
		return 0, false
	case a.kind == Date || b.kind == Date:
		x, isX := w.Date(a)
		y, isY := w.Date(b)
		return x.Time.Compare(y.Time), isX && isY
	case a.kind == Duration || b.kind == Duration:
		x, isX := w.Duration(a)
		y, isY := w.Duration(b)
		return cmp.Compare(x.Milliseconds(w.Now), y.Milliseconds(w.Now)), isX && isY
	case a.kind.isText() && b.kind.isText():
		// The order of code units differs from that of bytes for characters outside the basic plane.
		x := a.Text()
		y := b.Text()
		i := 0
		for i < len(x) && i < len(y) && x[i] == y[i] {
			i++
		}
		for splitsRune(x, i) || splitsRune(y, i) {
			i--
		}
		return cmp.Compare(firstUnit(x[i:]), firstUnit(y[i:])), true
	}
	x, isX := a.asNumber()
	y, isY := b.asNumber()
	hasNaN := math.IsNaN(x) || math.IsNaN(y)
	return cmp.Compare(x, y), isX && isY && !hasNaN
}

// splitsRune reports whether an offset is inside a character.
func splitsRune(text string, at int) bool {
	return 0 < at && at < len(text) && !utf8.RuneStart(text[at])
}

// firstUnit returns the code units of the first character of a text as a number, or -1 for an empty text.
func firstUnit(s string) int {
	if s == "" {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s)
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return int(high)<<16 | int(low)
	}
	return int(r) << 16
}

// Order compares two values for sorting: numbers, dates, durations and booleans by value, others by text in the
// order of listings. Null and errors are last.
func (w *World) Order(a, b Value) int {
	if isLast(a) || isLast(b) {
		return lastOrder(a, b)
	}
	return w.compare(a, b)
}

// OrderDescending is Order with the greatest value first. Null and errors are still last.
func (w *World) OrderDescending(a, b Value) int {
	if isLast(a) || isLast(b) {
		return lastOrder(a, b)
	}
	return w.compare(b, a)
}

// isLast reports whether a value is sorted after all others.
func isLast(v Value) bool { return v.kind == Null || v.kind == Error }

// lastOrder compares two values of which at least one is last.
func lastOrder(a, b Value) int {
	switch {
	case isLast(a) && isLast(b):
		return 0
	case isLast(a):
		return 1
	}
	return -1
}

// compare compares two values that are not last.
func (w *World) compare(a, b Value) int {
	switch {
	case a.kind == Number && b.kind == Number, a.kind == Boolean && b.kind == Boolean:
		return cmp.Compare(a.number, b.number)
	case a.kind == Date && b.kind == Date:
		x, _ := a.Moment()
		y, _ := b.Moment()
		return x.Time.Compare(y.Time)
	case a.kind == Duration && b.kind == Duration:
		x, _ := a.Span()
		y, _ := b.Span()
		return cmp.Compare(x.Milliseconds(w.Now), y.Milliseconds(w.Now))
	}
	x := a.Text()
	y := b.Text()
	if strings.EqualFold(x, y) {
		return 0
	}
	return filenames.Compare(x, y)
}

// Equal reports whether a == b. Values that are not comparable are not equal.
func (w *World) Equal(a, b Value) bool {
	if a.kind > b.kind { // the rules are symmetric
		a, b = b, a
	}
	switch {
	case a.kind == Null || b.kind == Null:
		return a.kind == b.kind
	case a.kind == List || b.kind == List:
		// A list of one element equals that element.
		if a.kind != b.kind {
			if b.kind == List {
				a, b = b, a
			}
			return len(a.Items()) == 1 && w.Equal(a.Items()[0], b)
		}
		return slices.EqualFunc(a.Items(), b.Items(), w.Equal)
	case a.kind == Date || b.kind == Date: // compared by day if one of them has no clock part
		x, isX := w.Date(a)
		y, isY := w.Date(b)
		switch {
		case !isX || !isY:
			return false
		case x.HasTime && y.HasTime:
			return x.Time.UnixMilli() == y.Time.UnixMilli()
		}
		return x.Day().Time.Equal(y.Day().Time)
	case a.kind == Duration || b.kind == Duration:
		x, isX := w.Duration(a)
		y, isY := w.Duration(b)
		return isX && isY && x.Milliseconds(w.Now) == y.Milliseconds(w.Now)
	case a.kind == Object && b.kind == Object:
		x := a.Fields()
		y := b.Fields()
		if len(x.Keys) != len(y.Keys) {
			return false
		}
		for i, key := range x.Keys {
			if other, found := y.find(key); !found || !w.Equal(x.Values[i], other) {
				return false
			}
		}
		return true
	case a.kind == Link, b.kind == Link, a.kind == File, b.kind == File:
		return w.equalFiles(a, b)
	case a.kind == Tag || b.kind == Tag:
		return a.kind.isText() && b.kind.isText() &&
			strings.EqualFold(strings.TrimPrefix(a.text, "#"), strings.TrimPrefix(b.text, "#"))
	case a.kind == RegExp || b.kind == RegExp:
		return a.kind == b.kind && a.Text() == b.Text()
	case a.kind.isText() && b.kind.isText():
		return a.text == b.text
	}
	x, isX := a.asNumber()
	y, isY := b.asNumber()
	return isX && isY && x == y
}

// equalFiles reports whether two values refer to the same file. Links to missing files are compared as text. A
// text equals a link that is written like it, and the file with that path.
func (w *World) equalFiles(a, b Value) bool {
	if a.kind == String {
		text := a.text
		if e := b.Entry(); e != nil {
			return composedPath(e) == norm.NFC.String(text)
		}
		t, isLink := b.Target()
		if !isLink {
			return false
		}
		if other, ok := ParseLink(text, t.From); ok {
			return w.equalFiles(b, OfTarget(other))
		}
		return t.Text == text
	}
	x := w.targetOf(a)
	y := w.targetOf(b)
	if x != nil || y != nil {
		return x != nil && y != nil && x.Path() == y.Path()
	}
	s, isLink := a.Target()
	t, isOther := b.Target()
	return isLink && isOther && pathOf(s.Text) == pathOf(t.Text)
}

// targetOf returns the file that v is or links to, or nil.
func (w *World) targetOf(v Value) Entry {
	t, isLink := v.Target()
	switch {
	case !isLink:
		return v.Entry()
	case w.Resolve == nil:
		return nil
	}
	return w.Resolve(t.Text, t.From)
}

// pathOf returns a link target without its heading or block.
func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "#")
	return path
}

// ParseLink parses a text that consists of a single wikilink in the file from. The display text is after the
// last bar.
func ParseLink(text, from string) (Target, bool) {
	inner, isOpened := strings.CutPrefix(text, "[[")
	inner, isClosed := strings.CutSuffix(inner, "]]")
	isSeveral := strings.Contains(inner, "]]") || strings.Contains(inner, "[[")
	if !isOpened || !isClosed || isSeveral {
		return Target{}, false
	}
	if strings.TrimSpace(inner) == "" {
		return Target{}, false
	}
	t := Target{Text: strings.TrimSpace(inner), From: from}
	if i := strings.LastIndexByte(inner, '|'); i >= 0 {
		t.Text = strings.TrimSpace(inner[:i])
		t.Display = strings.TrimSpace(inner[i+1:])
	}
	return t, true
}

// asNumber converts v to a number as JavaScript does in a comparison with a number.
func (v Value) asNumber() (float64, bool) {
	switch {
	case v.kind == Number || v.kind == Boolean:
		return v.number, true
	case v.kind.isText():
		return ParseNumber(v.text)
	}
	return 0, false
}
