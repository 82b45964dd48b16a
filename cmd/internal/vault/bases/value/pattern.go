package value

// Pattern is a regular expression in the dialect of JavaScript, as it is written.
// Whoever matches it compiles it.
type Pattern struct {
	Body, Flags string
	// Compiled is what Body and Flags stand for; only its maker knows the type.
	Compiled any
}

// OfPattern returns a regular expression.
func OfPattern(p *Pattern) Value { return Value{kind: RegExp, ref: p} }

// Pattern returns the regular expression that v is, nil for every other value.
func (v Value) Pattern() *Pattern {
	p, _ := v.ref.(*Pattern)
	return p
}
