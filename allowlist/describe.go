package allowlist

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/tiers"
)

// Command describes one command of the table. It is a copy that shares no memory with it.
type Command struct {
	Name          string
	Summary       string
	Tier          tiers.Tier
	Effect, Worst tiers.Effect // without optional parameters, and with the worst ones
	Shows         bool         // every call moves the focus or opens a view
	Sends         bool         // can carry data off the machine
	Notes         bool         // may read or change notes
	DestroysNote  bool         // every call removes or replaces something of the one note that it names
	EmbeddedOnly  bool         // an extension of the embedded vault CLI
	NeedsApp      bool         // the embedded vault CLI does not answer it
	Since         tiers.Version
	Params        []Param
}

// Param describes one parameter of a [Command].
type Param struct {
	Name     string
	Kind     string // "flag", "text", "path", …
	Hint     string // how usage lines of the Obsidian CLI name the value, "" for a flag or a choice
	Summary  string
	Required bool
	Choices  []string
	Effect   tiers.Effect // the minimum effect of a call with it; Unknown if it does not change the effect
	Shows    bool
	Refused  string // why it is never passed on, "" when it is
	Rare     bool   // left out of a brief signature
	Terse    bool   // written without its choices in a brief signature
}

// Commands describes every command in table order.
func Commands() iter.Seq[Command] {
	return func(yield func(Command) bool) {
		for _, part := range table {
			for i := range part.rows {
				if !yield(part.rows[i].describe()) {
					return
				}
			}
		}
	}
}

// Exists reports whether there is a command of that name.
func Exists(name string) bool { return find(name) != nil }

// Describe returns the description of one command. The error is a [*ParseError] with CodeUnknownCommand.
func Describe(name string) (Command, error) {
	r := find(name)
	if r == nil {
		return Command{}, unknownCommand(name)
	}
	return r.describe(), nil
}

// Takes reports whether a command has the parameter name.
func Takes(command, name string) bool {
	r := find(command)
	return r != nil && r.param(name) != nil
}

// TakesList reports whether a parameter of a command accepts a list: the values of a property, the paths of files,
// or the columns of a table.
func TakesList(command, name string) bool {
	isList := name == "value" || name == "files" || slices.Contains(columnLists, name)
	return isList && Takes(command, name)
}

// TakesData reports whether a parameter of a command accepts the bytes of a file in base64, which
// may be longer than any text.
func TakesData(command, name string) bool {
	r := find(command)
	if r == nil {
		return false
	}
	p := r.param(name)
	return p != nil && p.kind == kindData
}

// Commands that answers suggest, whatever command was called.
const (
	FindsNotes    = "find"    // finds a note whose name or wording is not known exactly
	ListsHeadings = "outline" // shows which part of a long note is worth reading
)

// Wider returns the command to suggest if command has found nothing, "" for none.
func Wider(command string) string { return rowNamed(command).wider }

// Maker returns the command that creates the note that command needs, "" if none is to be suggested.
func Maker(command string) string { return rowNamed(command).maker }

// OfFolders returns the command that does the same to folders, "" for none.
func OfFolders(command string) string { return rowNamed(command).ofFolders }

// TakesBack reports whether a command undoes changes.
func TakesBack(command string) bool { return rowNamed(command).undoes }

// AnswersApart reports whether a command is run in a separate process, see [Call.Apart].
func AnswersApart(command string) bool { return rowNamed(command).apart }

// ListsVaults reports whether a command reads the list of vaults that the app keeps outside of the vault.
func ListsVaults(command string) bool { return rowNamed(command).listsVaults }

// RestoresVersion reports whether a command restores a version from a history of the app, see [StepVersion].
func RestoresVersion(command string) bool { return rowNamed(command).versions.read != "" }

// ShowsVersions reports whether a command is about earlier versions of the note that it names: its answer, or what it
// writes, can contain text of them.
func ShowsVersions(command string) bool {
	r := rowNamed(command)
	return r.versions.of != "" || r.undoes
}

// PrintsNamed reports whether the answer of a command is text of the one file that it names, see
// [Call.PrintsNamed].
func PrintsNamed(command string) bool { return rowNamed(command).printsNamed() }

