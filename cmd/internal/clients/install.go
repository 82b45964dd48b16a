package clients

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/exec/process"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// Installer adds and removes entries on a machine.
type Installer struct {
	System  System
	Backups string // absolute path of the folder for backups; created on first use
	// Run starts a program by its absolute path and returns its output. If it is nil, the
	// clients' own commands are not used.
	Run func(ctx context.Context, argv []string) (output string, err error)
	Now func() time.Time
}

// Change is a planned change of a client's settings. Nothing is written before [Change.Write].
type Change struct {
	Client    Client
	Scope     Scope
	Name      string      // the name of the entry
	File      string      // the path of the settings file, before symbolic links are followed
	Commands  [][]string  // run in order instead of writing File
	edit                  // the change of File
	rule      *ruleChange // the change of the rule for reading, nil for none
	installer Installer
	verify    func() error // checks the file after the change
}

// None reports whether there is nothing to change.
func (c *Change) None() bool {
	return len(c.Commands) == 0 && c.edit.none() && c.rule == nil
}

// Diff returns the changes of the files as a unified diff with one line of context. It does not contain what the
// client's own command changes.
func (c *Change) Diff() string {
	text := ""
	if c.rule != nil && c.rule.edit != &c.edit {
		text = c.rule.edit.diff()
	}
	if len(c.Commands) > 0 {
		return text
	}
	return c.edit.diff() + text
}

// diff returns the change of one file as a unified diff, "" if there is none.
func (e *edit) diff() string {
	if e.none() {
		return ""
	}
	from := e.before.name
	if e.before.target != e.before.name {
		from += " -> " + e.before.target
	}
	to := from
	if e.before.missing() {
		from = "(no file)"
	}
	if e.deletes {
		to = "(no file)"
	}
	before := string(e.before.content)
	after := string(e.after)
	if e.deletes {
		after = ""
	}
	text, err := udiff.ToUnified(from, to, before, udiff.Strings(before, after), 1)
	if err != nil {
		return ""
	}
	return text
}

// plan reads the client's file and returns a change that does nothing yet. entry is the present entry with this name,
// nil if there is none.
func (i Installer) plan(c Client, scope Scope, name string) (change *Change, entry map[string]any, err error) {
	if why, ok := c.Writes(scope); !ok {
		return nil, nil, terminal.Fail(
			terminal.ExitInvalid,
			fmt.Sprintf("%s %s; nothing is written for it", c.Name, why),
			fmt.Sprintf(`"vaultwicket install %s --print" shows what to add by hand`, c.ID),
		)
	}
	if !ValidName(name) {
		return nil, nil, terminal.Fail(
			terminal.ExitInvalid,
			fmt.Sprintf("invalid name %q of a server", name),
			"use up to 32 lower-case letters, digits and hyphens",
		)
	}
	path := i.System.File(c, scope)
	if path == "" {
		return nil, nil, terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%s: the settings file cannot be determined on this system", c.Name),
			"check HOME, or USERPROFILE and APPDATA",
		)
	}
	current, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	if scope == Project && !isInside(i.System.Project, current.target) {
		return nil, nil, terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf(
				"%q is a symbolic link to %q, outside of the project; nothing was written",
				path,
				current.target,
			),
			"use --scope user, or replace the link",
		)
	}
	change = &Change{
		Client:    c,
		Scope:     scope,
		Name:      name,
		File:      path,
		edit:      edit{before: current, after: current.content},
		installer: i,
	}
	value, err := c.format.editor().Decode(current.content)
	if err != nil {
		return nil, nil, c.unusable(path, err)
	}
	entry, _ = textedit.Lookup(value, c.at(name))
	return change, entry, nil
}

// isInside reports whether the file target, without symbolic links, is inside a folder.
func isInside(folder, target string) bool {
	resolved, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(resolved, target)
	return err == nil && filepath.IsLocal(relative)
}

// nothingWritten ends the error about a file that should have been changed.
const nothingWritten = "; nothing was written"

// unusable returns the error for a file that cannot be edited.
func (c Client) unusable(where string, err error) error {
	if malformed, ok := errors.AsType[*textedit.Malformed](err); ok {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%s:%d:%d: %s", where, malformed.Line, malformed.Column, malformed.Reason)+nothingWritten,
			fmt.Sprintf("repair the file; %s reads it as %s", c.Name, c.format),
		)
	}
	return terminal.Fail(
		terminal.ExitNotReady,
		fmt.Sprintf("%s: %v", where, err)+nothingWritten,
		fmt.Sprintf(`"vaultwicket install %s --print" shows what to add by hand`, c.ID),
	)
}

