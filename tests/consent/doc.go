// Package consent tests that the user decides: what needs an approval, what the user is shown, what an approval covers,
// what agents can do with what was allowed in advance, and what becomes of the changes that they propose. It also tests
// what agents with different rights may do in one vault, what each leaves behind, and how their rights end.
package consent
