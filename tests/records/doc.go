// Package records tests what a server sends to the records of a team, and how a log that was
// written anew is found.
package records
