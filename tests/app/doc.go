// Package app tests that the program answers as the app does: with an app that tests/programs/fakeobsidian plays, and with the
// embedded CLI, which is compared with a second, slow implementation of its reads and with what the app says of the
// same notes.
package app
