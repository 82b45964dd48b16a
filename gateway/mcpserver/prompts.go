package mcpserver

import "fmt"

// prompts are the pieces of work that are offered, in their order.
func prompts() []prompt {
	return []prompt{
		{
			name: "morning-review", title: "Morning review",
			description: "Begin the day: what is planned, what was left open, what was worked on last",
			arguments: []promptArgument{
				dateArgument,
				numberArgument("days", "how many days before it to look at", 1, maxDays, 1, 2, 3, 7, 14),
			},
			write: morningReview,
		},
		{
			name: "evening-journal", title: "Evening journal",
			description: "End the day: a short journal entry from today's note, its tasks and the notes that changed",
			arguments:   []promptArgument{headingArgument},
			write:       eveningJournal,
		},
		{
			name: "weekly-rollup", title: "Weekly roll-up",
			description: "Sum up several days: what was done, decided and left open, with a link for each",
			arguments: []promptArgument{
				dateArgument,
				numberArgument("days", "how many days up to it", 1, maxDays, 7, 14, 28, 31),
				headingArgument,
			},
			write: weeklyRollup,
		},
		{
			name: "surprise-me", title: "Surprise me",
			description: "Draw random notes and find what they have to do with each other",
			arguments: []promptArgument{
				numberArgument("count", "how many notes", 1, maxCount, 3, 1, 2, 5, 10),
				numberArgument("min-age", "only notes unchanged for so many days", 0, maxRest, 0, 7, 30, 90, 365),
			},
			write: surpriseMe,
		},
	}
}

func morningReview(d *draft) string {
	day, days := d.day("date"), d.number("days", 1)
	d.step("The daily note of the day", "daily:read", d.on(day))
	if days == 1 {
		d.step("The daily note before", "daily:read", d.on(day.AddDate(0, 0, -1)))
	} else {
		d.step("The daily notes before", "daily:range", callParams{"from": written(day.AddDate(0, 0, -days)), "to": written(day.AddDate(0, 0, -1))})
	}
	if day.Equal(d.today) {
		d.step("The open tasks of today's note", "tasks", callParams{"daily": true, "todo": true})
	}
	d.step("What was worked on last", "recent", callParams{"since": written(day.AddDate(0, 0, -days)), "limit": 20})
	return d.text("Help me to begin my day with my Obsidian vault.",
		"Then tell me, in ten short lines at the most: what is planned, what the days before left open, what I worked on last. Change nothing.")
}

func eveningJournal(d *draft) string {
	d.step("Today's note", "daily:read", nil)
	d.step("The tasks in it", "tasks", callParams{"daily": true})
	d.step("The notes that changed today", "recent", callParams{"since": written(d.today), "limit": 20})
	return d.text("Help me to end my day with my Obsidian vault.",
		"Then write a journal entry of eight lines at the most, in the language of my notes: what I did, what stays open, one thing to remember. "+
			d.keeping("ENTRY"))
}

func weeklyRollup(d *draft) string {
	last, days := d.day("date"), d.number("days", 7)
	first := last.AddDate(0, 0, 1-days)
	d.step("The daily notes", "daily:range", callParams{"from": written(first), "to": written(last)})
	d.step("The notes that changed", "recent", callParams{"since": written(first), "limit": 50})
	d.step("How many tasks are open", "tasks", callParams{"todo": true, "total": true})
	return d.text(fmt.Sprintf("Help me to sum up the days from %s to %s of my Obsidian vault.", written(first), written(last)),
		"Then write a roll-up in the language of my notes: done, decided, still open, next. Name the note behind each point as a link, such as [["+written(last)+"]]. "+
			d.keeping("ROLL-UP"))
}

// keeping says what becomes of a text: shown, and then added to today's note if
// that is open.
func (d *draft) keeping(what string) string {
	params := callParams{"content": "THE " + what}
	if heading := d.arguments["heading"]; heading != "" {
		params["heading"] = heading
	}
	call, ok := d.call("daily:append", params)
	if !ok {
		return "Show it to me. You cannot write it into my vault, because that is closed here: I do that myself."
	}
	return "Show it to me and ask whether it is right. Only when I say yes, add it to today's note: " + call
}

func surpriseMe(d *draft) string {
	params := callParams{"count": d.number("count", 3)}
	if age := d.number("min-age", 0); age > 0 {
		params["min-age"] = age
	}
	d.step("Random notes", "random:read", params)
	d.step("Today's note", "daily:read", nil)
	d.step("For the note that you find most telling, with its path in place of NOTE.md, what links to it", "backlinks", callParams{"path": "NOTE.md"})
	return d.text("Surprise me with my own notes from my Obsidian vault.",
		"Then tell me what these notes have to do with each other or with my day that I may not see by myself, and ask me one question about it. "+
			"Name the notes, and quote one sentence of each at the most. Change nothing.")
}
