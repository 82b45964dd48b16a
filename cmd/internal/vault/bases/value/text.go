package value

import (
	"strings"

	"vaultwicket/cmd/internal/vault/frontmatter"
)

// MaxText bounds a text in bytes.
const MaxText = 16 << 20

// errTooLong is what is said of a longer one.
const errTooLong = "A text has at most 16 MiB."

// Bounded returns a text, or an error if it is too long.
func Bounded(text string) Value {
	if len(text) > MaxText {
		return Failure(errTooLong)
	}
	return OfText(text)
}

// Text returns what toString() makes of v, which is also what a cell shows.
func (v Value) Text() string {
	switch v.kind {
	case String, HTML, Icon, URL, Tag:
		return v.text
	case Number:
		return frontmatter.FormatNumber(v.number)
	case Boolean:
		return truthWord(v.number != 0)
	case Error:
		return "Error: " + v.text
	case Image:
		return "![](" + v.text + ")"
	}
	return v.composedText()
}

// composedText is the text of what is more than one.
func (v Value) composedText() string {
	if t, ok := v.Target(); ok {
		return t.String()
	}
	switch ref := v.ref.(type) {
	case Moment:
		return ref.String()
	case Span:
		return ref.Humanize()
	case []Value, *unmade:
		return Join(v.Items(), ", ")
	case *Fields:
		return string(v.appendJSON(nil))
	case Entry:
		return ref.Path()
	case *Pattern:
		return "/" + ref.Body + "/" + ref.Flags
	}
	return ""
}

func truthWord(truth bool) string {
	if truth {
		return "true"
	}
	return "false"
}

// String returns the link as it is written.
func (t Target) String() string {
	if t.Display == "" {
		return "[[" + t.Text + "]]"
	}
	return "[[" + t.Text + "|" + t.Display + "]]"
}

// Join returns the texts of items with separator between them; that of null is
// empty. What would be longer than a text may be ends with the element that is.
func Join(items []Value, separator string) string {
	var out strings.Builder
	for i, item := range items {
		if i > 0 {
			out.WriteString(separator)
		}
		out.WriteString(item.Text())
		if out.Len() > MaxText {
			break
		}
	}
	return out.String()
}

// JSON returns v as JSON without blanks: numbers, booleans, lists and objects as
// such, null for null and for numbers that JSON does not have, and the text of
// everything else.
func (v Value) JSON() []byte { return v.appendJSON(nil) }

func (v Value) appendJSON(out []byte) []byte {
	switch v.kind {
	case Null:
		return append(out, "null"...)
	case Number:
		if v.number-v.number != 0 {
			return append(out, "null"...)
		}
		return append(out, v.Text()...)
	case Boolean:
		return append(out, v.Text()...)
	case List:
		return appendAll(out, '[', ']', v.Items(), nil)
	case Object:
		f := v.Fields()
		return appendAll(out, '{', '}', f.Values, f.Keys)
	}
	return frontmatter.AppendQuoted(out, v.Text())
}

// appendAll appends elements between brackets, each behind its key, if there are
// keys.
func appendAll(out []byte, opening, closing byte, items []Value, keys []string) []byte {
	out = append(out, opening)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		if keys != nil {
			out = append(frontmatter.AppendQuoted(out, keys[i]), ':')
		}
		out = item.appendJSON(out)
		if len(out) > MaxText {
			break
		}
	}
	return append(out, closing)
}

// Truthy reports whether a filter takes v for true.
func (v Value) Truthy() bool {
	switch v.kind {
	case Null, Error:
		return false
	case Number, Boolean:
		return v.number != 0 && v.number == v.number
	case String, HTML, Icon, Image, URL, Tag:
		return v.text != ""
	case List:
		return v.Len() > 0
	case Object:
		return len(v.Fields().Keys) > 0
	case Duration:
		s, _ := v.Span()
		return s != Span{}
	}
	return true
}

// Empty reports what isEmpty() does: there is nothing in v. A number, a boolean,
// a date and a file never are empty.
func (v Value) Empty() bool {
	switch v.kind {
	case Null:
		return true
	case List:
		return v.Len() == 0
	case Object:
		return len(v.Fields().Keys) == 0
	}
	return v.kind.IsText() && v.kind != Link && v.text == ""
}

// Size returns about how many bytes v takes besides itself, with all that is in it.
func (v Value) Size() int {
	if v.kind == List || v.kind == Object {
		return v.extent().elements * element
	}
	return len(v.text)
}

// element is how many bytes of memory a value takes in a list.
const element = 48

// Shallow returns how many bytes of memory v takes, without those of its elements.
func (v Value) Shallow() int {
	switch v.kind {
	case List:
		return element * (1 + v.Len())
	case Object:
		return element * (1 + 2*len(v.Fields().Keys))
	}
	return len(v.text)
}

// Deep returns how many bytes of memory v takes, with its elements. One that is there twice
// counts twice.
func (v Value) Deep() int {
	n := v.Shallow()
	switch v.kind {
	case List:
		for _, item := range v.Items() {
			n += item.Deep()
		}
	case Object:
		for _, item := range v.Fields().Values {
			n += item.Deep()
		}
	}
	return n
}
