// Package app tests that the program answers as the app does: with an app that tests/programs/fakeobsidian plays, and
// with the embedded CLI, which is compared with a second, slow implementation of its reads and with what the app says
// of the same notes.
//
// The scripts of the folder twin run against the embedded vault CLI and, where
// there is one, against the real app. What they expect was recorded from the app
// or is documented; layouts that were never seen are in no script.
//
// The half with the app needs a vault made for it alone, opened in the app:
//
//	VAULTWICKET_TWIN=obsidian VAULTWICKET_TWIN_VAULT=/home/me/Twin go test ./tests/app -run "^(TestEmbedded|TestApp)$" -v
//
// Run it by itself: elsewhere the program takes these two variables for settings
// that are misspelled, and does not start.
//
// It never touches anybody's notes. A folder is filled with the fixture only if
// it contains nothing but the settings of the app; it is used again only if it
// carries the mark that the filling left and every file in it is, byte for byte,
// one of the fixture. Nothing is ever removed or written over, and scripts hold
// reading commands alone.
//
// A script is a txtar file. Its text is a list of steps:
//
//	# a sentence about what follows
//	$ backlinks path=Sea/Tides.md counts
//	= unordered
//	> Moon.md⇥2
//
// "$" is a command line, in which single quotes hold blanks together; ">" is a
// line of the expected output; "?" is the exit status of the embedded program,
// where it is not 0 (the app's is always 0). "=" says how to compare: unordered
// (the app promises no order), json (as values, not as text), or first (only
// the first line). "⇥" stands for a tab, $VAULT for the vault's name, $FOLDER
// for its folder, $TODAY for the date.
//
// A known difference is written down with its reason after "~", followed by
// what the app prints in lines of "<". If the two no longer differ, the script
// fails.
package app