// Install plans to add the entry for a server, or to replace the entry of an earlier installation. An entry
// of another program, vault or agent is only replaced with replace. The error is a [*terminal.Failure].
func (i Installer) Install(c Client, scope Scope, server Server, replace bool) (*Change, error) {
	server.System = i.System.OS
	entry, ok := c.shape.entry(server)
	promptsForToken := server.URL != "" && c.shape.inputs
	if !ok || promptsForToken {
		return nil, c.noHTTP()
	}
	for _, word := range append([]string{server.Command}, server.Args...) {
		if strings.Contains(word, "${") { // clients have no way to escape a dollar sign
			return nil, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%q has ${, in place of which %s would put a variable", word, c.Name),
				"use a path without it, such as a link to the folder",
			)
		}
	}
	change, old, err := i.plan(c, scope, server.Name)
	if err != nil {
		return nil, err
	}
	if old != nil && !replace {
		if err := c.checkReplaceable(old, entry, server); err != nil {
			return nil, err
		}
	}
	if old != nil && textedit.Equal(old, entry.Plain()) {
		return change, nil
	}
	change.after, err = textedit.Set(c.format.editor(), change.before.content, c.at(server.Name), entry)
	if err != nil {
		return nil, c.unusable(change.File, err)
	}
	if program := i.ownProgram(c, scope, ValuesOf("--vault", server.Args)...); program != "" { // "-s user" is not its default
		if old != nil { // add-json refuses a name that exists
			change.Commands = [][]string{{program, "mcp", "remove", server.Name, "-s", "user"}}
		}
		change.Commands = append(
			change.Commands,
			[]string{program, "mcp", "add-json", server.Name, textedit.RenderJSONLine(entry), "-s", "user"},
		)
	}
	change.verify = func() error {
		_, written, err := i.plan(c, scope, server.Name)
		if err == nil && !textedit.Equal(written, entry.Plain()) {
			return terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%s did not keep the entry in %q", c.Name, change.File),
				"",
			)
		}
		return err
	}
	return change, nil
}

// checkReplaceable returns an error if the old entry is for another program, vault or agent than the new one.
func (c Client) checkReplaceable(old map[string]any, entry textedit.Object, server Server) error {
	if !isOurs(server.Name, old) {
		return terminal.Fail(
			terminal.ExitFailed,
			fmt.Sprintf(
				"%s already has a server %q of another program: %q",
				c.Name,
				server.Name,
				append(commandOf(old), urlOf(old)),
			),
			"use another --name, or --replace to overwrite it",
		)
	}
	if textedit.Equal(old, entry.Plain()) {
		return nil
	}
	for _, flag := range []string{"vault", "agent"} {
		oldValues := ValuesOf("--"+flag, commandOf(old))
		newValues := ValuesOf("--"+flag, server.Args)
		if len(oldValues) > 0 && !slices.Equal(oldValues, newValues) {
			return terminal.Fail(
				terminal.ExitFailed,
				fmt.Sprintf("%s already has a server %q for another %s: %q", c.Name, server.Name, flag, oldValues[0]),
				"add this one with another --name, or replace that one with --replace",
			)
		}
	}
	return nil
}

// Uninstall plans to remove an entry of vaultwicket. It is an error if the entry belongs to another program. The
// error is a [*terminal.Failure].
func (i Installer) Uninstall(c Client, scope Scope, name string) (*Change, error) {
	change, old, err := i.plan(c, scope, name)
	if err != nil {
		return nil, err
	}
	if old == nil { // if the entry was removed by hand, the rule may still be there
		if err := change.WithdrawReading(Server{Name: name}); err != nil {
			return nil, err
		}
		change.restoreRule()
		return change, nil
	}
	if !isOurs(name, old) {
		return nil, terminal.Fail(
			terminal.ExitFailed,
			fmt.Sprintf(
				"the server %q of %s is another program's: %q",
				name,
				c.Name,
				append(commandOf(old), urlOf(old)),
			),
			"remove it by hand",
		)
	}
	change.after, err = textedit.Remove(c.format.editor(), change.before.content, c.at(name))
	if err != nil {
		return nil, c.unusable(change.File, err)
	}
	if err := change.WithdrawReading(Server{Name: name}); err != nil {
		return nil, err
	}
	change.restore()
	change.restoreRule()
	if program := i.ownProgram(c, scope); program != "" {
		change.Commands = [][]string{{program, "mcp", "remove", name, "-s", "user"}}
		change.deletes = false
	}
	change.verify = func() error {
		_, left, err := i.plan(c, scope, name)
		if err == nil && left != nil {
			return terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("%s kept the entry in %q", c.Name, change.File), "")
		}
		return err
	}
	return change, nil
}

