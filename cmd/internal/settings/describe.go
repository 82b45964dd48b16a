package settings

// Description is what documents tell of a setting.
type Description struct{ Name, Variable, Default, Usage string }

// Describe returns what documents tell of each setting, in the order of the help text.
func Describe() []Description {
	var list []Description
	for _, s := range table {
		list = append(list, Description{s.name, VariableOf(s.name), s.fallback, s.usage})
	}
	return list
}

// DescribeVault returns the keys of a table [[vaults]], each with what it means.
func DescribeVault() (list [][2]string) {
	properties := vaultSchema()["properties"].(object)
	for _, key := range vaultKeys {
		list = append(list, [2]string{key, properties[key].(object)["description"].(string)})
	}
	return list
}

// levelTexts say what each level of access allows.
var levelTexts = []string{"no access; it is hidden completely", "it can be read, listed and found", "also, it can be created and changed", "also, it can be removed, replaced and moved away"}

// DescribeLevels returns the levels of access, each with what may be done with a note.
func DescribeLevels() (list [][2]string) {
	for i, name := range levelNames() {
		list = append(list, [2]string{name, levelTexts[i]})
	}
	return list
}
