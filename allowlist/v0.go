package allowlist

import "github.com/vaultwicket/vaultwicket/tiers"

// v0Rows are the commands of tier v0: daily and random notes, help and version.
var v0Rows = []row{
	// The gateway probes the Obsidian CLI with it, so every tier includes it.
	{name: "help", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"ask for help", "asked for help", "on"}, builtIn: true,
		target: targetNone, reach: reachNothing,
		summary: "List the enabled commands, or explain one",
		params:  []param{{name: "command", kind: kindWord, summary: "The command to explain, a bare word"}}, since: release{1, 12, 2}, // the name of one command
		reply: Reply{Kind: Facts}, ownAnswer: AnswersHelp},
	// In every tier, because the gateway checks the version with it.
	{name: "version", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"ask for the version", "asked for the version", "of"}, probes: true, builtIn: true,
		target: targetNone, reach: reachNothing,
		summary: "Print the versions of the app and of its installer", reply: Reply{Kind: Facts}},
	// It creates a missing note, from a template that may run scripts. The call
	// does not tell whether the note exists, so it counts as a write.
	{name: "daily", tier: tiers.V0, effect: tiers.Writes,
		verb:    verb{"open the daily note", "opened the daily note", ""},
		target:  targetDaily,
		summary: "Open today's daily note in the app; create it if it is missing", alwaysShows: true,
		params: []param{{name: "paneType", kind: kindChoice, choices: panes, rare: true, summary: "Where to open it"}},
		reply:  Reply{Kind: Confirmation, Confirms: []string{"Opened: "}}},
	{name: "daily:path", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"ask for the path of the daily note", "asked for the path of the daily note", ""}, naming: namesNotAll,
		target:  targetDaily,
		summary: "Print the path of today's daily note, even if it does not exist", params: []param{onDay, daysAway}, exclusive: dayOrOffset,
		since: release{1, 12, 2}, reply: Reply{Kind: Facts, Form: NotePath}, printsPath: true},
	// The app creates a missing note and prints nothing (recorded on 1.13.7). It counts as a read, because it is
	// never sent to the app: its steps read the note by its path instead.
	{name: "daily:read", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"read the daily note", "read the daily note", ""}, naming: namesNotAll,
		target: targetDaily, summary: "Print today's daily note",
		params: []param{onDay, daysAway}, exclusive: dayOrOffset, reply: Reply{Kind: Content}, steps: readsDailyByPath,
		printsNote: true},
	// It creates a missing note. One release confirmed with "Added to: ", another
	// printed nothing; the embedded vault CLI follows the first.
	{name: "daily:append", tier: tiers.V0, effect: tiers.Writes,
		verb:   verb{"add to the daily note", "added to the daily note", ""},
		target: targetDaily, summary: "Add text at the end of today's daily note",
		shows: showsOpen, params: []param{newText, openPane, inlineEnd, openAfter, belowHeading, createHeading, rareDay, daysAway},
		exclusive: [][]string{{"heading", "inline"}, {"date", "offset"}},
		needs:     paneAndHeadingNeeds, since: release{1, 12, 2}, // before, it opened the note unless told not to
		reply: Reply{Kind: Confirmation, Confirms: []string{"Added to: ", "Appended to: "}, Silent: true}},
	// Confirmed like daily:append.
	{name: "daily:prepend", tier: tiers.V0, effect: tiers.Writes,
		verb:    verb{"add to the daily note", "added to the daily note", ""},
		target:  targetDaily,
		summary: "Add text at the top of today's daily note, below its properties", shows: showsOpen,
		params: []param{newText, openPane, inlineStart, openAfter, rareDay, daysAway}, exclusive: dayOrOffset,
		needs: paneNeeds, since: release{1, 12, 2}, // the same as daily:append
		reply: Reply{Kind: Confirmation, Confirms: []string{"Added to: ", "Prepended to: "}, Silent: true}},
	{name: "random", tier: tiers.V0, effect: tiers.Shows,
		verb: verb{"open a random note", "opened a random note", ""}, naming: namesNotAll,
		target: targetNone, needsApp: true, summary: "Open a random note in the app",
		params: []param{{name: "folder", kind: kindFolder, summary: "Only notes in this folder"}, inNewTab},
		reply:  Reply{Kind: Confirmation, Confirms: []string{"Opened: "}, Empty: "No markdown files found."}, random: true},
	// According to the help page it prints the path and then the text; another
	// description has only the text. So the first line may be either.
	{name: "random:read", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"read a random note", "read a random note", ""}, naming: namesNotAll,
		target: targetNone, summary: "Print a random note with its path",
		params: []param{
			{name: "folder", kind: kindFolder, summary: "Only notes in this folder"},
			{name: "count", kind: kindNumber, least: 1, most: maxRandom, embeddedOnly: true, summary: "Number of different notes"},
			{name: "min-age", kind: kindAge, most: maxDays, embeddedOnly: true, summary: "Only notes unchanged for this many days, or since a date"},
			{name: "seed", kind: kindNumber, most: maxNumber, embeddedOnly: true, rare: true, summary: "The same seed picks the same notes"},
		}, reply: Reply{Kind: Content, Empty: "No markdown files found.", Headings: ArrowHeadings}, random: true},
	// An extension: several days in one answer of limited size, which names missing days.
	{name: "daily:range", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"read daily notes", "read daily notes", ""}, naming: namesNotAll,
		target: targetDaily, embeddedOnly: true,
		summary: "Print the daily notes of several days",
		params: []param{
			{name: "from", kind: kindDate, required: true, summary: "The first day, such as 2026-11-21, -7d, monday or 2026-W47"},
			{name: "to", kind: kindDate, summary: "The last day (default: today)"},
			{name: "heading", kind: kindName, rare: true, summary: "Only the section of this heading"},
		}, reply: Reply{Kind: Content, Headings: ArrowHeadings}},
	// An extension that the gateway itself answers, because it knows the caller.
	{name: "undo:list", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"list its changes", "listed its changes", "of"}, naming: namesNotAll,
		target: targetNone, embeddedOnly: true,
		summary: "List your changes that undo can take back, newest first",
		params: []param{
			{name: "limit", kind: kindNumber, least: 1, most: maxRecent, rare: true, more: true, summary: "Maximum number of changes (default: 20)"},
		}, reply: Reply{Kind: Lines}, ownAnswer: AnswersUndoList},
	// An extension that the gateway itself answers.
	{name: "approvals", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"list its pending approvals", "listed its pending approvals", "of"}, naming: namesNothing,
		target: targetNone, embeddedOnly: true,
		summary: "List your calls that wait for the user's approval",
		params: []param{
			{name: "wait", kind: kindNumber, least: 1, most: 50, rare: true, summary: "Maximum number of seconds to wait until the user has decided one"},
			{name: "withdraw", kind: kindName, rare: true, summary: "Withdraw the call with this id, or all"},
		},
		reply: Reply{Kind: Lines}, ownAnswer: AnswersApprovals},
	// An extension: daily shows the note in the app, and only that of today.
	{name: "daily:ensure", tier: tiers.V0, effect: tiers.Writes,
		verb:   verb{"create a daily note", "created a daily note", ""},
		target: targetDaily, embeddedOnly: true,
		summary: "Create the daily note of a day if it is missing", params: []param{ensuredDay},
		reply: Reply{Kind: Confirmation, Confirms: []string{"Created: ", "Exists: "}}},
	// Three extensions: the app has no notes of weeks, months, quarters and years.
	{name: "periodic:path", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"ask for the path of a periodic note", "asked for the path of a periodic note", ""}, naming: namesNotAll,
		target: targetDaily, embeddedOnly: true,
		summary: "Print the path of the note of a week, month, quarter or year", params: []param{tersePeriod, dayInPeriod},
		reply: Reply{Kind: Facts}},
	{name: "periodic:read", tier: tiers.V0, effect: tiers.Reads,
		verb: verb{"read a periodic note", "read a periodic note", ""}, naming: namesNotAll,
		target: targetDaily, embeddedOnly: true,
		summary: "Print the note of a week, month, quarter or year, or several",
		params: []param{
			whichPeriod, dayInPeriod,
			{name: "from", kind: kindDate, rare: true, summary: "All notes from the period of this day on"},
			{name: "to", kind: kindDate, rare: true, summary: "The last day (default: today)"},
			{name: "heading", kind: kindName, rare: true, summary: "Only the section of this heading"},
		}, exclusive: [][]string{{"date", "from"}}, needs: []need{{"to", []string{"from"}}},
		reply: Reply{Kind: Content, Headings: ArrowHeadings}},
	{name: "periodic:append", tier: tiers.V0, effect: tiers.Writes,
		verb:   verb{"add to a periodic note", "added to a periodic note", ""},
		target: targetDaily, embeddedOnly: true,
		summary: "Add text to the note of a week, month, quarter or year",
		params: []param{
			tersePeriod, newText, dayInPeriod,
			{name: "inline", kind: kindFlag, rare: true, summary: "Continue the last line"},
			{name: "heading", kind: kindName, rare: true, summary: "Below this heading, before the next one; A#B is B below A"},
			makeHeading,
		}, exclusive: inlineOrHeading, needs: headingNeeds, reply: Reply{Kind: Confirmation, Confirms: []string{"Added to: "}}},
	// An extension of the embedded vault CLI, which has the journal. An undo is a
	// change like any other, and can be undone itself.
	{name: "undo", tier: tiers.V0, effect: tiers.Writes,
		verb: verb{"undo a change", "undid a change", "of"}, undoes: true,
		target: targetNone, embeddedOnly: true,
		summary: "Take back a change made through this gateway",
		params: []param{
			{name: "id", kind: kindText, asked: askedByChange, summary: "Ids of changes, with commas (default: the caller's latest or its batch)"},
			{name: "batch", kind: kindName, rare: true, summary: "The id of a change: take back the batch that it belongs to"},
			{name: "session", kind: kindName, rare: true, summary: "The id of a change: take back all of its session"},
		}, exclusive: [][]string{{"id", "batch", "session"}}, reply: Reply{Kind: Confirmation, Confirms: []string{"Undone: "}}},
}
