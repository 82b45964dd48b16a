// Package require ends a test where its conditions are not met.
package require

// NoError ends the test at the first of the errors that is not nil.
func NoError(t interface {
	Helper()
	Fatal(args ...any)
}, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
