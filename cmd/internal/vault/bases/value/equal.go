package value

import "strings"

// Equal reports whether a == b. It never fails: values that cannot be compared
// are different.
func (w *World) Equal(a, b Value) bool {
	if a.kind > b.kind { // the rules are symmetric
		a, b = b, a
	}
	switch {
	case a.kind == Null || b.kind == Null:
		return a.kind == b.kind
	case a.kind == List || b.kind == List:
		return w.equalLists(a, b)
	case a.kind == Date || b.kind == Date:
		return w.equalDates(a, b)
	case a.kind == Duration || b.kind == Duration:
		x, isX := w.Duration(a)
		y, isY := w.Duration(b)
		return isX && isY && x.Milliseconds(w.Now) == y.Milliseconds(w.Now)
	case a.kind == Object && b.kind == Object:
		return w.equalObjects(a.Fields(), b.Fields())
	case a.kind == Link || b.kind == Link || a.kind == File || b.kind == File:
		return w.equalFiles(a, b)
	case a.kind == Tag || b.kind == Tag:
		return equalTags(a, b)
	case a.kind == RegExp || b.kind == RegExp:
		return a.kind == b.kind && a.Text() == b.Text()
	}
	return looselyEqual(a, b)
}

// equalLists compares element by element. A list of one equals its element.
func (w *World) equalLists(a, b Value) bool {
	if a.kind != b.kind {
		if b.kind == List {
			a, b = b, a
		}
		return len(a.Items()) == 1 && w.Equal(a.Items()[0], b)
	}
	x, y := a.Items(), b.Items()
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !w.Equal(x[i], y[i]) {
			return false
		}
	}
	return true
}

// equalDates compares the moment, or the day where one of the two is only a day.
func (w *World) equalDates(a, b Value) bool {
	x, isX := w.Date(a)
	y, isY := w.Date(b)
	if !isX || !isY {
		return false
	}
	if x.HasTime && y.HasTime {
		return x.Time.UnixMilli() == y.Time.UnixMilli()
	}
	return x.Day().Time.Equal(y.Day().Time)
}

func (w *World) equalObjects(a, b *Fields) bool {
	if len(a.Keys) != len(b.Keys) {
		return false
	}
	for i, key := range a.Keys {
		other, found := b.find(key)
		if !found || !w.Equal(a.Values[i], other) {
			return false
		}
	}
	return true
}

// equalFiles compares links and files by the file that they mean. Of a link that
// leads nowhere the text counts. A text equals a link that is written the same
// way, and the file of that path.
func (w *World) equalFiles(a, b Value) bool {
	if a.kind == String {
		return w.equalsText(b, a.text)
	}
	x, y := w.meant(a), w.meant(b)
	if x != nil || y != nil {
		return x != nil && y != nil && x.Path() == y.Path()
	}
	s, isLink := a.Target()
	t, isOther := b.Target()
	return isLink && isOther && pathOf(s.Text) == pathOf(t.Text)
}

func (w *World) equalsText(v Value, text string) bool {
	if e := v.Entry(); e != nil {
		return e.Path() == text
	}
	t, isLink := v.Target()
	if !isLink {
		return false
	}
	if other, ok := ParseLink(text, t.From); ok {
		return w.equalFiles(v, OfTarget(other))
	}
	return t.Text == text
}

// meant returns the file that a link or a file is, nil if there is none.
func (w *World) meant(v Value) Entry {
	if t, ok := v.Target(); ok {
		return w.Follow(t)
	}
	return v.Entry()
}

// pathOf returns what of a link is its path.
func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "#")
	return path
}

// ParseLink returns the link that a text consists of. Its display is what stands
// behind the last bar.
func ParseLink(text, from string) (Target, bool) {
	inner, opened := strings.CutPrefix(text, "[[")
	inner, closed := strings.CutSuffix(inner, "]]")
	if !opened || !closed || strings.Contains(inner, "]]") || strings.Contains(inner, "[[") || strings.TrimSpace(inner) == "" {
		return Target{}, false
	}
	t := Target{Text: strings.TrimSpace(inner), From: from}
	if i := strings.LastIndexByte(inner, '|'); i >= 0 {
		t.Text, t.Display = strings.TrimSpace(inner[:i]), strings.TrimSpace(inner[i+1:])
	}
	return t, true
}

// equalTags compares without the "#" and without regard to case.
func equalTags(a, b Value) bool {
	return a.kind.IsText() && b.kind.IsText() && strings.EqualFold(bareTag(a.text), bareTag(b.text))
}

func bareTag(tag string) string { return strings.TrimPrefix(tag, "#") }

// IsTagOrBelow reports whether tag is the wanted one or one within it: both may
// have a "#", and case does not count.
func IsTagOrBelow(tag, wanted string) bool {
	tag, wanted = strings.ToLower(bareTag(tag)), strings.ToLower(bareTag(wanted))
	return wanted != "" && (tag == wanted || strings.HasPrefix(tag, wanted+"/"))
}

// looselyEqual compares texts, numbers and booleans as JavaScript's == does.
func looselyEqual(a, b Value) bool {
	if a.kind.IsText() && b.kind.IsText() {
		return a.text == b.text
	}
	x, isX := a.asNumber()
	y, isY := b.asNumber()
	return isX && isY && x == y
}

// asNumber converts as JavaScript does where it compares with a number.
func (v Value) asNumber() (float64, bool) {
	switch {
	case v.kind == Number || v.kind == Boolean:
		return v.number, true
	case v.kind.IsText():
		return ParseNumber(v.text)
	}
	return 0, false
}
