package edit

// AppendUnder returns the note with content at the end of what stands under a
// heading, before the next heading of any level. A line break parts it from what
// is around it, if content does not bring it, and a blank line where it would
// else become a part of that; the blank lines before the next heading stay
// behind it. The errors are *[NotFound], *[Ambiguous] and *[Refusal].
func AppendUnder(text []byte, heading, content string) ([]byte, error) {
	d := read(text)
	i, err := FindHeading(d.found, heading)
	if err != nil {
		return nil, err
	}
	h := d.found.Headings[i]
	if err := d.below(h, content); err != nil {
		return nil, err
	}
	return d.insert(d.ownEnd(i), content, true)
}

// ownEnd returns where the line begins behind the last that is not blank under
// a heading.
func (d *doc) ownEnd(i int) int {
	h := d.found.Headings[i]
	limit := len(d.text)
	if i+1 < len(d.found.Headings) {
		limit = d.found.Headings[i+1].At
	}
	end := d.behind(h)
	for at := end; at < limit && at < len(d.text); {
		next := d.next(at)
		if next <= limit && kindOf(d.lineAt(at)) != blank {
			end = next
		}
		at = next
	}
	return end
}
