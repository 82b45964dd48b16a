package value

import "time"

// World is what operations on values need to know besides the values.
type World struct {
	// Now is the present moment; its location is the local zone.
	Now time.Time
	// Resolve returns the file to which a link in the file from leads, nil if there
	// is none. A heading or a block in target does not count.
	Resolve func(target, from string) Entry
}

// zone is the local one.
func (w *World) zone() *time.Location { return w.Now.Location() }

// Follow returns the file to which a link leads, nil if there is none.
func (w *World) Follow(t Target) Entry {
	if w.Resolve == nil {
		return nil
	}
	return w.Resolve(t.Text, t.From)
}

// Date returns v as a date if it is one, or a text that is one.
func (w *World) Date(v Value) (Moment, bool) {
	if v.kind == String {
		return ParseDate(v.text, w.zone())
	}
	return v.Moment()
}

// Duration returns v as a duration if it is one, or a text that is one.
func (w *World) Duration(v Value) (Span, bool) {
	if v.kind == String {
		return ParseSpan(v.text)
	}
	return v.Span()
}
