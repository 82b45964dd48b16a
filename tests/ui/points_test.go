package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/tests/require"

	"vaultwicket/tests/assert"
)

// What the page has to do for its owner, each with the tests that show it.
var points = map[string][]string{
	"the first view tells today: a sentence, what waits, what was changed by agent and batch, what was refused and why, and the first steps": {"TestTheOverviewTellsToday", "TestTheOverviewIsBounded"},
	"notes by name, and nothing new is stored":                                  {"TestNotesByName", "TestChangesOfHiddenNotesDoNotExist"},
	"a question says who wants what, with its whole change; what became of it":  {"TestSeveralQuestionsAreAnsweredTogether", "TestQuestionsOfEndedSessions", "TestQuestionsAreReadBackAsTheChange", "TestALongDifferenceIsFoldedAfterItsBeginning", "TestApproveAndDenyInTheBrowser"},
	"a change: words, numbers, as it reads, in the app, again, with later ones": {"TestDifferencesMarkWords", "TestQuestionsAreReadBackAsTheChange", "TestANoteAsItReadsHasPlainTagsOnly", "TestTheAddressForTheAppIsEncoded", "TestLaterChangesOfANoteAreUndoneTogether", "TestTheUndoOfASessionSkipsWhatWasChanged", "TestUndoInTheBrowser"},
	"undo while agents are paused":                                              {"TestPauseAndResumeOnThePage"},
	"why a call was denied, and the line that allows it, which is copied":       {"TestTheLineThatIsShownAllowsTheCall", "TestTheLineIsCopied"},
	"calls in the order of time, repetitions in one row, yours marked":          {"TestACallThatIsWrittenLateIsListedWhereItBegan", "TestPagesOfCallsAndChanges", "TestTheOwnersCallsAreNotAnAgents"},
	"filters that stay, bars that filter, new calls when they are asked for":    {"TestFiltersSurviveAPage", "TestFilters", "TestNewCallsAreShownWhenAskedFor"},
	"agents: rights, calls, pause, revoke, undo of today":                       {"TestAgentsOnThePage"},
	"banners: paused, the program gone, a problem of health":                    {"TestTwoWindows", "TestAPageSaysThatItsProgramIsGone", "TestTheOverviewNamesProblems"},
	"icon and title count, a notification, a sound; notes that go":              {"TestTabsThatAreNotSeenCount", "TestANotification", "TestASound", "TestWhatWasDoneIsToldForAWhile"},
	"post, redirect, get":           {"TestFormsLeadToAView", "TestFormsLeadBackWithTheFilters", "TestWhatWasDoneIsToldForAWhile"},
	"no width is too narrow; print": {"TestNoViewIsWiderThanTheWindow", "TestPrint"},
	"files are kept, views fetched once, and twice a second at most": {"TestFilesAreCompressedAndKept", "TestAViewIsFetchedOnce", "TestUpdatesAreCoalesced"},
	"long lists in pages":                     {"TestPagesOfCallsAndChanges", "TestAHundredThousandLines"},
	"what is said to those who hear the page": {"TestEveryViewIsAccessible", "TestKeyboardOnly", "TestTheFocusStays"},
	"hostile text":                            {"TestHostileText", "TestHostileTextIsText"},
	"two browsers, and pictures of all views": {"TestEveryViewInFirefox", "TestAWalkInFirefox", "TestPictures"},
}

func TestEveryPointHasATest(t *testing.T) {
	var all strings.Builder
	for _, pattern := range []string{"*_test.go", "../page/*_test.go", "../../gateway/ui/*_test.go", "../../gateway/ui/activity/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.That(t, err == nil && len(files) != 0, "%s: %q, %v", pattern, files, err)
		for _, name := range files {
			text := require.Value(os.ReadFile(name))(t)
			all.Write(text)
		}
	}
	for point, tests := range points {
		for _, name := range tests {
			assert.That(t, strings.Contains(all.String(), "\nfunc "+name+"(t *testing.T)"), "%s: there is no test %s", point, name)
		}
	}
}
