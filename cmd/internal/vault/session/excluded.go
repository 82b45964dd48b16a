package session

import (
	"regexp"
	"slices"
	"strings"
)

// Excluded returns the test for files that the user has excluded. They are
// left out of searches and of the lists of tags and properties; links still
// lead to and from them.
func (v *Vault) Excluded() (func(path string) bool, error) {
	filters, err := v.filters()
	if err != nil {
		return nil, err
	}
	return excludes(filters), nil
}

// excludes returns the test for the files that filters exclude.
func excludes(filters []string) func(path string) bool {
	tests := make([]func(string) bool, 0, len(filters))
	for _, filter := range filters {
		tests = append(tests, exclusion(filter))
	}
	return func(path string) bool {
		return slices.ContainsFunc(tests, func(test func(string) bool) bool { return test(path) })
	}
}

// filters returns the user's setting as it is written.
func (v *Vault) filters() ([]string, error) {
	var app struct {
		Filters []string `json:"userIgnoreFilters"`
	}
	err := v.ReadConfig("app.json", &app)
	return app.Filters, err
}

// exclusion reads one filter: a regular expression between slashes, else the
// path of a file or the beginning of paths. An expression that this program
// cannot read excludes nothing.
func exclusion(filter string) func(path string) bool {
	if len(filter) > 2 && filter[0] == '/' && strings.HasSuffix(filter, "/") {
		expression, err := regexp.Compile(filter[1 : len(filter)-1])
		if err != nil {
			return func(string) bool { return false }
		}
		return expression.MatchString
	}
	filter = strings.TrimSuffix(filter, "/")
	return func(path string) bool {
		rest, found := strings.CutPrefix(path, filter)
		return found && filter != "" && (rest == "" || rest[0] == '/')
	}
}
