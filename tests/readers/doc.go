// Package readers has tests of whom a text speaks to: an agent is told what the user can do, and whoever types a command
// is the user, and told "you".
package readers
