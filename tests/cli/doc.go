// Package cli runs the program as a user meets it. Every .txtar file of the folder script is a script of commands with
// what they must print; UPDATE_SCRIPTS=1 writes what they print into the files. Other tests run the program in a real
// terminal, in windows of several widths, and look at whom a text speaks to: an agent is told what the user can do;
// whoever types a command is the user, and told "you".
package cli
