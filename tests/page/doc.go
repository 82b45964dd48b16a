// Package page tests the local page of the program from outside, without a browser: what
// it shows, what it decides, and who reaches it. The tests in a browser are in tests/ui.
package page
