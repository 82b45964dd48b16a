// Package consent tests that the user decides: what needs an approval, what the user is shown, what an approval covers,
// what agents can do with what was allowed in advance, and what becomes of the changes that they propose.
package consent
