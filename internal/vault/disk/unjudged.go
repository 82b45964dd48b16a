package disk

// Unjudged is a text as it is on the disk or in the journal: there may be secrets in it. It is neither bytes nor a string, so
// that it cannot be put into an answer by mistake. What a caller may see of it is made by the guard.
type Unjudged struct{ text []byte }

// NewUnjudged returns a text of which nothing was judged.
func NewUnjudged(text []byte) Unjudged { return Unjudged{text} }

// ForProgram returns the text for the program itself: to be written, hashed, measured, or read for what it says of its
// file. What is made of it for a caller has to be judged in the form that it has then.
func (u Unjudged) ForProgram() []byte { return u.text }

// Raw is an open folder whose files are read as they are.
type Raw struct{ folder *Folder }

// Raw returns the same open folder, whose files are read as they are.
func (f *Folder) Raw() Raw { return Raw{f.Redacting(nil)} }

// Read is [Folder.Read].
func (r Raw) Read(p Path) (Unjudged, error) {
	text, err := r.folder.Read(p)
	return Unjudged{text}, err
}
