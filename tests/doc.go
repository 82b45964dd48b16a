// Package tests holds the tests that no single room can make: the architecture
// of the house, the binary as a person meets it (script), the wire as a client
// meets it (wire), and the comparisons with real yardsticks (bench).
package tests
