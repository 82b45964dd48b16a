package formula

import (
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/moment"
)

// textual applies a function to the text of the argument. The result for null is null.
func textual(make func(string) Value) func(*call) Value {
	return func(c *call) Value {
		if c.arg(0).IsNull() {
			return Value{}
		}
		return make(c.arg(0).Text())
	}
}

var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// typeError returns the error for a first argument of the wrong kind.
func (c *call) typeError(parameter string, want Kind) Value {
	return checked(c.name, param{parameter, want}, c.arg(0))
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

// listOf is list(): a list as it is, null as the empty list, anything else as a list of one.
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

// extreme returns the least or the greatest number and ignores null.
func (c *call) extreme(of func(a, b float64) float64) Value {
	result := Value{}
	for _, v := range c.args {
		switch {
		case v.IsNull():
		case v.Kind() != Number:
			return checked(c.name, param{"values", Number}, v)
		case result.IsNull():
			result = v
		default:
			result = OfNumber(of(result.Num(), v.Num()))
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
		var written bool
		if t, written = ParseLink(v.Text(), c.row.entry.Path()); !written {
			t = Target{Text: v.Text(), From: c.row.entry.Path()}
		}
	default:
		return c.typeError("path", String)
	}
	if display := c.arg(1); !display.IsNull() {
		t.Display = display.Text()
	}
	return OfTarget(t)
}

// file is file(): it resolves a link in the file of the row.
func (c *call) file() Value {
	switch v := c.arg(0); {
	case v.IsNull() || v.Kind() == File:
		return v
	case v.Kind() == Link || v.Kind().isText():
		return ofEntry(c.row.meant(v, c.row.entry))
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
		return ofImage(t.Text)
	case v.Kind() == File || v.Kind().isText():
		return ofImage(v.Text())
	}
	return c.typeError("path", String)
}

func numberMethods() map[string]function {
	of := func(f func(float64) float64) function {
		return function{run: func(c *call) Value { return OfNumber(f(c.on.Num())) }}
	}
	digits := []param{{"digits", Number}}
	return map[string]function{
		"abs": of(math.Abs), "ceil": of(math.Ceil), "floor": of(math.Floor),
		"round": {params: digits, run: func(c *call) Value {
			return OfNumber(round(c.on.Num(), int(max(-maxDigits, min(c.arg(0).Num(), maxDigits)))))
		}},
		"toFixed": {params: []param{{"precision", Number}}, required: 1, run: func(c *call) Value {
			n := c.arg(0).Num()
			if !(n >= 0 && n <= maxDigits) {
				return failure("toFixed() digits argument must be between 0 and 100")
			}
			return OfText(fixed(c.on.Num(), int(n)))
		}},
	}
}

// maxDigits is the limit of JavaScript for decimals.
const maxDigits = 100

func dateMethods() map[string]function {
	of := func(f func(*call, Moment) Value) func(*call) Value {
		return func(c *call) Value {
			m, _ := c.on.Moment()
			return f(c, m)
		}
	}
	return map[string]function{
		"date": {run: of(func(_ *call, m Moment) Value { return OfMoment(m.Day()) })},
		"time": {run: of(func(_ *call, m Moment) Value { return OfText(m.Time.Format("15:04:05")) })},
		"format": {params: []param{{"format", String}}, required: 1, run: of(func(c *call, m Moment) Value {
			return bounded(moment.Format(m.Time, c.arg(0).Text()))
		})},
		"relative": {run: of(func(c *call, m Moment) Value { return OfText(m.relative(c.row.Now)) })},
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
		"hasTag": {required: 1, more: true, run: func(c *call) Value {
			for _, wanted := range flattened(c.args) {
				if found, ok := c.row.listHas(c.on.Entry().Tags().Items(), wanted); found || !ok {
					return c.tested(found, ok)
				}
			}
			return OfBool(false)
		}},
		"inFolder": {params: []param{{"folder", Null}}, required: 1, run: func(c *call) Value {
			folder := strings.Trim(c.arg(0).Text(), "/") // "" and "/" are the vault's own
			return OfBool(!c.arg(0).IsNull() && (folder == "" || strings.HasPrefix(c.on.Entry().Path(), folder+"/")))
		}},
	}
}

// meant returns the file that a file, a link or a text refers to, nil if there is none. A text
// is resolved as a link in the file from, without its heading or block.
func (r *Row) meant(v Value, from Entry) Entry {
	if e := v.Entry(); e != nil {
		return e
	}
	t, isLink := v.Target()
	switch {
	case isLink:
	case v.Kind().isText() && v.Text() != "":
		var written bool
		if t, written = ParseLink(v.Text(), from.Path()); !written {
			t = Target{Text: v.Text(), From: from.Path()}
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

// hasLink reports whether a file links to another. An unresolved target is compared as written,
// without its heading or block and ignoring case.
func (r *Row) hasLink(from Entry, to Value) bool {
	if to.IsNull() {
		return false
	}
	if target := r.meant(to, from); target != nil {
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
		if written, _, _ := strings.Cut(t.Text, "#"); strings.EqualFold(written, wanted) {
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
	"path":       func(_ *Row, e Entry) Value { return OfText(e.Path()) },
	"fullname":   func(_ *Row, e Entry) Value { return OfText(path.Base(e.Path())) },
	"basename": func(_ *Row, e Entry) Value {
		return OfText(strings.TrimSuffix(path.Base(e.Path()), path.Ext(e.Path())))
	},
	"name": func(_ *Row, e Entry) Value { return OfText(strings.TrimSuffix(path.Base(e.Path()), ".md")) },
	"ext":  func(_ *Row, e Entry) Value { return OfText(strings.TrimPrefix(path.Ext(e.Path()), ".")) },
	"folder": func(_ *Row, e Entry) Value {
		if i := strings.LastIndexByte(e.Path(), '/'); i >= 0 {
			return OfText(e.Path()[:i])
		}
		return OfText("/")
	},
}

// fileField returns a field of a file; name is case-insensitive.
func (r *Row) fileField(e Entry, name string) Value {
	if e == nil || e == noFile {
		return Value{}
	}
	if field := fileFields[strings.ToLower(name)]; field != nil {
		return field(r, e)
	}
	return failure(`Cannot find "` + name + `" on type File`)
}

// IsFileField reports whether files have a field with that name, ignoring case.
func IsFileField(name string) bool { return fileFields[strings.ToLower(name)] != nil }

// noFile is the file of an expression that is not about one.
var noFile Entry = nothing{}

type nothing struct{}

func (nothing) Path() string                  { return "" }
func (nothing) Size() int64                   { return 0 }
func (nothing) Created() time.Time            { return time.Time{} }
func (nothing) Modified() time.Time           { return time.Time{} }
func (nothing) Property(string) (Value, bool) { return Value{}, false }
func (nothing) Properties() Value             { return Value{} }
func (nothing) Tags() Value                   { return OfList(nil) }
func (nothing) Links() Value                  { return OfList(nil) }
func (nothing) Embeds() Value                 { return OfList(nil) }

func listMethods() map[string]function {
	lambda := []param{{"expression", Null}}
	return map[string]function{
		"contains": {params: []param{{"value", Null}}, required: 1, run: func(c *call) Value {
			found, ok := c.row.listHas(c.on.Items(), c.arg(0))
			return c.tested(found, ok)
		}},
		"containsAll": {required: 1, more: true, run: func(c *call) Value { return c.listContains(true) }},
		"containsAny": {required: 1, more: true, run: func(c *call) Value { return c.listContains(false) }},
		"filter":      {params: lambda, required: 1, lambda: true, run: (*call).filter},
		"map":         {params: lambda, required: 1, lambda: true, run: (*call).mapped},
		"reduce":      {params: []param{lambda[0], {"initial", Null}}, required: 2, lambda: true, run: (*call).reduce},
		"flat":        {run: func(c *call) Value { return OfList(flat(nil, c.on.Items())) }},
		"join": {params: []param{{"separator", Null}}, required: 1, run: func(c *call) Value {
			return bounded(join(c.on.Items(), c.arg(0).Text()))
		}},
		"reverse": {run: func(c *call) Value {
			turned := slices.Clone(c.on.Items())
			slices.Reverse(turned)
			return OfList(turned)
		}},
		"slice": {params: []param{{"start", Number}, {"end", Number}}, required: 1, run: func(c *call) Value {
			start, end := bounds(len(c.on.Items()), c.arg(0).Num(), c.arg(1).Num(), len(c.args) > 1)
			return OfList(c.on.Items()[start:end:end])
		}},
		"sort":     {run: (*call).sorted},
		"unique":   {run: (*call).unique},
		"sum":      summary(sum),
		"mean":     summary(mean),
		"median":   summary(median),
		"min":      summary(least),
		"max":      summary(greatest),
		"stddev":   summary(deviation),
		"earliest": {run: func(c *call) Value { return extremeDate(c.on.Items(), -1) }},
		"latest":   {run: func(c *call) Value { return extremeDate(c.on.Items(), 1) }},
	}
}

// tested returns the result of a test, or the error of an ended session.
func (c *call) tested(found, ok bool) Value {
	if !ok {
		return c.row.ended()
	}
	return OfBool(found)
}

// listHas reports whether a list contains a value; of tags also one below the wanted tag. ok is
// false when the session has ended.
func (r *Row) listHas(items []Value, wanted Value) (found, ok bool) {
	for _, item := range items {
		if !r.spend(1 + min(item.Size(), wanted.Size())/bytesRead) {
			return false, false
		}
		if item.Kind() == Tag && wanted.Kind().isText() {
			if isTagOrBelow(item.Text(), wanted.Text()) {
				return true, true
			}
			continue
		}
		if r.Equal(item, wanted) {
			return true, true
		}
	}
	return false, true
}

// listContains reports whether the list contains all, or any, of the arguments. An argument
// that is a list means its elements, unless the list contains lists.
func (c *call) listContains(all bool) Value {
	items, wanted := c.on.Items(), c.args
	if !slices.ContainsFunc(items, func(v Value) bool { return v.Kind() == List }) {
		wanted = flattened(wanted)
	}
	for _, w := range wanted {
		found, ok := c.row.listHas(items, w)
		if !ok || found != all {
			return c.tested(found, ok)
		}
	}
	return OfBool(all)
}

func (c *call) filter() Value {
	var kept []Value
	items := c.on.Items()
	alive, formulas := c.row.alive, c.row.kept
	if failed := c.each(items, scope{}, func(i int, v Value, _ *scope) bool {
		c.row.let(alive + c.row.kept - formulas) // what the answer was made of is gone
		if v.Truthy() {
			kept = append(kept, items[i])
		}
		return true
	}); failed.IsError() {
		return failed
	}
	return OfList(kept)
}

func (c *call) mapped() Value {
	results := make([]Value, 0, len(c.on.Items()))
	if failed := c.each(c.on.Items(), scope{}, func(_ int, v Value, _ *scope) bool {
		results = append(results, v)
		return true
	}); failed.IsError() {
		return failed
	}
	return OfList(results)
}

func (c *call) reduce() Value {
	result := c.arg(1)
	if failed := c.each(c.on.Items(), scope{acc: result, hasAcc: true}, func(_ int, v Value, s *scope) bool {
		result, s.acc = v, v
		return true
	}); failed.IsError() {
		return failed
	}
	return result
}

// flat appends items and, recursively, the elements of nested lists.
func flat(to, items []Value) []Value {
	for _, item := range items {
		if len(to) > maxElements {
			return to
		}
		if item.Kind() == List {
			to = flat(to, item.Items())
			continue
		}
		to = append(to, item)
	}
	return to
}

func (c *call) sorted() Value {
	cost := 0
	for _, item := range c.on.Items() {
		cost += sortSteps * (1 + item.Size()/bytesRead)
	}
	if !c.row.spend(cost) {
		return c.row.ended()
	}
	sorted := slices.Clone(c.on.Items())
	slices.SortStableFunc(sorted, func(a, b Value) int { return c.row.Order(a, b, false) })
	return OfList(sorted)
}

// sortSteps is the approximate cost of sorting one element.
const sortSteps = 8

// unique keeps the first of elements with the same kind and text.
func (c *call) unique() Value {
	type written struct {
		kind Kind
		text string
	}
	known := map[written]bool{}
	var kept []Value
	for _, item := range c.on.Items() {
		key := written{item.Kind(), item.Text()}
		if !c.row.spend(2 + len(key.text)/bytesMade) {
			return c.row.ended()
		}
		if !known[key] {
			known[key] = true
			kept = append(kept, item)
		}
	}
	return OfList(kept)
}

// summary is a method that reduces the numbers of a list to one; null without numbers. all is
// the length of the list.
func summary(of func(numbers []float64, all int) float64) function {
	return function{run: func(c *call) Value { return summarize(c.on.Items(), of) }}
}

func sum(numbers []float64, _ int) float64 {
	total := 0.0
	for _, n := range numbers {
		total += n
	}
	return total
}

// mean divides by the length of the whole list, as the app does.
func mean(numbers []float64, all int) float64 { return sum(numbers, all) / float64(all) }

func median(numbers []float64, _ int) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func least(numbers []float64, _ int) float64    { return slices.Min(numbers) }
func greatest(numbers []float64, _ int) float64 { return slices.Max(numbers) }

// deviation is the population standard deviation.
func deviation(numbers []float64, _ int) float64 {
	average, total := sum(numbers, 0)/float64(len(numbers)), 0.0
	for _, n := range numbers {
		total += (n - average) * (n - average)
	}
	return math.Sqrt(total / float64(len(numbers)))
}

// extremeDate returns the first date (direction -1) or the last (1), null without dates.
func extremeDate(items []Value, direction int) Value {
	result := Value{}
	var best Moment
	for _, item := range items {
		m, ok := item.Moment()
		if ok && (result.IsNull() || m.Time.Compare(best.Time) == direction) {
			result, best = item, m
		}
	}
	return result
}

// summaries are the built-in summaries of the app by name.
var summaries = map[string]func([]Value) Value{
	"Average": numeric(mean), "Min": numeric(least), "Max": numeric(greatest), "Sum": numeric(sum), "Median": numeric(median), "Stddev": numeric(deviation),
	"Earliest":  func(values []Value) Value { return extremeDate(values, -1) },
	"Latest":    func(values []Value) Value { return extremeDate(values, 1) },
	"Range":     rangeOf,
	"Checked":   counted(func(v Value) bool { return v.Kind() == Boolean && v.Truthy() }),
	"Unchecked": counted(func(v Value) bool { return v.Kind() == Boolean && !v.Truthy() }),
	"Empty":     counted(Value.Empty),
	"Filled":    counted(func(v Value) bool { return !v.Empty() }),
	"Unique":    unique,
}

// IsSummary reports whether the app has a built-in summary with that name.
func IsSummary(name string) bool { return summaries[name] != nil }

// Summarize applies a built-in summary to the values of a column. It returns null for an
// unknown name.
func Summarize(name string, values []Value) Value {
	if of := summaries[name]; of != nil {
		return of(values)
	}
	return Value{}
}

func numeric(of func([]float64, int) float64) func([]Value) Value {
	return func(values []Value) Value { return summarize(values, of) }
}

// rangeOf is the difference between the least and the greatest number, or the duration between
// the first and the last date.
func rangeOf(values []Value) Value {
	first, ok := extremeDate(values, -1).Moment()
	if !ok {
		return summarize(values, func(numbers []float64, _ int) float64 { return slices.Max(numbers) - slices.Min(numbers) })
	}
	last, _ := extremeDate(values, 1).Moment()
	return OfSpan(Span{Millis: float64(last.Time.UnixMilli() - first.Time.UnixMilli())})
}

func counted(test func(Value) bool) func([]Value) Value {
	return func(values []Value) Value {
		n := 0
		for _, v := range values {
			if test(v) {
				n++
			}
		}
		return OfNumber(float64(n))
	}
}

// unique counts the different values, ignoring empty ones.
func unique(values []Value) Value {
	known := map[string]bool{}
	for _, v := range values {
		if !v.Empty() {
			known[v.Kind().String()+v.Text()] = true
		}
	}
	return OfNumber(float64(len(known)))
}

func summarize(items []Value, of func(numbers []float64, all int) float64) Value {
	var numbers []float64
	for _, item := range items {
		if item.Kind() == Number {
			numbers = append(numbers, item.Num())
		}
	}
	if len(numbers) == 0 {
		return Value{}
	}
	return OfNumber(of(numbers, len(items)))
}
