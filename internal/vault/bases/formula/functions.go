package formula

import (
	"maps"
	"math"
	"math/big"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/date"
)

// textual returns a function that applies make to the text of its argument. For null it returns null.
func textual(make func(string) Value) func(*call) Value {
	return func(c *call) Value {
		if c.arg(0).IsNull() {
			return Value{}
		}
		return make(c.arg(0).Text())
	}
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// typeError returns an error if the first argument does not have the wanted kind.
func (c *call) typeError(parameter string, want Kind) Value {
	return checkKind(c.name, param{parameter, want}, c.arg(0))
}

func (c *call) date() Value {
	v := c.arg(0)
	switch {
	case v.IsNull() || v.Kind() == Date:
		return v
	case v.Kind() == Link:
		t, _ := v.Target()
		v = OfText(t.Text)
	case !v.Kind().isText():
		return c.typeError("input", String)
	}
	m, ok := parseDate(v.Text(), c.row.Now.Location())
	if !ok {
		return failure(`Unable to parse "` + v.Text() + `" as a date.`)
	}
	return OfMoment(m)
}

func (c *call) duration() Value {
	v := c.arg(0)
	switch {
	case v.IsNull() || v.Kind() == Duration:
		return v
	case !v.Kind().isText():
		return c.typeError("value", String)
	}
	s, ok := ParseSpan(v.Text())
	if !ok {
		return failure(`Unable to parse "` + v.Text() + `" as a duration.`)
	}
	return OfSpan(s)
}

// listOf implements list(): a list is unchanged, null becomes an empty list, any other value a list of one.
func (c *call) listOf() Value {
	switch v := c.arg(0); v.Kind() {
	case List:
		return v
	case Null:
		return OfList(nil)
	default:
		return OfList([]Value{v})
	}
}

func (c *call) number() Value {
	v := c.arg(0)
	switch {
	case v.IsNull() || v.Kind() == Number:
		return v
	case v.Kind() == Boolean:
		return OfNumber(v.Num())
	case v.Kind() == Date:
		m, _ := v.Moment()
		return OfNumber(float64(m.Time.UnixMilli()))
	}
	text := v.Text()
	if n, ok := ParseNumber(text); ok && v.Kind().isText() && strings.TrimFunc(text, IsSpace) != "" {
		return OfNumber(n)
	}
	return failure(`Unable to parse "` + text + `" as a number.`)
}

// extreme returns the minimum or maximum of the arguments, as chosen by choose. It ignores null.
func (c *call) extreme(choose func(a, b float64) float64) Value {
	result := Value{}
	for _, v := range c.args {
		switch {
		case v.IsNull():
		case v.Kind() != Number:
			return checkKind(c.name, param{"values", Number}, v)
		case result.IsNull():
			result = v
		default:
			result = OfNumber(choose(result.Num(), v.Num()))
		}
	}
	return result
}

func (c *call) link() Value {
	v := c.arg(0)
	t, isLink := v.Target()
	switch {
	case v.IsNull():
		return v
	case isLink:
	case v.Kind() == File:
		t = Target{Text: v.Entry().Path()}
	case v.Kind().isText():
		t, isLink = ParseLink(v.Text(), c.row.path())
		if !isLink {
			t = Target{Text: v.Text(), From: c.row.path()}
		}
	default:
		return c.typeError("path", String)
	}
	if display := c.arg(1); !display.IsNull() {
		t.Display = display.Text()
	}
	return OfTarget(t)
}

// file implements file(): it resolves a link in the file of the row.
func (c *call) file() Value {
	switch v := c.arg(0); {
	case v.IsNull() || v.Kind() == File:
		return v
	case v.Kind() == Link || v.Kind().isText():
		return ofEntry(c.row.targetOf(v, c.row.path()))
	}
	return c.typeError("path", String)
}

func (c *call) image() Value {
	v := c.arg(0)
	t, isLink := v.Target()
	switch {
	case v.IsNull() || v.Kind() == Image:
		return v
	case isLink:
		return Value{kind: Image, text: t.Text}
	case v.Kind() == File || v.Kind().isText():
		return Value{kind: Image, text: v.Text()}
	}
	return c.typeError("path", String)
}

func numberMethods() map[string]function {
	numeric := func(f func(float64) float64) function {
		return function{run: func(c *call) Value { return OfNumber(f(c.on.Num())) }}
	}
	digits := []param{{"digits", Number}}
	return map[string]function{
		"abs": numeric(math.Abs), "ceil": numeric(math.Ceil), "floor": numeric(math.Floor),
		"round": {params: digits, run: func(c *call) Value {
			n := c.on.Num()
			decimals := int(max(-maxDigits, min(c.arg(0).Num(), maxDigits)))
			if decimals == 0 {
				return OfNumber(roundHalfUp(n))
			}
			scale := math.Pow(10, float64(decimals))
			if rounded := roundHalfUp(n*scale) / scale; !math.IsNaN(rounded) {
				return OfNumber(rounded)
			}
			return c.on
		}},
		"toFixed": {params: []param{{"precision", Number}}, required: 1, run: func(c *call) Value {
			n := c.on.Num()
			decimals := c.arg(0).Num()
			switch {
			case !(decimals >= 0 && decimals <= maxDigits):
				return failure("toFixed() digits argument must be between 0 and 100")
			case math.IsNaN(n) || math.Abs(n) >= 1e21: // written in exponential form
				return OfText(c.on.Text())
			}
			return OfText(
				new(big.Rat).SetFloat64(n).FloatString(int(decimals)),
			) // the exact value, halves away from zero
		}},
	}
}

// maxDigits is the maximum number of decimals in JavaScript.
const maxDigits = 100

func dateMethods() map[string]function {
	onMoment := func(f func(*call, Moment) Value) func(*call) Value {
		return func(c *call) Value {
			m, _ := c.on.Moment()
			return f(c, m)
		}
	}
	return map[string]function{
		"date": {run: onMoment(func(_ *call, m Moment) Value { return OfMoment(m.Day()) })},
		"time": {run: onMoment(func(_ *call, m Moment) Value { return OfText(m.Time.Format("15:04:05")) })},
		"format": {params: []param{{"format", String}}, required: 1, run: onMoment(func(c *call, m Moment) Value {
			return bounded(date.Format(m.Time, c.arg(0).Text()))
		})},
		"relative": {run: onMoment(func(c *call, m Moment) Value {
			s := difference(c.row.Now, m.Time)
			if s.Months > 0 || s.Millis > 0 {
				return OfText("in " + s.humanize())
			}
			return OfText(s.humanize() + " ago")
		})},
	}
}

func fileMethods() map[string]function {
	return map[string]function{
		"asLink": {params: []param{{"display", Null}}, run: func(c *call) Value {
			return OfTarget(Target{Text: c.on.Entry().Path(), Display: c.arg(0).Text()})
		}},
		"hasLink": {params: []param{{"otherFile", Null}}, required: 1, run: func(c *call) Value {
			return OfBool(c.row.hasLink(c.on.Entry(), c.arg(0)))
		}},
		"hasProperty": {params: []param{{"name", Null}}, required: 1, run: func(c *call) Value {
			_, found := c.on.Entry().Property(c.arg(0).Text())
			return OfBool(found)
		}},
		"hasTag": {required: 1, isVariadic: true, run: func(c *call) Value {
			for _, wanted := range flattened(c.args) {
				if found, ok := c.row.listHas(c.on.Entry().Tags().Items(), wanted); found || !ok {
					return c.testResult(found, ok)
				}
			}
			return OfBool(false)
		}},
		"inFolder": {params: []param{{"folder", Null}}, required: 1, run: func(c *call) Value {
			folder := norm.NFC.String(strings.Trim(c.arg(0).Text(), "/")) // "" and "/" are the root of the vault
			return OfBool(!c.arg(0).IsNull() && (folder == "" || strings.HasPrefix(composedPath(c.on.Entry()), folder+"/")))
		}},
	}
}

// targetOf returns the file that a file, a link or a text refers to, or nil. A text is resolved as a link in
// the file at the path from. Headings and blocks are ignored.
func (r *Row) targetOf(v Value, from string) Entry {
	if e := v.Entry(); e != nil {
		return e
	}
	t, isLink := v.Target()
	switch {
	case isLink:
	case v.Kind().isText() && v.Text() != "":
		t, isLink = ParseLink(v.Text(), from)
		if !isLink {
			t = Target{Text: v.Text(), From: from}
		}
	default:
		return nil
	}
	name, _, _ := strings.Cut(t.Text, "#")
	if r.Resolve == nil {
		return nil
	}
	key := fileKey{name, t.From}
	e, known := r.files[key]
	if !known {
		if len(r.files) >= maxFiles {
			clear(r.files)
		}
		e = r.Resolve(name, t.From)
		r.files[key] = e
	}
	return e
}

// hasLink reports whether a file links to another. Targets that do not exist are compared as text, without
// heading or block and ignoring case.
func (r *Row) hasLink(from Entry, to Value) bool {
	if to.IsNull() {
		return false
	}
	if target := r.targetOf(to, from.Path()); target != nil {
		return r.Leads(from, target)
	}
	wanted := to.Text()
	if t, ok := to.Target(); ok {
		wanted = t.Text
	}
	wanted, _, _ = strings.Cut(wanted, "#")
	if !r.Dangles(from, wanted) {
		return false
	}
	for _, link := range from.Links().Items() {
		t, _ := link.Target()
		if target, _, _ := strings.Cut(t.Text, "#"); strings.EqualFold(target, wanted) {
			return true
		}
	}
	return false
}

// fileFields are the fields of a file by name.
var fileFields = map[string]func(r *Row, e Entry) Value{
	"file":       func(_ *Row, e Entry) Value { return ofEntry(e) },
	"properties": func(_ *Row, e Entry) Value { return e.Properties() },
	"tags":       func(_ *Row, e Entry) Value { return e.Tags() },
	"links":      func(_ *Row, e Entry) Value { return e.Links() },
	"embeds":     func(_ *Row, e Entry) Value { return e.Embeds() },
	"backlinks":  func(r *Row, e Entry) Value { return r.Backlinks(e) },
	"size":       func(_ *Row, e Entry) Value { return OfNumber(float64(e.Size())) },
	"ctime":      func(r *Row, e Entry) Value { return OfMoment(Moment{e.Created().In(r.Now.Location()), true}) },
	"mtime":      func(r *Row, e Entry) Value { return OfMoment(Moment{e.Modified().In(r.Now.Location()), true}) },
	"path":       func(_ *Row, e Entry) Value { return OfText(composedPath(e)) },
	"fullname":   func(_ *Row, e Entry) Value { return OfText(path.Base(composedPath(e))) },
	"basename": func(_ *Row, e Entry) Value {
		return OfText(strings.TrimSuffix(path.Base(composedPath(e)), path.Ext(composedPath(e))))
	},
	"name": func(_ *Row, e Entry) Value { return OfText(strings.TrimSuffix(path.Base(composedPath(e)), ".md")) },
	"ext":  func(_ *Row, e Entry) Value { return OfText(strings.TrimPrefix(path.Ext(e.Path()), ".")) },
	"folder": func(_ *Row, e Entry) Value {
		if folder := path.Dir(composedPath(e)); folder != "." {
			return OfText(folder)
		}
		return OfText("/")
	},
}

// composedPath returns the path of a file in Unicode normal form C, which the app has and people type. The disk may
// have another form.
func composedPath(e Entry) string { return norm.NFC.String(e.Path()) }

// fileField returns the field of a file with a name, ignoring case.
func (r *Row) fileField(e Entry, name string) Value {
	if e == nil {
		return Value{}
	}
	if field := fileFields[strings.ToLower(name)]; field != nil {
		return field(r, e)
	}
	return failure(`Cannot find "` + name + `" on type File`)
}

// IsFileField reports whether files have a field with a name, ignoring case.
func IsFileField(name string) bool { return fileFields[strings.ToLower(name)] != nil }

// FileFields returns the sorted names of the fields of files.
func FileFields() []string { return slices.Sorted(maps.Keys(fileFields)) }
