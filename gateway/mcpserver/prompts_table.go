package mcpserver

import (
	"cmp"
	"fmt"
)

// allPrompts returns the prompts, in the order in which they are listed.
func allPrompts() []promptTask {
	return []promptTask{
		{
			Name: "morning-review", Title: "Morning review",
			Description: "Start the day: plans, open items, recent work",
			arguments: []promptArgument{
				dateArgument,
				numberArgument("days", "number of days before it to read", 1, maxDays, 1, 2, 3, 7, 14),
			},
			write: morningReview,
		},
		{
			Name: "evening-journal", Title: "Evening journal",
			Description: "End the day: a short journal entry from today's note, its tasks and the changed notes",
			arguments:   []promptArgument{headingArgument},
			write:       eveningJournal,
		},
		{
			Name: "weekly-rollup", Title: "Weekly summary",
			Description: "Summarize several days: done, decided and open items, each with a link",
			arguments: []promptArgument{
				dateArgument,
				numberArgument("days", "number of days up to it", 1, maxDays, 7, 14, 28, 31),
				headingArgument,
			},
			write: weeklyRollup,
		},
		{
			Name: "surprise-me", Title: "Surprise me",
			Description: "Pick random notes and find connections between them",
			arguments: []promptArgument{
				numberArgument("count", "number of notes", 1, maxCount, 3, 1, 2, 5, 10),
				numberArgument("min-age", "only notes unchanged for this number of days", 0, maxAge, 0, 7, 30, 90, 365),
			},
			write: surpriseMe,
		},
		{
			Name: "inbox-triage", Title: "Inbox triage",
			Description: "Sort the notes of an inbox folder: where each belongs, its tags, its tasks",
			arguments: []promptArgument{
				folderArgument,
				numberArgument("count", "number of notes", 1, maxTriaged, 10, 5, 20),
			},
			write: inboxTriage,
		},
		{
			Name: "briefing", Title: "Briefing",
			Description: "Prepare for a topic or a meeting from what the notes say, each point with its source",
			arguments: []promptArgument{
				topicArgument,
				numberArgument("days", "number of days to look back", 1, maxLookBack, 14, 7, 30, 90),
			},
			write: briefing,
		},
	}
}

func morningReview(d *draft) string {
	day := d.day("date")
	days := d.number("days", 1)
	d.step("Daily note of the day", "daily:read", d.dayParams(day))
	if days == 1 {
		d.step("Daily note before it", "daily:read", d.dayParams(day.AddDate(0, 0, -1)))
	} else {
		d.step("Daily notes before it", "daily:range", callParams{"from": isoDate(day.AddDate(0, 0, -days)), "to": isoDate(day.AddDate(0, 0, -1))})
	}
	if day.Equal(d.today) {
		d.step("Open tasks of today's note", "tasks", callParams{"daily": true, "todo": true})
	}
	d.step("Recently changed notes", "recent", callParams{"since": isoDate(day.AddDate(0, 0, -days)), "limit": 20})
	return d.text(
		"Help me start my day with my Obsidian vault.",
		"Then tell me in up to ten short lines: what is planned, what is still open from the days before, what I worked on recently. Change nothing.",
	)
}

func eveningJournal(d *draft) string {
	d.step("Today's note", "daily:read", nil)
	d.step("Its tasks", "tasks", callParams{"daily": true})
	d.step("Notes changed today", "recent", callParams{"since": isoDate(d.today), "limit": 20})
	return d.text(
		"Help me end my day with my Obsidian vault.",
		"Then write a journal entry of up to eight lines, in the language of my notes: what I did, what is still open, one thing to remember. "+
			d.keeping(
				"ENTRY",
			),
	)
}

func weeklyRollup(d *draft) string {
	last := d.day("date")
	days := d.number("days", 7)
	first := last.AddDate(0, 0, 1-days)
	d.step("Daily notes", "daily:range", callParams{"from": isoDate(first), "to": isoDate(last)})
	d.step("Changed notes", "recent", callParams{"since": isoDate(first), "limit": 50})
	d.step("Number of open tasks", "tasks", callParams{"todo": true, "total": true})
	return d.text(
		fmt.Sprintf("Help me summarize the days from %s to %s of my Obsidian vault.", isoDate(first), isoDate(last)),
		"Then write a summary in the language of my notes: done, decided, still open, next. Link the source note of each point, such as [["+isoDate(
			last,
		)+"]]. "+
			d.keeping(
				"SUMMARY",
			),
	)
}