// restore replaces the text without the entry by the latest backup that differs from it only in an empty
// collection or in white space. Two texts differ only in that if adding the same entry makes them equal.
func (c *Change) restore() {
	editor := c.Client.format.editor()
	at := c.Client.at(c.Name)
	probe := func(text []byte) ([]byte, error) {
		return textedit.Set(editor, text, at, textedit.Object{{Key: "command", Value: programName}})
	}
	r := c.Client.reads
	hasRules := c.Scope == User && c.installer.System.path(r.file) == c.File
	if hasRules {
		probe = c.probeRule(probe)
	}
	has := func(text []byte) bool {
		value, err := editor.Decode(text)
		_, found := textedit.Lookup(value, at)
		return err != nil || found || c.hasRule(text)
	}
	c.edit.restore(c.installer.backupsOf(c.Client, c.before), probe, has)
}

// restoreRule does the same as restore for the file of a removed rule, if that is another file.
func (c *Change) restoreRule() {
	if c.rule == nil || c.rule.edit == &c.edit || c.Client.reads.isFile() {
		return
	}
	probe := c.probeRule(func(text []byte) ([]byte, error) { return text, nil })
	c.rule.edit.restore(c.rule.folder, probe, c.hasRule)
}

// hasRule reports whether a text has a rule that is being removed.
func (c *Change) hasRule(text []byte) bool {
	r := c.Client.reads
	return c.rule != nil && slices.ContainsFunc(c.rule.removes, func(rule string) bool {
		return r.words().HasWord(text, r.list, rule)
	})
}

// probeRule returns a function that calls before and adds a rule to its result.
func (c *Change) probeRule(before func([]byte) ([]byte, error)) func([]byte) ([]byte, error) {
	r := c.Client.reads
	return func(text []byte) ([]byte, error) {
		text, err := before(text)
		if err != nil {
			return nil, err
		}
		return r.words().AddWord(text, r.list, programName)
	}
}

// restore sets the new content of the file to the latest backup in folder that does not have what was removed (has),
// and that becomes equal to the new content when probe is applied to both.
func (e *edit) restore(folder string, probe func([]byte) ([]byte, error), has func([]byte) bool) {
	wanted, err := probe(e.after)
	if err != nil || ownerfiles.CheckFolder(folder) != nil { // others could have changed the backups
		return
	}
	for _, name := range backupNames(folder) {
		var content []byte
		wasAbsent := strings.HasSuffix(name, absentEnding)
		if !wasAbsent {
			if content, err = ownerfiles.Read(filepath.Join(folder, name), textedit.MaxText); err != nil {
				continue
			}
		}
		if has(content) {
			continue
		}
		if result, err := probe(content); err == nil && bytes.Equal(result, wanted) {
			e.after = content
			e.deletes = wasAbsent
			return
		}
	}
}

// Write makes the change and returns the name of the backup, "" if there was no file or nothing to do. The
// error is a [*terminal.Failure]. After an error the entry is unchanged, unless the client's own command failed half
// way, or the client did not keep the entry.
func (c *Change) Write(ctx context.Context) (backup string, err error) {
	if c.None() {
		return "", nil
	}
	edits := []*edit{&c.edit}
	if c.rule != nil && c.rule.edit != &c.edit {
		edits = append(edits, c.rule.edit)
	}
	for _, e := range edits {
		if err := e.before.unchanged(); err != nil {
			return "", err
		}
	}
	if c.installer.Backups == "" {
		return "", terminal.Fail(
			terminal.ExitNotReady,
			"no folder for backups",
			"set "+ownerfiles.HomeVariables(c.installer.System.OS)+", or XDG_STATE_HOME, to an absolute path",
		)
	}
	for _, e := range edits {
		isFirst := e == &c.edit
		isChanged := !e.none() || isFirst && len(c.Commands) > 0
		if !isChanged {
			continue
		}
		name, err := c.installer.backUp(c.Client, e.before)
		if err != nil {
			return "", err
		}
		if isFirst || backup == "" {
			backup = name
		}
	}
	// The rule is written before the entry: a rule for a read-only entry must not apply to an entry with changes.
	if err := c.writeRule(); err != nil {
		return backup, err
	}
	perm := fs.FileMode(0o600)
	if c.Scope == Project {
		perm = 0o644 // everybody who works on the project uses it
	}
	for _, argv := range c.Commands {
		if output, err := c.installer.Run(ctx, argv); err != nil {
			return backup, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%s: %v: %s", c.Client.Name, err, output),
				"",
			)
		}
	}
	if len(c.Commands) == 0 {
		err = c.edit.write(perm)
	}
	if err == nil && c.verify != nil {
		err = c.verify()
	}
	if err == nil && c.rule != nil {
		c.rule.forget()
	}
	return backup, err
}

