package vault

// Commands returns the names of all that this program answers, sorted.
func Commands() []string {
	var names []string
	for _, row := range table() {
		names = append(names, row.name)
	}
	return names
}
