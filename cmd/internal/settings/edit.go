package settings

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec/process"
)

// editConfig runs "config edit", which opens the settings file in the user's editor at the terminal. As with visudo,
// the user edits a copy, which replaces the file once it is valid.
func editConfig(f *Flags, std terminal.Streams) error {
	if f.JSON {
		return terminal.NoJSON("config edit")
	}
	location, err := f.place(std)
	if err != nil {
		return err
	}
	if location.name == "" {
		return location.missing()
	}
	editor, err := editorOf(std)
	if err != nil {
		return err
	}
	target := location.name
	before, err := openForChange(location)
	if err != nil && before.info == nil {
		return err // a file with mistakes can be mended: then err lists them, and info is set
	}
	content := []byte(initialConfig())
	if before.info != nil {
		target, content, err = readTarget(location.name)
	} else {
		err = os.MkdirAll(filepath.Dir(target), 0o700)
	}
	if err != nil {
		return cannotWrite(location.name, err)
	}
	edited, err := edit(std, editor, target, content)
	switch {
	case err != nil:
		return err
	case edited == nil:
		if before.info == nil {
			terminal.Notef(std.Err, "nothing was written to %s", location.name)
		} else {
			terminal.Notef(std.Err, "%s stays as it is", location.name)
		}
		return nil
	case before.info == nil:
		if err := writeNew(target, edited); err != nil {
			return keepEdited(err, target, edited)
		}
	default:
		current, err := os.ReadFile(target)
		if err != nil || !bytes.Equal(current, content) {
			return keepEdited(changedMeanwhile(location.name), target, edited)
		}
		if err := writeAside(target, edited, before.info.Mode().Perm(), os.Rename); err != nil {
			return keepEdited(cannotWrite(location.name, err), target, edited)
		}
	}
	if _, err := fmt.Fprintln(std.Out, location.name); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	terminal.Notef(std.Err, "%s", takesEffect)
	return nil
}

// changedMeanwhile returns the error for a file that was changed, or can no longer be read, while the user edited a
// copy.
func changedMeanwhile(name string) error {
	return terminal.Fail(
		terminal.ExitFailed,
		name+" was changed while you edited it; nothing was written to it",
		`run "vaultwicket config edit" again`,
	)
}

// keepEdited returns the error for settings that could not be written to target: that of the attempt, and where what
// the user wrote is. That is a file next to target, or in the folder for temporary files.
func keepEdited(failed error, target string, edited []byte) error {
	for _, folder := range []string{filepath.Dir(target), os.TempDir()} {
		kept, err := os.CreateTemp(folder, "config-edited-*.toml") // mode 0600
		if err != nil {
			continue
		}
		_, err = kept.Write(edited)
		if err = errors.Join(err, kept.Close()); err != nil {
			_ = os.Remove(kept.Name())
			continue
		}
		hint := "what you wrote is in " + kept.Name()
		if advice := terminal.HintOf(failed); advice != "" {
			hint += "; " + advice
		}
		return terminal.Fail(terminal.StatusOf(failed), failed.Error(), hint)
	}
	return failed
}

// readTarget returns the path of a file without symbolic links in its folder, and its content.
func readTarget(name string) (target string, content []byte, err error) {
	target, err = filepath.EvalSymlinks(name)
	if err != nil {
		return "", nil, err
	}
	content, err = os.ReadFile(target)
	return target, content, err
}

// edit lets the user edit a copy of content, next to target, until it is valid. edited is nil if the file is to stay
// unchanged.
func edit(std terminal.Streams, editor process.Editor, target string, content []byte) (edited []byte, err error) {
	temporary, err := os.CreateTemp(filepath.Dir(target), ".config-*.toml") // mode 0600
	if err != nil {
		return nil, cannotWrite(target, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return nil, cannotWrite(target, err)
	}
	input := bufio.NewScanner(std.In)
	for {
		if err := editor.Edit(temporary.Name()); err != nil {
			return nil, terminal.Fail(terminal.ExitFailed, err.Error()+"; nothing was written", "")
		}
		if edited, err = os.ReadFile(temporary.Name()); err != nil {
			return nil, cannotWrite(target, err)
		}
		if bytes.Equal(edited, content) {
			return nil, nil
		}
		message := checkCopy(std, temporary.Name(), target, edited)
		if message == "" {
			return edited, nil
		}
		fmt.Fprintf(std.Err, "%s\n\nEdit it again? [Y/n] ", terminal.Visible(message))
		if !input.Scan() {
			return nil, nil
		}
		reply := strings.ToLower(strings.TrimSpace(input.Text()))
		if strings.HasPrefix(reply, "n") {
			return nil, nil
		}
	}
}

// checkCopy returns what is wrong with a copy of the settings file target, "" if nothing is. A problem that remains
// without any settings file is only a warning: the user cannot solve it in the copy.
func checkCopy(std terminal.Streams, name, target string, content []byte) string {
	if _, problems := parseDocument(content); len(problems) > 0 {
		return (&wrongFile{target, problems}).Error()
	}
	warning, problem := verifyWith(std, name)
	if warning != "" {
		terminal.Message(std.Err, terminal.Warning, warning)
	}
	if problem == nil {
		return ""
	}
	if _, other := verifyWith(std, noFile); other != nil && other.Error() == problem.Error() {
		terminal.Message(std.Err, terminal.Warning, problem.Error())
		return ""
	}
	message := problem.Error()
	if hint := terminal.HintOf(problem); hint != "" {
		message += "; " + hint
	}
	return strings.NewReplacer(strconv.Quote(name), strconv.Quote(target), name, target).Replace(message)
}

// verifyWith is like [Flags.verify] with this settings file, and otherwise without flags.
func verifyWith(std terminal.Streams, file string) (warning string, err error) {
	flags := NewFlags("config")
	if err := flags.Parse([]string{"--config", file}); err != nil {
		return "", err
	}
	return flags.verify(std)
}

// editors are tried in this order if VISUAL and EDITOR are not set.
var editors = []string{"editor", "nano", "vi"}

// editorOf returns the user's editor at this terminal.
func editorOf(std terminal.Streams) (process.Editor, error) {
	in, readsTerminal := terminal.File(std.In)
	out, showsTerminal := terminal.File(std.Out)
	if !readsTerminal || !showsTerminal {
		return process.Editor{}, noEditor(process.ErrNoTerminal)
	}
	preferred := cmp.Or(std.Getenv("VISUAL"), std.Getenv("EDITOR"))
	names := editors
	switch {
	case preferred != "":
		names = []string{preferred}
	case runtime.GOOS == "windows":
		names = []string{"notepad.exe"}
	}
	var firstErr error
	for _, name := range names {
		editor, err := process.EditorAt(in, out, name, std.Environ())
		if err == nil {
			return editor, nil
		}
		firstErr = cmp.Or(firstErr, err)
	}
	return process.Editor{}, noEditor(firstErr)
}

// noEditor returns the error for a terminal or an editor that is missing.
func noEditor(err error) error {
	if errors.Is(err, process.ErrNoTerminal) {
		return terminal.Fail(terminal.ExitNotReady, "config edit needs a terminal", `in a script: vaultwicket config set KEY VALUE`)
	}
	return terminal.Fail(terminal.ExitNotReady, err.Error(), "set VISUAL or EDITOR to your editor")
}
