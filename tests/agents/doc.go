// Package agents tests what agents with different rights may do in one vault, what each leaves
// behind, and how their rights end.
package agents
