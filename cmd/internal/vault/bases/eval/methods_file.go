package eval

import (
	"path"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/value"
)

func linkMethods() map[string]function {
	return map[string]function{
		"asFile": {run: func(c *call) value.Value { return value.OfEntry(c.row.meant(c.on, c.row.entry)) }},
		"linksTo": {params: []param{{"file", value.Null}}, required: 1, run: func(c *call) value.Value {
			from := c.row.meant(c.on, c.row.entry)
			to := c.row.meant(c.arg(0), c.row.entry)
			return value.OfBool(from != nil && to != nil && c.row.Leads(from, to))
		}},
	}
}

func fileMethods() map[string]function {
	return map[string]function{
		"asLink": {params: []param{{"display", value.Null}}, run: func(c *call) value.Value {
			return value.OfTarget(value.Target{Text: c.on.Entry().Path(), Display: c.arg(0).Text()})
		}},
		"hasLink": {params: []param{{"otherFile", value.Null}}, required: 1, run: func(c *call) value.Value {
			return value.OfBool(c.row.hasLink(c.on.Entry(), c.arg(0)))
		}},
		"hasProperty": {params: []param{{"name", value.Null}}, required: 1, run: func(c *call) value.Value {
			_, found := c.on.Entry().Property(c.arg(0).Text())
			return value.OfBool(found)
		}},
		"hasTag": {required: 1, more: true, run: func(c *call) value.Value {
			for _, wanted := range flattened(c.args) {
				if found, ok := c.row.listHas(c.on.Entry().Tags().Items(), wanted); found || !ok {
					return c.tested(found, ok)
				}
			}
			return value.OfBool(false)
		}},
		"inFolder": {params: []param{{"folder", value.Null}}, required: 1, run: func(c *call) value.Value {
			return value.OfBool(!c.arg(0).IsNull() && inFolder(c.on.Entry().Path(), c.arg(0).Text()))
		}},
	}
}

// meant returns the file that a file, a link or a text stands for, nil if there is
// none. A text is a link in the file from; its heading or block does not count.
func (r *Row) meant(v value.Value, from value.Entry) value.Entry {
	if e := v.Entry(); e != nil {
		return e
	}
	t, isLink := v.Target()
	switch {
	case isLink:
	case v.Kind().IsText() && v.Text() != "":
		var written bool
		if t, written = value.ParseLink(v.Text(), from.Path()); !written {
			t = value.Target{Text: v.Text(), From: from.Path()}
		}
	default:
		return nil
	}
	name, _, _ := strings.Cut(t.Text, "#")
	return r.resolve(name, t.From)
}

// hasLink reports whether a file links to another one. Of a link that leads
// nowhere it is what is written that counts, without its heading or block and
// without regard to case.
func (r *Row) hasLink(from value.Entry, to value.Value) bool {
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

// inFolder reports whether a file lies in a folder or below it. The vault's own
// folder is "/" or nothing.
func inFolder(file, folder string) bool {
	folder = strings.Trim(folder, "/")
	return folder == "" || strings.HasPrefix(file, folder+"/")
}

// fileField returns a field of a file, in any case of its name.
func (r *Row) fileField(e value.Entry, name string) value.Value {
	if e == nil || e == noFile {
		return value.Value{}
	}
	switch strings.ToLower(name) {
	case "file":
		return value.OfEntry(e)
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
		return value.OfNumber(float64(e.Size()))
	case "ctime":
		return value.OfMoment(value.Moment{Time: e.Created().In(r.Now.Location()), HasTime: true})
	case "mtime":
		return value.OfMoment(value.Moment{Time: e.Modified().In(r.Now.Location()), HasTime: true})
	}
	return nameField(e.Path(), name)
}

// nameField returns a field that is a part of the path.
func nameField(file, name string) value.Value {
	full, ext := path.Base(file), path.Ext(file)
	switch strings.ToLower(name) {
	case "path":
		return value.OfText(file)
	case "fullname":
		return value.OfText(full)
	case "basename":
		return value.OfText(strings.TrimSuffix(full, ext))
	case "name":
		if ext == ".md" {
			full = strings.TrimSuffix(full, ext)
		}
		return value.OfText(full)
	case "ext":
		return value.OfText(strings.TrimPrefix(ext, "."))
	case "folder":
		return value.OfText(folderOf(file))
	}
	return value.Failure(`Cannot find "` + name + `" on type File`)
}

// folderOf returns the folder of a file, "/" for the vault's own.
func folderOf(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return file[:i]
	}
	return "/"
}

// IsFileField reports whether a file has a field of that name.
func IsFileField(name string) bool {
	switch strings.ToLower(name) {
	case "file", "properties", "tags", "links", "embeds", "backlinks", "size", "ctime", "mtime",
		"path", "fullname", "basename", "name", "ext", "folder":
		return true
	}
	return false
}
