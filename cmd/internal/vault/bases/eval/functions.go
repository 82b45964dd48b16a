package eval

import (
	"math"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/value"
)

func globalFunctions() map[string]function {
	one := func(name string, kind value.Kind, run func(*call) value.Value) function {
		return function{params: []param{{name, kind}}, required: 1, run: run}
	}
	return map[string]function{
		"date":       one("input", value.Null, (*call).date),
		"duration":   one("value", value.Null, (*call).duration),
		"now":        {run: func(c *call) value.Value { return value.OfMoment(value.Moment{Time: c.row.Now, HasTime: true}) }},
		"today":      {run: func(c *call) value.Value { return value.OfMoment(value.Moment{Time: c.row.Now}.Day()) }},
		"list":       one("element", value.Null, (*call).listOf),
		"number":     one("input", value.Null, (*call).number),
		"min":        {required: 1, more: true, run: func(c *call) value.Value { return c.extreme(math.Min) }},
		"max":        {required: 1, more: true, run: func(c *call) value.Value { return c.extreme(math.Max) }},
		"link":       {params: []param{{"path", value.Null}, {"display", value.Null}}, required: 1, run: (*call).link},
		"file":       one("path", value.Null, (*call).file),
		"image":      one("path", value.Null, (*call).image),
		"icon":       one("name", value.Null, textual(value.OfIcon)),
		"html":       one("html", value.Null, textual(value.OfHTML)),
		"escapeHTML": one("html", value.Null, textual(func(s string) value.Value { return value.Bounded(escapeHTML.Replace(s)) })),
		"random":     {run: func(c *call) value.Value { return value.OfNumber(c.row.Random()) }},
	}
}

// textual is a function of the text of its argument. Of null it is null.
func textual(make func(string) value.Value) func(*call) value.Value {
	return func(c *call) value.Value {
		if c.arg(0).IsNull() {
			return value.Value{}
		}
		return make(c.arg(0).Text())
	}
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// typeError says that the first argument is of a kind that a function does not
// take.
func (c *call) typeError(parameter string, want value.Kind) value.Value {
	return checked(c.name, param{parameter, want}, c.arg(0))
}

func (c *call) date() value.Value {
	v := c.arg(0)
	switch {
	case v.IsNull() || v.Kind() == value.Date:
		return v
	case v.Kind() == value.Link:
		t, _ := v.Target()
		v = value.OfText(t.Text)
	case !v.Kind().IsText():
		return c.typeError("input", value.String)
	}
	m, ok := value.ParseDate(v.Text(), c.row.Now.Location())
	if !ok {
		return value.Failure(`Unable to parse "` + v.Text() + `" as a date.`)
	}
	return value.OfMoment(m)
}

func (c *call) duration() value.Value {
	v := c.arg(0)
	switch {
	case v.IsNull() || v.Kind() == value.Duration:
		return v
	case !v.Kind().IsText():
		return c.typeError("value", value.String)
	}
	s, ok := value.ParseSpan(v.Text())
	if !ok {
		return value.Failure(`Unable to parse "` + v.Text() + `" as a duration.`)
	}
	return value.OfSpan(s)
}

// listOf returns a list as it is, and anything else as the element of one; of
// null it is the empty list.
func (c *call) listOf() value.Value {
	switch v := c.arg(0); v.Kind() {
	case value.List:
		return v
	case value.Null:
		return value.OfList(nil)
	default:
		return value.OfList([]value.Value{v})
	}
}

func (c *call) number() value.Value {
	v := c.arg(0)
	switch {
	case v.IsNull() || v.Kind() == value.Number:
		return v
	case v.Kind() == value.Boolean:
		return value.OfNumber(v.Num())
	case v.Kind() == value.Date:
		m, _ := v.Moment()
		return value.OfNumber(float64(m.Time.UnixMilli()))
	}
	text := v.Text()
	if n, ok := value.ParseNumber(text); ok && v.Kind().IsText() && strings.TrimFunc(text, value.IsSpace) != "" {
		return value.OfNumber(n)
	}
	return value.Failure(`Unable to parse "` + text + `" as a number.`)
}

// extreme returns the least or the greatest number. Null is passed over.
func (c *call) extreme(of func(a, b float64) float64) value.Value {
	result := value.Value{}
	for _, v := range c.args {
		switch {
		case v.IsNull():
		case v.Kind() != value.Number:
			return checked(c.name, param{"values", value.Number}, v)
		case result.IsNull():
			result = v
		default:
			result = value.OfNumber(of(result.Num(), v.Num()))
		}
	}
	return result
}

func (c *call) link() value.Value {
	v := c.arg(0)
	t, isLink := v.Target()
	switch {
	case v.IsNull():
		return v
	case isLink:
	case v.Kind() == value.File:
		t = value.Target{Text: v.Entry().Path()}
	case v.Kind().IsText():
		var written bool
		if t, written = value.ParseLink(v.Text(), c.row.entry.Path()); !written {
			t = value.Target{Text: v.Text(), From: c.row.entry.Path()}
		}
	default:
		return c.typeError("path", value.String)
	}
	if display := c.arg(1); !display.IsNull() {
		t.Display = display.Text()
	}
	return value.OfTarget(t)
}

// file finds a file as a link in the row's own file would.
func (c *call) file() value.Value {
	switch v := c.arg(0); {
	case v.IsNull() || v.Kind() == value.File:
		return v
	case v.Kind() == value.Link || v.Kind().IsText():
		return value.OfEntry(c.row.meant(v, c.row.entry))
	}
	return c.typeError("path", value.String)
}

func (c *call) image() value.Value {
	v := c.arg(0)
	t, isLink := v.Target()
	switch {
	case v.IsNull() || v.Kind() == value.Image:
		return v
	case isLink:
		return value.OfImage(t.Text)
	case v.Kind() == value.File || v.Kind().IsText():
		return value.OfImage(v.Text())
	}
	return c.typeError("path", value.String)
}