// keeping returns instructions for a text that the model wrote: to show it, and then to add it to
// today's note if the policy permits that.
func (d *draft) keeping(what string) string {
	params := callParams{"content": "THE " + what}
	if heading := d.arguments["heading"]; heading != "" {
		params["heading"] = heading
	}
	call, ok := d.call("daily:append", params)
	if !ok {
		return "Show it to me. You cannot write it into my vault because that is disabled: I do that myself."
	}
	return "Show it to me and ask whether it is right. Only if I agree, add it to today's note: " + call
}

func surpriseMe(d *draft) string {
	params := callParams{"count": d.number("count", 3)}
	if age := d.number("min-age", 0); age > 0 {
		params["min-age"] = age
	}
	d.step("Random notes", "random:read", params)
	d.step("Today's note", "daily:read", nil)
	d.step(
		"Links to the note that you find most interesting (replace NOTE.md by its path)",
		"backlinks",
		callParams{"path": "NOTE.md"},
	)
	return d.text(
		"Surprise me with my own notes from my Obsidian vault.",
		"Then tell me about connections between these notes, or with my day, that I may not see myself, and ask me one question about them. "+
			"Name the notes, and quote up to one sentence of each. Change nothing.",
	)
}

// Placeholders in calls. They must not be names of the user's notes: a call with the path of a hidden
// note would be omitted from the text, which would reveal that the note exists.
const (
	somePath   = "NOTE.md"
	someFolder = "FOLDER/"
)

func inboxTriage(d *draft) string {
	folder := cmp.Or(d.arguments["folder"], defaultInbox)
	count := d.number("count", 10)
	d.step("Notes to sort", "files", callParams{"folder": folder, "ext": "md"})
	d.step("Folders of the vault", "folders", nil)
	d.step("Tags of the vault", "tags", callParams{"counts": true, "sort": "count"})
	d.step(
		fmt.Sprintf("Text of up to %d of the notes, one call each (replace %s by the path)", count, somePath),
		"read",
		callParams{"path": somePath},
	)
	then := "Change nothing: changing my notes is disabled."
	move, moves := d.call("move", callParams{"path": somePath, "to": someFolder})
	tag, tags := d.call(
		"property:set",
		callParams{"path": somePath, "name": "tags", "value": "TAG, TAG", "type": "list"},
	)
	if moves || tags {
		then = "Show me the table and ask which rows are right. Only for those, one note at a time:"
	}
	if tags {
		then += " set its tags, keeping those it has: " + tag
	}
	if tags && moves {
		then += "; then"
	}
	if moves {
		then += " move it: " + move
	}
	return d.text(
		fmt.Sprintf("Help me sort the notes in the folder %q of my Obsidian vault.", folder),
		"Then propose for each note, in a table with one row per note: what it is about in up to ten words, the existing folder it belongs to or \"keep\", "+
			"up to three existing tags, the tasks in it. Say where you are not sure. Propose no deletion. "+then,
	)
}

func briefing(d *draft) string {
	topic := d.arguments["topic"]
	days := d.number("days", 14)
	if !d.step("Today's note, tasks that are due, late or left over, recent changes", "briefing", nil) {
		d.step("Today's note", "daily:read", nil)
	}
	if topic != "" {
		d.step("Lines about the topic", "search:context", callParams{"query": topic, "limit": 20})
	}
	lately := "Notes changed in the last day"
	if days != 1 {
		lately = fmt.Sprintf("Notes changed in the last %d days", days)
	}
	d.step(
		lately,
		"recent",
		callParams{"since": isoDate(d.today.AddDate(0, 0, -days)), "limit": 30},
	)
	d.step(
		"Text of up to five of the notes that matter most, one call each (replace "+somePath+" by the path)",
		"read",
		callParams{"path": somePath},
	)
	d.step("Notes related to the most important one", "related", callParams{"path": somePath, "limit": 10})
	aim := "Brief me on my day from my Obsidian vault."
	if topic != "" {
		aim = fmt.Sprintf("Brief me on %q from my Obsidian vault.", topic)
	}
	return d.text(
		aim,
		"Then write a briefing of up to 25 lines in the language of my notes: where things are, decisions with their dates, open questions and tasks, people, what to do next. "+
			"Name the source note of each point as a link, such as [["+isoDate(
			d.today,
		)+"]]. Say what the notes do not answer, and add nothing that is not in them. Change nothing.",
	)
}
