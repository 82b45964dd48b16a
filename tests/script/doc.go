// Package script runs the program as a user meets it: every .txtar file of this folder
// is a script of commands with what they must print. UPDATE_SCRIPTS=1 writes what they
// print into the files.
package script
