package value

import (
	"math"
	"slices"
)

// Operation is an arithmetic operator.
type Operation byte

// The arithmetic operators.
const (
	Add       Operation = '+'
	Subtract  Operation = '-'
	Multiply  Operation = '*'
	Divide    Operation = '/'
	Remainder Operation = '%'
)

// Calculate returns a op b. What cannot be calculated is an error with the app's
// sentence; an operand that is an error is the result.
func (w *World) Calculate(op Operation, a, b Value) Value {
	switch {
	case a.kind == Error:
		return a
	case b.kind == Error:
		return b
	case a.kind == Number && b.kind == Number:
		return OfNumber(calculate(op, a.number, b.number))
	case op == Add && a.kind == List:
		return appended(a, b)
	case a.kind == Date || b.kind == Date:
		return w.calculateDate(op, a, b)
	case a.kind == Duration || b.kind == Duration:
		return w.calculateSpan(op, a, b)
	case op == Add && (a.kind.IsText() || b.kind.IsText()):
		return concatenated(a.Text(), b.Text())
	case a.kind == Null || b.kind == Null:
		return Value{}
	case op == Subtract && a.kind == String && b.kind == String:
		return w.subtractTexts(a, b)
	}
	return invalidOperator(a, b)
}

func calculate(op Operation, a, b float64) float64 {
	switch op {
	case Add:
		return a + b
	case Subtract:
		return a - b
	case Multiply:
		return a * b
	case Divide:
		return a / b
	}
	return math.Mod(a, b)
}

func invalidOperator(a, b Value) Value {
	return Failure("Invalid operator between " + a.kind.String() + " and " + b.kind.String())
}

func concatenated(a, b string) Value {
	if len(a)+len(b) > MaxText {
		return Failure(errTooLong)
	}
	return OfText(a + b)
}

// appended returns a list with another one, or with one element more, behind it.
func appended(list, v Value) Value {
	more := []Value{v}
	if v.kind == List {
		more = v.Items()
	}
	return OfList(slices.Concat(list.Items(), more))
}

// subtractTexts returns the duration between two texts that are dates.
func (w *World) subtractTexts(a, b Value) Value {
	x, isX := w.Date(a)
	y, isY := w.Date(b)
	if !isX || !isY {
		return invalidOperator(a, b)
	}
	return OfSpan(Span{Millis: between(y.Time, x.Time)})
}

// calculateDate moves a date by a duration, or returns the duration between two
// dates.
func (w *World) calculateDate(op Operation, a, b Value) Value {
	if a.kind == Null || b.kind == Null {
		return Value{}
	}
	if op == Add && b.kind == Date {
		a, b = b, a // a duration may stand on either side
		if span, ok := w.Duration(b); ok {
			return moved(a, span)
		}
		return invalidOperator(b, a)
	}
	x, isX := w.Date(a)
	if span, ok := w.Duration(b); ok && a.kind == Date && (op == Add || op == Subtract) {
		if op == Subtract {
			span = span.Times(-1)
		}
		return moved(a, span)
	}
	if y, isY := w.Date(b); isX && isY && op == Subtract {
		return OfSpan(Span{Millis: between(y.Time, x.Time)})
	}
	return invalidOperator(a, b)
}

func moved(date Value, by Span) Value {
	m, _ := date.Moment()
	t, ok := by.after(m.Time)
	if !ok {
		return Failure("Invalid date")
	}
	return inRange(Moment{t, m.HasTime || by.HasClock()})
}

// calculateSpan adds and subtracts durations, and multiplies and divides one by
// a number behind it.
func (w *World) calculateSpan(op Operation, a, b Value) Value {
	if a.kind == Null || b.kind == Null {
		return Value{}
	}
	x, isX := w.Duration(a)
	y, isY := w.Duration(b)
	switch {
	case op == Add && isX && isY:
		return finite(x.Plus(y))
	case op == Subtract && isX && isY:
		return finite(x.Plus(y.Times(-1)))
	case op == Multiply && a.kind == Duration && b.kind == Number:
		return finite(x.Times(b.number))
	case op == Divide && a.kind == Duration && b.kind == Number:
		return finite(x.Times(1 / b.number))
	}
	return invalidOperator(a, b)
}

// finite returns a duration, or an error if it has no length.
func finite(s Span) Value {
	if length := s.Months + s.Days + s.Millis; length-length != 0 {
		return Failure("Invalid duration")
	}
	return OfSpan(s)
}

// Negated returns -v.
func Negated(v Value) Value {
	switch v.kind {
	case Null, Error:
		return v
	case Number:
		return OfNumber(-v.number)
	case Duration:
		s, _ := v.Span()
		return OfSpan(s.Times(-1))
	}
	return Failure("Invalid operator between Number and " + v.kind.String())
}
