package vault

import "vaultwicket/cmd/internal/vault/disk"

func randomCommands() []command {
	folder := param{name: "folder", hint: "path", about: "Only below this folder"}
	return []command{
		{
			name: "random", about: "Pick a note by chance and name it",
			params: []param{folder, {name: "newtab", kind: flag, about: "Has no effect without the app"}},
			run:    randomPath,
		},
		{
			name: "random:read", about: "Read a note picked by chance",
			params: []param{folder}, run: randomRead,
		},
	}
}

// randomPath answers the command random. The app opens the note and says so;
// nothing can be opened here, so the path alone is the answer.
func randomPath(v *vault, p params) (reply, error) {
	note, ok, err := v.pickNote(p["folder"])
	if err != nil || !ok {
		return say(noNotes), err
	}
	return reply{text: note.String(), note: note}, nil
}

// randomRead answers with the path of the note and then its text.
func randomRead(v *vault, p params) (reply, error) {
	note, ok, err := v.pickNote(p["folder"])
	if err != nil || !ok {
		return say(noNotes), err
	}
	said, err := v.show(target{note, note.String()})
	said.text = note.String()
	return said, err
}

const noNotes = "No markdown files found."

// pickNote picks one of the notes below a folder; ok is false if there is none.
func (v *vault) pickNote(folder string) (note disk.Path, ok bool, err error) {
	notes, err := v.below(folder, func(e disk.Entry) bool { return !e.IsDir && e.Path.Ext() == "md" })
	if err != nil || len(notes) == 0 {
		return disk.Path{}, false, err
	}
	note, err = disk.ParsePath(notes[v.pick(len(notes))])
	return note, err == nil, err
}
