package prompts

import "fmt"

func briefing(d *draft) string {
	topic, days := d.arguments["topic"], d.number("days", 14)
	if !d.step("Today's note, tasks that are due, late or left over, recent changes", "briefing", nil) {
		d.step("Today's note", "daily:read", nil)
	}
	if topic != "" {
		d.step("Lines about the topic", "search:context", callParams{"query": topic, "limit": 20})
	}
	d.step(fmt.Sprintf("Notes changed in the last %d days", days), "recent", callParams{"since": isoDate(d.today.AddDate(0, 0, -days)), "limit": 30})
	d.step("Text of up to five of the notes that matter most, one call each (replace "+somePath+" by the path)", "read", callParams{"path": somePath})
	d.step("Notes related to the most important one", "related", callParams{"path": somePath, "limit": 10})
	return d.text(briefingAim(topic),
		"Then write a briefing of up to 25 lines in the language of my notes: where things are, decisions with their dates, open questions and tasks, people, what to do next. "+
			"Name the source note of each point as a link, such as [["+isoDate(d.today)+"]]. Say what the notes do not answer, and add nothing that is not in them. Change nothing.")
}

func briefingAim(topic string) string {
	if topic == "" {
		return "Brief me on my day from my Obsidian vault."
	}
	return fmt.Sprintf("Brief me on %q from my Obsidian vault.", topic)
}
