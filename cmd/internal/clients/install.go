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
	Backups string // absolute path of the folder for backups; made when needed
	// Run starts a program by its absolute path and returns what it printed. Nil keeps
	// the clients' own commands from being used.
	Run func(ctx context.Context, argv []string) (output string, err error)
	Now func() time.Time
}

// Change is a planned change of a client's settings. Nothing is written before [Change.Write].
type Change struct {
	Client    Client
	Scope     Scope
	Name      string      // of the entry
	File      string      // the settings file, as the client knows it
	Commands  [][]string  // run in order in place of writing File
	edit                  // of File. It is deleted if it did not exist before the entry.
	rule      *ruleChange // nil for none
	installer Installer
	verify    func() error
}

// None reports that nothing has to be changed.
func (c *Change) None() bool {
	return len(c.Commands) == 0 && c.edit.none() && c.rule == nil
}

// Diff returns the difference of the files in unified form, with one line of context. What the client's own
// command changes is not in it.
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

// diff returns the difference of one file, "" for none.
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

// plan reads the client's file. The entry is nil if it is missing.
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
	where := i.System.File(c, scope)
	if where == "" {
		return nil, nil, terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%s: the settings file cannot be determined on this system", c.Name),
			"check HOME, or USERPROFILE and APPDATA",
		)
	}
	f, err := readFile(where)
	if err != nil {
		return nil, nil, err
	}
	if scope == Project {
		folder, err := filepath.EvalSymlinks(i.System.Project)
		rel, wrong := filepath.Rel(folder, f.target)
		if errors.Join(err, wrong) != nil || !filepath.IsLocal(rel) {
			return nil, nil, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf(
					"%q is a symbolic link to %q, outside of the project; nothing was written",
					where,
					f.target,
				),
				"use --scope user, or replace the link",
			)
		}
	}
	change = &Change{Client: c, Scope: scope, Name: name, File: where, edit: edit{before: f, after: f.content}, installer: i}
	value, err := c.format.editor().Decode(f.content)
	if err != nil {
		return nil, nil, c.unusable(where, err)
	}
	entry, _ = textedit.Lookup(value, c.at(name))
	return change, entry, nil
}

// nothingWritten is the end of an error about a file that was to be changed.
const nothingWritten = "; nothing was written"

// unusable is the error for a file that cannot be edited.
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

