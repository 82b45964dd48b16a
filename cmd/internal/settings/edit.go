package settings

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec/process"
)

// editConfig is "config edit": the settings file in the editor of the owner, at their terminal. They edit a copy, which
// takes the place of the file once nothing is wrong with it, as visudo does.
func editConfig(f *Flags, std terminal.Streams) error {
	if f.JSON {
		return terminal.NoJSON("config edit")
	}
	at, err := f.place(std)
	if err != nil {
		return err
	}
	if at.name == "" {
		return at.missing()
	}
	editor, err := editorOf(std)
	if err != nil {
		return err
	}
	target := at.name
	before, err := openDocument(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && before.info == nil {
		return err // one with mistakes is what has to be edited
	}
	content := []byte(initialConfig())
	if before.info != nil {
		if target, err = filepath.EvalSymlinks(at.name); err != nil {
			return cannotWrite(at.name, err)
		}
		if content, err = os.ReadFile(target); err != nil {
			return cannotWrite(at.name, err)
		}
	} else if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return cannotWrite(at.name, err)
	}
	edited, err := edit(std, editor, target, content)
	switch {
	case err != nil:
		return err
	case edited == nil:
		terminal.Notef(std.Err, "%s stays as it is", at.name)
		return nil
	case before.info == nil:
		err = writeNew(target, edited)
	default:
		if now, failed := os.ReadFile(target); failed != nil || !bytes.Equal(now, content) {
			return terminal.Fail(terminal.ExitFailed, at.name+" was changed while you edited it; nothing was written", `run "vaultwicket config edit" again`)
		}
		err = writeAside(target, edited, before.info.Mode().Perm(), os.Rename)
	}
	if err != nil {
		return cannotWrite(at.name, err)
	}
	if _, err := fmt.Fprintln(std.Out, at.name); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	terminal.Notef(std.Err, "%s", takesEffect)
	return nil
}

// edit has the owner edit a copy of the content of a file until nothing is wrong with it. The result is nil if it is to
// stay as it is.
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
	answers := bufio.NewScanner(std.In)
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
		copied := NewFlags("config")
		if err := copied.Parse([]string{"--config", temporary.Name(), "check"}); err != nil {
			return nil, err
		}
		_, wrong := copied.verify(std)
		if wrong == nil {
			return edited, nil
		}
		said := strings.ReplaceAll(wrong.Error(), temporary.Name(), target)
		fmt.Fprintf(std.Err, "%s\n\nEdit it again? [Y/n] ", terminal.Visible(said))
		if !answers.Scan() || strings.HasPrefix(strings.ToLower(strings.TrimSpace(answers.Text())), "n") {
			return nil, nil
		}
	}
}

// editors are those that are tried where the owner has named none.
var editors = []string{"editor", "nano", "vi"}

// editorOf returns the editor of the owner at this terminal.
func editorOf(std terminal.Streams) (process.Editor, error) {
	in, readsTerminal := terminal.File(std.In)
	out, showsTerminal := terminal.File(std.Out)
	if !readsTerminal || !showsTerminal {
		return process.Editor{}, noEditor(process.ErrNoTerminal)
	}
	named := cmp.Or(std.Getenv("VISUAL"), std.Getenv("EDITOR"))
	names := editors
	switch {
	case named != "":
		names = []string{named}
	case runtime.GOOS == "windows":
		names = []string{"notepad.exe"}
	}
	var failed error
	for _, name := range names {
		editor, err := process.EditorAt(in, out, name, std.Environ())
		if err == nil {
			return editor, nil
		}
		failed = cmp.Or(failed, err)
	}
	return process.Editor{}, noEditor(failed)
}

func noEditor(err error) error {
	if errors.Is(err, process.ErrNoTerminal) {
		return terminal.Fail(terminal.ExitNotReady, "config edit needs a terminal", `in a script: vaultwicket config set KEY VALUE`)
	}
	return terminal.Fail(terminal.ExitNotReady, err.Error(), "set VISUAL or EDITOR to your editor")
}