// writeRule records the added rule, and writes its file if that is not the file with the entry.
func (c *Change) writeRule() error {
	if c.rule == nil {
		return nil
	}
	if err := c.rule.record(); err != nil {
		return err
	}
	if c.rule.edit == &c.edit {
		return nil
	}
	if err := c.rule.edit.write(0o600); err != nil {
		return err
	}
	return c.rule.verify(c.Client)
}

// write writes or deletes the file, if it changes. perm is the mode of a new file.
func (e *edit) write(perm fs.FileMode) error {
	switch {
	case e.none():
		return nil
	case !e.deletes:
		return e.before.replace(e.after, perm)
	}
	if err := e.before.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(e.before.target); err != nil {
		return environment(e.before.name, err)
	}
	return nil
}

// backUp stores a copy of a file and deletes the oldest copies. It returns the name of the backup, "" if there was no
// file; that is recorded, too.
func (i Installer) backUp(c Client, original file) (backup string, err error) {
	folder := i.backupsOf(c, original)
	if err := ownerfiles.MakeFolder(ownerfiles.Disk{}, folder); err != nil {
		unsafeFolder, ok := errors.AsType[*ownerfiles.Unsafe](err) // others could read the backups
		if !ok {
			return "", environment(folder, err)
		}
		return "", terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("the folder for backups %v; nothing was written", unsafeFolder),
			cmp.Or(unsafeFolder.Remedy(), "move it away; it is made again"),
		)
	}
	ending := backupEnding
	if original.missing() {
		ending = absentEnding
	}
	name := filepath.Join(folder, i.Now().UTC().Format("20060102T150405.000000000Z")+ending)
	out, err := ownerfiles.Disk{}.Create(name)
	if err != nil {
		return "", environment(name, err)
	}
	_, err = out.Write(original.content)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		os.Remove(name)
		return "", environment(name, err)
	}
	names := backupNames(folder)
	for _, old := range names[min(len(names), maxBackups):] {
		_ = os.Remove(filepath.Join(folder, old))
	}
	if original.missing() {
		return "", nil
	}
	return name, nil
}

// ownProgram returns the path of the client's own command, "" to edit the file instead. A program that another user
// or an agent could have put there, in one of the vaults or the working folder, is not used.
func (i Installer) ownProgram(c Client, scope Scope, vaults ...string) string {
	if c.own == "" || i.Run == nil || scope != User {
		return ""
	}
	program := i.System.Program(c.own)
	if program == "" {
		return ""
	}
	surroundings := ownerfiles.Surroundings{Vaults: func() []string { return vaults }, Home: i.System.home()}
	if objection, err := ownerfiles.CheckProgram(program, surroundings); objection != (ownerfiles.Objection{}) || err != nil {
		return ""
	}
	return program
}

const (
	timeout   = time.Minute // Claude Code needs some seconds to start
	maxOutput = 8 << 10     // bytes of each output that are kept
)

// Run starts a program and waits up to a minute for its end. It returns the beginning and the
// end of its output, and an error if it could not be started or its exit status was not 0.
func Run(ctx context.Context, argv []string) (output string, err error) {
	stdout, stderr, err := Ask(ctx, argv, "")
	return strings.TrimSpace(stdout + "\n" + stderr), err
}

// Ask does the same as [Run] for a program that reads input from standard input. It returns standard output and
// standard error separately.
func Ask(ctx context.Context, argv []string, input string) (stdout, stderr string, err error) {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return "", "", fmt.Errorf("%q is not an absolute path", argv)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result := process.Child{
		Path:  argv[0],
		Name:  argv[0],
		Args:  argv[1:],
		Env:   os.Environ(),
		Stdin: input,
		Keep:  maxOutput,
	}.Run(ctx)
	stdout, _ = result.Stdout.Text()
	stderr, _ = result.Stderr.Text()
	switch {
	case result.Cause != nil:
		err = result.Cause
	case result.Kind != process.Exited:
		err = fmt.Errorf("%s ended: %s", filepath.Base(argv[0]), result.How)
	case result.Exit != 0:
		err = fmt.Errorf("%s ended with status %d", filepath.Base(argv[0]), result.Exit)
	}
	return stdout, stderr, err
}
