package prompts

import (
	"cmp"
	"fmt"
)

// Placeholders in calls. They name no note of the user: a call with the path of a hidden
// note would be left out of the text, which would say that there is one.
const (
	somePath   = "NOTE.md"
	someFolder = "FOLDER/"
)

func inboxTriage(d *draft) string {
	folder, count := cmp.Or(d.arguments["folder"], defaultInbox), d.number("count", 10)
	d.step("Notes to sort", "files", callParams{"folder": folder, "ext": "md"})
	d.step("Folders of the vault", "folders", nil)
	d.step("Tags of the vault", "tags", callParams{"counts": true, "sort": "count"})
	d.step(fmt.Sprintf("Text of up to %d of the notes, one call each (replace %s by the path)", count, somePath), "read", callParams{"path": somePath})
	return d.text(fmt.Sprintf("Help me sort the notes in the folder %q of my Obsidian vault.", folder),
		"Then propose for each note, in a table with one row per note: what it is about in up to ten words, the existing folder it belongs to or \"keep\", "+
			"up to three existing tags, the tasks in it. Say where you are not sure. Propose no deletion. "+d.sorting())
}

// sorting says what to do with proposals: carry out those that the user agrees to, as far
// as the policy permits that.
func (d *draft) sorting() string {
	move, moves := d.call("move", callParams{"path": somePath, "to": someFolder})
	tag, tags := d.call("property:set", callParams{"path": somePath, "name": "tags", "value": "TAG, TAG", "type": "list"})
	if !moves && !tags {
		return "Change nothing: changing my notes is disabled."
	}
	text := "Show me the table and ask which rows are right. Only for those, one note at a time:"
	if tags {
		text += " set its tags, keeping those it has: " + tag
	}
	if tags && moves {
		text += "; then"
	}
	if moves {
		text += " move it: " + move
	}
	return text
}
