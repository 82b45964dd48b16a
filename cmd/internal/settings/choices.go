package settings

// Choices returns the values that a setting can have, by the name of its flag; nil where
// any value will do, or there is no such setting.
func Choices(name string) []string {
	for _, s := range table {
		if s.name == name {
			return s.form.choices
		}
	}
	return nil
}
