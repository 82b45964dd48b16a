package allowlist

import (
	"vaultwicket/tiers"
)

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

// RowLimit is how a command takes the number of rows that a caller wants.
type RowLimit uint8

const (
	// NoRowLimit is the zero value: the command is unknown, or does more than read.
	NoRowLimit RowLimit = iota
	// PagedRows are cut by the gateway. The command has no parameter for it.
	PagedRows
	// LimitedRows have the parameter limit, and are all printed without it.
	LimitedRows
	// FewRows have the parameter limit, and are few without it.
	FewRows
)

// LimitOf returns how a command takes the number of rows.
func LimitOf(name string) RowLimit {
	r := find(name)
	if r == nil || r.effect != tiers.Reads {
		return NoRowLimit
	}
	p := r.param("limit")
	if p == nil {
		return PagedRows
	}
	if p.more {
		return FewRows
	}
	return LimitedRows
}
