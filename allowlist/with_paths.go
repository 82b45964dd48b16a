package allowlist

import "strings"

// WithPaths returns the call with each path that it names as name returns it, checked
// like any other. Of the new path of a file only the folder is replaced. The error is a
// [*ParseError] for a path that is not valid.
func (c Call) WithPaths(name func(path string) string) (Call, error) {
	return c.withValues(func(a arg) string { return a.respelled(name) })
}

// WithNoteExtensions returns the call with the path of each note that has to exist as complete
// returns it: callers leave out the extension, as links do. Folders, and what is to be
// made, stay as they are. The error is that of [Call.WithPaths].
func (c Call) WithNoteExtensions(complete func(path string) string) (Call, error) {
	return c.withValues(func(a arg) string {
		if a.kind != kindPath && a.kind != kindRef {
			return a.value
		}
		return a.respelled(complete)
	})
}

// withValues returns the call with other values of its arguments, checked like any other.
func (c Call) withValues(valueOf func(arg) string) (Call, error) {
	params, changed := c.Params(), false
	for _, a := range c.args {
		if value := valueOf(a); value != a.value {
			params[a.key] = Text(value)
			changed = true
		}
	}
	if !changed {
		return c, nil
	}
	again, err := Parse(c.Name(), params)
	again.vault = c.vault
	return again, err
}

// respelled returns the value of an argument with its path as name returns it.
func (a arg) respelled(name func(path string) string) string {
	switch a.kind {
	case kindPath, kindNewPath:
		return name(a.value)
	case kindFolder:
		return folderAs(a.value, name)
	case kindRef:
		colon := strings.LastIndexByte(a.value, ':')
		return name(a.value[:colon]) + a.value[colon:]
	case kindDestination:
		slash := strings.LastIndexByte(a.value, '/')
		if slash < 0 {
			return a.value
		}
		return folderAs(a.value[:slash], name) + a.value[slash:]
	}
	return a.value
}

func folderAs(folder string, name func(path string) string) string {
	if bare := strings.TrimSuffix(folder, "/"); bare != "" {
		return name(bare) + folder[len(bare):]
	}
	return folder
}