// OwnAnswerNamesNotes reports whether the gateway itself answers a command with text that names notes.
func OwnAnswerNamesNotes(command string) bool {
	r := rowNamed(command)
	switch r.ownAnswer {
	case AnswersNothing:
		return false
	case AnswersApprovals: // it names the notes under a proposal that have changed
		return true
	}
	return Call{row: r}.Naming() != NamesNothing
}

// Verb words a command for people: the infinitive, the past form, and the preposition before the name of the
// note, "" for none. An example is "add text", "added text" and "to" Plan.md.
type Verb struct{ Wants, Did, Before string }

// VerbOf returns the verb of a command. ok is false if the command is unknown or can never be enabled.
func VerbOf(command string) (v Verb, ok bool) {
	words := rowNamed(command).verb
	return Verb{words.wants, words.did, words.before}, words != verb{}
}

// rowNamed returns the row of a command, and noRow for a name that the table does not have.
func rowNamed(command string) *row {
	if r := find(command); r != nil {
		return r
	}
	return &noRow
}

func (r *row) describe() Command {
	c := Command{
		Name:         r.name,
		Summary:      r.summary,
		Tier:         r.tier,
		Effect:       r.effect,
		Worst:        r.effect,
		Shows:        r.alwaysShows || r.effect == tiers.Shows,
		Sends:        r.sends,
		Notes:        r.reach != reachNothing,
		DestroysNote: r.reach == reachNote && r.effect == tiers.Destroys,
		EmbeddedOnly: r.embeddedOnly,
		NeedsApp:     r.needsApp,
		Since:        Call{row: r}.Since(),
		Params:       make([]Param, 0, len(r.params)),
	}
	for i := range r.params {
		p := r.describeParam(&r.params[i])
		if p.Effect != tiers.Unknown && p.Effect.WorseThan(c.Worst) {
			c.Worst = p.Effect
		}
		c.Params = append(c.Params, p)
	}
	return c
}

func (r *row) describeParam(p *param) Param {
	described := Param{
		Name:     p.name,
		Kind:     p.kind.String(),
		Hint:     cmp.Or(p.hint, kinds[p.kind].hint),
		Summary:  p.summary,
		Required: p.required,
		Choices:  append([]string(nil), p.choices...),
		Shows:    slices.Contains(r.shows, p.name),
		Refused:  p.refused,
		Rare:     p.rare,
		Terse:    p.terse,
	}
	for _, e := range r.when {
		if e.param == p.name {
			described.Effect = e.effect
		}
	}
	return described
}

// Ellipsis stands for the parameters that a brief signature omits.
const Ellipsis = "…"

// SignatureForm says how much a signature shows.
type SignatureForm uint8

const (
	// FullSignature has all parameters.
	FullSignature SignatureForm = iota
	// BriefSignature replaces rarely needed parameters with an ellipsis and omits those that only affect the display
	// in the app. The help of the command lists them all.
	BriefSignature
)

// Signature returns the command and its parameters as one short line:
//
//	tasks [path= done format=json|tsv|csv]
//
// Required parameters come before the brackets. Parameters for which allowed is false are left out.
func (c Command) Signature(allowed func(Param) bool, form SignatureForm) string {
	brief := form == BriefSignature
	var required, optional []string
	omitsParams := false
	for _, p := range c.Params {
		if p.Refused != "" || !allowed(p) {
			continue
		}
		written := p.Name
		if p.Kind != kindFlag.String() {
			written += "=" + strings.Join(p.Choices, "|")
		}
		switch {
		case p.Required && p.Terse && brief:
			required = append(required, p.Name+"=")
		case p.Required:
			required = append(required, written)
		case brief && p.Rare:
			if !p.Shows && !c.Shows {
				omitsParams = true
			}
		default:
			optional = append(optional, written)
		}
	}
	if omitsParams {
		optional = append(optional, Ellipsis)
	}
	line := strings.Join(append([]string{c.Name}, required...), " ")
	if len(optional) == 0 {
		return line
	}
	return line + " [" + strings.Join(optional, " ") + "]"
}