// Install plans to add the entry for a server, or to replace that of an earlier installation. An entry
// of another program is replaced with replace only. The error is an [*terminal.Failure].
func (i Installer) Install(c Client, scope Scope, s Server, replace bool) (*Change, error) {
	s.System = i.System.OS
	entry, ok := c.shape.entry(s)
	if !ok || s.URL != "" && c.shape.inputs {
		return nil, c.noHTTP()
	}
	for _, word := range append([]string{s.Command}, s.Args...) {
		if strings.Contains(word, "${") { // clients have no way to escape a dollar sign
			return nil, terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%q has ${, in place of which %s would put a variable", word, c.Name),
				"use a path without it, such as a link to the folder",
			)
		}
	}
	change, old, err := i.plan(c, scope, s.Name)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if !isOurs(s.Name, old) && !replace {
			return nil, terminal.Fail(
				terminal.ExitFailed,
				fmt.Sprintf(
					"%s already has a server %q of another program: %q",
					c.Name,
					s.Name,
					append(commandOf(old), urlOf(old)),
				),
				"use another --name, or --replace to overwrite it",
			)
		}
		if textedit.Equal(old, entry.Plain()) {
			return change, nil
		}
		for _, what := range []string{"vault", "agent"} {
			had := ValuesOf("--"+what, commandOf(old))
			has := ValuesOf("--"+what, s.Args)
			if !replace && len(had) > 0 && !slices.Equal(had, has) {
				return nil, terminal.Fail(
					terminal.ExitFailed,
					fmt.Sprintf("%s already has a server %q for another %s: %q", c.Name, s.Name, what, had[0]),
					"add this one with another --name, or replace that one with --replace",
				)
			}
		}
	}
	change.after, err = textedit.Set(c.format.editor(), change.before.content, c.at(s.Name), entry)
	if err != nil {
		return nil, c.unusable(change.File, err)
	}
	if program := i.ownProgram(c, scope, ValuesOf("--vault", s.Args)...); program != "" { // its default is another scope
		if old != nil { // add-json refuses a name that exists
			change.Commands = [][]string{{program, "mcp", "remove", s.Name, "-s", "user"}}
		}
		change.Commands = append(
			change.Commands,
			[]string{program, "mcp", "add-json", s.Name, textedit.RenderJSONLine(entry), "-s", "user"},
		)
	}
	change.verify = func() error {
		_, now, err := i.plan(c, scope, s.Name)
		if err == nil && !textedit.Equal(now, entry.Plain()) {
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

// Uninstall plans to remove an entry of vaultwicket. One of another program is left
// alone. The error is an [*terminal.Failure].
func (i Installer) Uninstall(c Client, scope Scope, name string) (*Change, error) {
	change, old, err := i.plan(c, scope, name)
	if err != nil {
		return nil, err
	}
	if old == nil { // a rule can be left of an entry that somebody else removed
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
		_, now, err := i.plan(c, scope, name)
		if err == nil && now != nil {
			return terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("%s kept the entry in %q", c.Name, change.File), "")
		}
		return err
	}
	return change, nil
}

// restore takes the bytes of the latest backup that differs from the file without the entry in
// nothing but an empty collection or the white space in it, which the entry needed.
// Two texts differ in no more if both become the same when an entry is added.
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

// restoreRule is restore for the file of the rule that is taken back, if it is another one.
func (c *Change) restoreRule() {
	if c.rule == nil || c.rule.edit == &c.edit || c.Client.reads.isFile() {
		return
	}
	probe := c.probeRule(func(text []byte) ([]byte, error) { return text, nil })
	c.rule.edit.restore(c.rule.folder, probe, c.hasRule)
}

// hasRule reports whether a file has a rule that is taken back.
func (c *Change) hasRule(text []byte) bool {
	r := c.Client.reads
	return c.rule != nil && slices.ContainsFunc(c.rule.takes, func(rule string) bool {
		return r.words().HasWord(text, r.list, rule)
	})
}

// probeRule returns a function that adds a rule to what the given one makes.
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

// restore takes the bytes of the latest of the backups in a folder that has not what was removed, and becomes the same as
// the file when probe adds it.
func (e *edit) restore(folder string, probe func([]byte) ([]byte, error), has func([]byte) bool) {
	want, err := probe(e.after)
	if err != nil || ownerfiles.CheckFolder(folder) != nil { // others could have changed what is in it
		return
	}
	for _, name := range backupNames(folder) {
		var content []byte
		absent := strings.HasSuffix(name, absentEnding)
		if !absent {
			if content, err = ownerfiles.Read(filepath.Join(folder, name), textedit.MaxText); err != nil {
				continue
			}
		}
		if has(content) {
			continue
		}
		if got, err := probe(content); err == nil && bytes.Equal(got, want) {
			e.after = content
			e.deletes = absent
			return
		}
	}
}

// Write makes the change and returns the name of the backup, "" if there was no file or nothing to do. The
// error is an [*terminal.Failure]; nothing is changed then, unless the client's own command failed half way.
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
		if e.none() && (!isFirst || len(c.Commands) == 0) {
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
	if c.rule != nil { // before the entry: the rule of an entry that only reads must not be there for one with changes
		if err := c.rule.record(); err != nil {
			return backup, err
		}
		if c.rule.edit != &c.edit {
			if err := c.rule.edit.write(0o600); err != nil {
				return backup, err
			}
			if err := c.rule.verify(c.Client); err != nil {
				return backup, err
			}
		}
	}
	perm := fs.FileMode(0o600)
	if c.Scope == Project {
		perm = 0o644 // it is for everybody who works on the project
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

// write writes or deletes the file, if it changes. A new one gets perm.
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

// backUp keeps the bytes of a file, and returns the name of the backup, "" if there was no file.
func (i Installer) backUp(c Client, f file) (backup string, err error) {
	folder := i.backupsOf(c, f)
	if err := ownerfiles.MakeFolder(ownerfiles.Disk{}, folder); err != nil {
		unsafe, ok := errors.AsType[*ownerfiles.Unsafe](err) // others could read the backups
		if !ok {
			return "", environment(folder, err)
		}
		return "", terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("the folder for backups %v; nothing was written", unsafe),
			cmp.Or(unsafe.Remedy(), "move it away; it is made again"),
		)
	}
	ending := backupEnding
	if f.missing() {
		ending = absentEnding
	}
	name := filepath.Join(folder, i.Now().UTC().Format("20060102T150405.000000000Z")+ending)
	out, err := ownerfiles.Disk{}.Create(name)
	if err != nil {
		return "", environment(name, err)
	}
	_, err = out.Write(f.content)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		os.Remove(name)
		return "", environment(name, err)
	}
	names := backupNames(folder)
	for _, old := range names[min(len(names), maxBackups):] {
		_ = os.Remove(filepath.Join(folder, old))
	}
	if f.missing() {
		return "", nil
	}
	return name, nil
}

// ownProgram returns the path of the client's own command, "" if it is not used: then the file is edited. A
// program that another user, a vault or the working folder could have put there is not started.
func (i Installer) ownProgram(c Client, scope Scope, vaults ...string) string {
	if c.own == "" || i.Run == nil || scope != User {
		return ""
	}
	program := i.System.Program(c.own)
	if program == "" {
		return ""
	}
	at := ownerfiles.Surroundings{Vaults: func() []string { return vaults }, Home: i.System.home()}
	if found, err := ownerfiles.CheckProgram(program, at); found != (ownerfiles.Objection{}) || err != nil {
		return ""
	}
	return program
}

const (
	timeout   = time.Minute // Claude Code needs some seconds to start
	maxOutput = 8 << 10     // bytes of each output: a message that is repeated, or an answer
)

// Run starts a program and waits for its end, at most a minute. It returns the beginning and the
// end of its output, and an error if it could not be started or did not end with status 0.
func Run(ctx context.Context, argv []string) (output string, err error) {
	printed, complaint, err := Ask(ctx, argv, "")
	return strings.TrimSpace(printed + "\n" + complaint), err
}

// Ask is [Run] for a program that reads a text from standard input. It returns the two outputs.
func Ask(ctx context.Context, argv []string, input string) (printed, complaint string, err error) {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return "", "", fmt.Errorf("%q is not an absolute path", argv)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	end := process.Child{
		Path:  argv[0],
		Name:  argv[0],
		Args:  argv[1:],
		Env:   os.Environ(),
		Stdin: input,
		Keep:  maxOutput,
	}.Run(
		ctx,
	)
	printed, _ = end.Stdout.Text()
	complaint, _ = end.Stderr.Text()
	switch {
	case end.Cause != nil:
		err = end.Cause
	case end.Kind != process.Exited:
		err = fmt.Errorf("%s ended: %s", filepath.Base(argv[0]), end.How)
	case end.Exit != 0:
		err = fmt.Errorf("%s ended with status %d", filepath.Base(argv[0]), end.Exit)
	}
	return printed, complaint, err
}
