package allowlist

// table holds every row, by tier. There is no map: 115 string comparisons cost
// less than the package initialisation that a map of rows would need.
var table = [...]struct{ rows []row }{{v0Rows}, {v1Rows}, {v1ContentRows}, {v2Rows}, {v3Rows}, {restrictedRows}}

// find returns the row of a command by its exact name, or nil. There is no
// trimming, folding or prefix: "delete:permanent" is not "delete" (the app
// itself would take it for that).
func find(name string) *row {
	for _, part := range table {
		for i := range part.rows {
			if part.rows[i].name == name {
				return &part.rows[i]
			}
		}
	}
	return nil
}

// Names returns the names of all commands in table order: by tier, then in the
// order of the help page.
func Names() []string {
	var names []string
	for _, part := range table {
		for i := range part.rows {
			names = append(names, part.rows[i].name)
		}
	}
	return names
}

// param returns the parameter of that exact name, or nil.
func (r *row) param(name string) *param {
	for i := range r.params {
		if r.params[i].name == name {
			return &r.params[i]
		}
	}
	return nil
}

func (r *row) paramNames() []string {
	names := make([]string, len(r.params))
	for i := range r.params {
		names[i] = r.params[i].name
	}
	return names
}
