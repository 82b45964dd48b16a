// Package consent tests approvals: what needs one, what the user is shown, and what an
// approval covers.
package consent
