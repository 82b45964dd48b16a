package formula

import (
	"path"
	"strings"
	"time"
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
	return r.resolve(name, t.From)
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

// fileField returns a field of a file; name is case-insensitive.
func (r *Row) fileField(e Entry, name string) Value {
	if e == nil || e == noFile {
		return Value{}
	}
	switch strings.ToLower(name) {
	case "file":
		return ofEntry(e)
	case "properties":
		return e.Properties()
	case "tags":
		return e.Tags()
	case "links":
		return e.Links()
	case "embeds":
		return e.Embeds()
	case "backlinks":
		return r.Backlinks(e)
	case "size":
		return OfNumber(float64(e.Size()))
	case "ctime":
		return OfMoment(Moment{Time: e.Created().In(r.Now.Location()), HasTime: true})
	case "mtime":
		return OfMoment(Moment{Time: e.Modified().In(r.Now.Location()), HasTime: true})
	}
	file := e.Path()
	full, ext := path.Base(file), path.Ext(file)
	switch strings.ToLower(name) {
	case "path":
		return OfText(file)
	case "fullname":
		return OfText(full)
	case "basename":
		return OfText(strings.TrimSuffix(full, ext))
	case "name":
		if ext == ".md" {
			full = strings.TrimSuffix(full, ext)
		}
		return OfText(full)
	case "ext":
		return OfText(strings.TrimPrefix(ext, "."))
	case "folder":
		if i := strings.LastIndexByte(file, '/'); i >= 0 {
			return OfText(file[:i])
		}
		return OfText("/")
	}
	return failure(`Cannot find "` + name + `" on type File`)
}

// IsFileField reports whether files have a field with that name, ignoring case.
func IsFileField(name string) bool {
	switch strings.ToLower(name) {
	case "file", "properties", "tags", "links", "embeds", "backlinks", "size", "ctime", "mtime",
		"path", "fullname", "basename", "name", "ext", "folder":
		return true
	}
	return false
}

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
