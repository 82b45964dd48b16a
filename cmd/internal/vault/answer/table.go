package answer

// The forms in which a table is printed.
const (
	FormatJSON = "json"
	FormatTSV  = "tsv"
	FormatCSV  = "csv"
)

// Table are a table to be printed. All cells are text: the app prints numbers
// as strings in JSON too.
type Table struct {
	Columns []string
	Rows    [][]string
	Sparse  bool // cells without text are left out of JSON
}

// Reply returns the table in one of its forms, see [Listing.Reply].
func (r Table) Reply(form string) Reply { return r.listing().Reply(form) }

// Print returns the text of the table in one of its forms.
func (r Table) Print(form string) string {
	said := r.Reply(form)
	text := []byte(said.Text)
	for place := range said.rows.count {
		text = said.rows.row(text, place)
	}
	return string(text)
}

// listing returns the table as a listing. A row may have fewer cells than another.
func (r Table) listing() Listing {
	return Listing{
		Columns: r.Columns, Sparse: r.Sparse, Rows: len(r.Rows), width: func(row int) int { return len(r.Rows[row]) },
		Cell: func(b []byte, row, column int) []byte { return append(b, r.Rows[row][column]...) },
	}
}

// Add adds a row of a name and, if they are wanted, its count.
func (r *Table) Add(counted bool, name, count string) {
	if counted {
		r.Rows = append(r.Rows, []string{name, count})
		return
	}
	r.Rows = append(r.Rows, []string{name})
}
