package formula

import (
	"path"
	"strings"
)

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
// is resolved as a link in the file at the path from, without its heading or block.
func (r *Row) meant(v Value, from string) Entry {
	if e := v.Entry(); e != nil {
		return e
	}
	t, isLink := v.Target()
	switch {
	case isLink:
	case v.Kind().isText() && v.Text() != "":
		var written bool
		if t, written = ParseLink(v.Text(), from); !written {
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

// hasLink reports whether a file links to another. An unresolved target is compared as written,
// without its heading or block and ignoring case.
func (r *Row) hasLink(from Entry, to Value) bool {
	if to.IsNull() {
		return false
	}
	if target := r.meant(to, from.Path()); target != nil {
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
	if e == nil {
		return Value{}
	}
	if field := fileFields[strings.ToLower(name)]; field != nil {
		return field(r, e)
	}
	return failure(`Cannot find "` + name + `" on type File`)
}

// IsFileField reports whether files have a field with that name, ignoring case.
func IsFileField(name string) bool { return fileFields[strings.ToLower(name)] != nil }
