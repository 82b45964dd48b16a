// Package changes tests that changes of notes are whole: every text, several writers,
// a process that is killed, and on Windows names that it reserves. The script
// tests/wine/run.sh tests what Wine has of Windows, and these names with it.
package changes
