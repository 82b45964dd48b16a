// Package ui has the tests of the local page in a real browser. It is a module of its own,
// so that the program does not depend on what drives the browser.
package ui
