// Package screen has tests of the program in a real terminal: what a user sees in windows of
// several widths.
package screen
