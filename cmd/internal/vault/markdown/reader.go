package markdown

// reader reads the target of an inline link. It looks at no byte twice, and at
// is how far it came, whether it found a target or not.
type reader struct {
	text []byte
	at   int
}

// destination reads what stands behind the opening bracket, up to and with the
// closing one: a target and perhaps a title.
func (r *reader) destination() (target []byte, ok bool) {
	r.blanks()
	if r.next() == '<' {
		r.at++
		target, ok = r.angle()
	} else {
		target, ok = r.plain()
	}
	if !ok || r.blanks() > 0 && !r.title() || r.next() != ')' {
		return nil, false
	}
	r.at++
	return target, true
}

// next returns the byte at hand, 0 at the end.
func (r *reader) next() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// blanks passes blanks and returns how many.
func (r *reader) blanks() int {
	start := r.at
	for isBlank(r.next()) {
		r.at++
	}
	return r.at - start
}

// angle reads a target in angle brackets behind the opening one.
func (r *reader) angle() (target []byte, ok bool) {
	start := r.at
	if !r.until('>', '<') {
		return nil, false
	}
	return r.text[start : r.at-1], true
}

// until passes text up to and with closing; it fails at a stop before.
func (r *reader) until(closing, stop byte) bool {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case closing:
			r.at++
			return true
		case stop:
			return false
		}
	}
	return false
}

// maxNesting bounds the round brackets within a target, and by that how often
// a text full of them is looked at.
const maxNesting = 32

// plain reads a target without angle brackets. It ends at a blank, or at a
// closing bracket that has no opening one in it.
func (r *reader) plain() (target []byte, ok bool) {
	start, nested := r.at, 0
	for ; r.at < len(r.text); r.at++ {
		switch b := r.text[r.at]; {
		case b == '\\' && r.at+1 < len(r.text) && isPunctuation(r.text[r.at+1]):
			r.at++
		case b == '(':
			nested++
			if nested > maxNesting {
				return nil, false
			}
		case b == ')' && nested > 0:
			nested--
		case b == ')' || b <= ' ':
			return r.text[start:r.at], nested == 0
		}
	}
	return nil, false
}

// title passes the title of a link and the blanks behind it. It fails at one
// that does not end; where none is, there is nothing to pass.
func (r *reader) title() bool {
	mark := r.next()
	switch mark {
	case '"', '\'':
		r.at++
		if !r.until(mark, 0) {
			return false
		}
	case '(':
		r.at++
		if !r.until(')', '(') {
			return false
		}
	}
	r.blanks()
	return true
}
