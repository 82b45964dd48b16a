package allowlist

// Params are the parameters of a request by name, before anything is known
// about them. A name that is missing and the zero [Value] mean the same.
type Params map[string]Value

// Value is one parameter value as a caller gave it: text, a number or a flag.
// The zero Value is absent, like null in JSON.
type Value struct {
	text string
	form form
}

type form uint8

const (
	absent form = iota
	textForm
	numberForm
	flagOn
	flagOff
)

// Text is a value given as text.
func Text(s string) Value { return Value{text: s, form: textForm} }

// Number is a value given as a number, in the digits the caller wrote. Nothing
// is converted here, so no digit is lost to floating point.
func Number(literal string) Value { return Value{text: literal, form: numberForm} }

// Flag is true or false. False is the same as leaving the flag out.
func Flag(on bool) Value {
	if on {
		return Value{form: flagOn}
	}
	return Value{form: flagOff}
}

// Text returns the text or the digits of a value, "" for a flag.
func (v Value) Text() string { return v.text }

// describe names the form of v in an error message.
func (v Value) describe() string {
	switch v.form {
	case textForm:
		return "text"
	case numberForm:
		return "a number"
	case flagOn, flagOff:
		return "true or false"
	}
	return "nothing"
}
