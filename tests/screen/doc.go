// Package screen tests what a user reads: the program in a real terminal, in windows of several widths, and whom a text
// speaks to. An agent is told what the user can do; whoever types a command is the user, and told "you".
package screen
