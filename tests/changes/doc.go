// Package changes tests that changes of notes are whole: every text, several writers,
// a process that is killed.
package changes
