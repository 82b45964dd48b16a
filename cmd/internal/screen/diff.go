package screen

// Signed paints a row of a difference by its sign: what is removed, and what is added.
func (s Screen) Signed(sign, row string) string {
	switch sign {
	case "-":
		return s.Paint(Bad, row)
	case "+":
		return s.Paint(Good, row)
	}
	return row
}
