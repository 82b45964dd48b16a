package allowlist

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/tiers"
)

// Call is a request that was checked against the table. Only [Parse] and [ParseWords] make one. It is
// immutable. The zero Call cannot be run: its tier is None and its effect Unknown.
type Call struct {
	row    *row
	vault  string
	args   []arg // sorted by compareArgs
	effect tiers.Effect
	loses  string // see WithLoss
	shows  bool
}

// arg is one argument of a call. Its key comes from the table, so that the written
// argument cannot begin with a dash.
type arg struct {
	key, value string
	kind       kind
}

// compareArgs orders the argument list: values before flags, and each of them by key.
func compareArgs(a, b arg) int {
	if a.kind == kindFlag != (b.kind == kindFlag) {
		if a.kind == kindFlag {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.key, b.key)
}

// Valid reports whether c was made by Parse.
func (c Call) Valid() bool { return c.row != nil }

var noRow row // of the zero Call

func (c Call) definition() *row {
	if c.row == nil {
		return &noRow
	}
	return c.row
}

// Name returns the exact name of the command, "" for the zero Call.
func (c Call) Name() string { return c.definition().name }

// Tier returns the tier of the command.
func (c Call) Tier() tiers.Tier { return c.definition().tier }

// Effect returns the worst effect of this call: of its command, of its parameters,
// and of a loss set by [Call.WithLoss].
func (c Call) Effect() tiers.Effect {
	if c.loses != "" && tiers.Destroys.WorseThan(c.effect) {
		return tiers.Destroys
	}
	return c.effect
}

// WithLoss returns the call as a destructive one; why says what it removes or replaces. It never
// makes the effect of a call milder.
func (c Call) WithLoss(why string) Call {
	if c.Valid() {
		c.loses = why
	}
	return c
}

// Loss returns the reason given to [Call.WithLoss], "" if there is none.
func (c Call) Loss() string { return c.loses }

// Shows reports whether the call moves the focus or opens a view, in addition to its effect.
func (c Call) Shows() bool { return c.shows }

// Sends reports whether the call can carry data off the machine although its effect is not Publishes.
func (c Call) Sends() bool { return c.definition().sends }

// OpensWeb reports whether the call opens a web address.
func (c Call) OpensWeb() bool { return c.definition().opensWeb }

// EmbeddedOnly reports whether only the embedded CLI can run the call, because of its
// command, one of its parameters or a combination of them.
func (c Call) EmbeddedOnly() bool {
	if c.row == nil {
		return false
	}
	return c.row.embeddedOnly || c.embeddedOnlyParam() != "" || slices.ContainsFunc(c.row.embeddedWith, c.hasAll)
}

// FollowsLinks reports whether the call updates the links to the file that it moves. Only the
// embedded CLI does that regardless of the settings of the vault.
func (c Call) FollowsLinks() bool { return c.definition().followsLinks }

// PrintedProperty returns the name of the property if the answer is only its value, "" for other
// answers. Without the name, a password could not be recognized as one.
func (c Call) PrintedProperty() string {
	if !c.definition().printsValue {
		return ""
	}
	name, _ := c.Param("name")
	return name
}

// Searches reports whether the answer depends on note text that it does not contain, as with a search or a
// filter. Such a call could be used to guess a secret piece by piece if the program reads notes unredacted.
func (c Call) Searches() bool { return c.definition().searches }

func (c Call) hasAll(params []string) bool {
	return !slices.ContainsFunc(params, func(name string) bool { return !c.has(name) })
}

func (c Call) embeddedOnlyParam() string {
	i := slices.IndexFunc(c.args, func(a arg) bool { return c.row.param(a.key).embeddedOnly })
	if i < 0 {
		return ""
	}
	return c.args[i].key
}

// Since returns the first release of the app that supports the command as the table describes it.
func (c Call) Since() tiers.Version {
	switch {
	case c.row == nil:
		return tiers.Version{}
	case c.row.since == release{}:
		return tiers.Release(1, 12, 0)
	}
	return tiers.Release(c.row.since[0], c.row.since[1], c.row.since[2])
}

// targetParams are the parameters that name the note of a call.
var targetParams = [...]string{"path", "file", "ref", "daily"}

// UsesOpenNote reports whether the call works on the note that is open in the app, because it names none.
func (c Call) UsesOpenNote() bool {
	if r := c.definition(); r.target == targetActive {
		return !slices.ContainsFunc(targetParams[:], c.has) && !slices.ContainsFunc(r.targets, c.has)
	}
	return c.has("active")
}

// Reply describes what the call prints.
func (c Call) Reply() Reply {
	reply := c.definition().reply
	format, given := c.Param("format")
	if given {
		reply.JSON = format == "json"
	}
	hasColumn := c.has("counts") || c.has("verbose") || format == "csv" // a column after each path
	switch {
	case c.has("total"):
		reply.Kind = Facts
		reply.JSON = false // a bare number, whatever the format (recorded on 1.12.7)
	case reply.Kind == Paths && hasColumn:
		reply.Kind = Lines
	}
	reply.Form = c.formOf(reply)
	switch {
	case given || reply.Kind == Facts:
		reply.Headings = NoHeadings
	case reply.Headings != FileHeadings || c.has("verbose"):
	case c.has("group"):
		reply.Headings = ArrowHeadings
	default:
		reply.Headings = NoHeadings
	}
	reply.Confirms = slices.Clone(reply.Confirms)
	return reply
}

// formOf returns the form of the first line of the answer; reply is that of the row.
func (c Call) formOf(reply Reply) Form {
	fact, isOne := c.Param("info")
	switch {
	case c.has("total"), isOne && fact != "name" && fact != "path", c.has("words"), c.has("characters"):
		return Count
	case isOne, c.has("format"), reply.Form == TaskLines && c.has("verbose"):
		return AnyForm
	}
	return reply.Form
}

// Param returns the value of a parameter and whether it was given. The value of a flag is "".
func (c Call) Param(key string) (string, bool) {
	for _, a := range c.args {
		if a.key == key {
			return a.value, true
		}
	}
	return "", false
}

// Params returns a copy of the parameters of the call, which [Parse] accepts again.
func (c Call) Params() Params {
	params := make(Params, len(c.args))
	for _, a := range c.args {
		if a.kind == kindFlag {
			params[a.key] = Flag(true)
			continue
		}
		params[a.key] = Text(a.value)
	}
	return params
}

// Vault returns the name or id of the vault of the call, "" for the one that the app chooses.
func (c Call) Vault() string { return c.vault }

// In returns the call for a vault, given by name or id. The error is a
// [*ParseError] if vault is not a valid argument.
func (c Call) In(vault string) (Call, error) {
	p := param{name: "vault", kind: kindName}
	if _, reason := p.check(Text(vault)); reason != "" {
		return Call{}, &ParseError{code: CodeBadValue, Command: c.Name(), Param: "vault", Reason: reason}
	}
	c.vault = vault
	return c, nil
}

func (c Call) has(key string) bool {
	_, given := c.Param(key)
	return given
}

// String returns the call as one line for people, not for a shell.
func (c Call) String() string { return strings.Join(c.Items(), " ") }

// PathAccess returns which access the paths of the call need.
func (c Call) PathAccess() PathAccess { return c.definition().access }

// Naming returns how the answer of the call names the files that it is about, besides those that the call names.
func (c Call) Naming() Naming {
	r := c.definition()
	if r.reach == reachNothing {
		return NamesNothing
	}
	if r.naming.how <= NamesNotAll || r.naming.how == NamesNothing || r.naming.holds(c) {
		return r.naming.how
	}
	return NamesNotAll
}

// holds reports whether n, which is that of the row, applies to the answer of c.
func (n naming) holds(c Call) bool {
	format, _ := c.Param("format")
	inForm := n.forms == nil || slices.Contains(n.forms, format)
	if !inForm || c.has("total") || slices.ContainsFunc(n.not, c.has) {
		return false
	}
	if n.plain && c.HasValue(callsFunction) {
		return false
	}
	columns, _ := c.Param(n.columns)
	return !strings.Contains(columns, "path")
}

func callsFunction(value string) bool { return strings.Contains(value, "(") }

// AskedInFull returns the parameters of the call whose values must be shown in full when the user is asked for
// approval, because they decide what is changed. They are in the order of the row.
func (c Call) AskedInFull() []string {
	var names []string
	for _, p := range c.definition().params {
		if p.isAskedInFull() && c.has(p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

func (p *param) isAskedInFull() bool {
	return p.asked == askedInFull || p.asked == 0 && p.kind.isLong()
}

// PrintsNote reports whether the answer of the call is the complete text of one note.
func (c Call) PrintsNote() bool { return c.definition().printsNote && !c.has("frontmatter") }

// PrintsPath reports whether the answer of the call is the path of one note.
func (c Call) PrintsPath() bool { return c.definition().printsPath }

// IsProbe reports whether the call asks for the version of the program.
func (c Call) IsProbe() bool { return c.definition().probes }

// BuiltIn reports whether the app has the command without any plugin.
func (c Call) BuiltIn() bool { return c.definition().builtIn }

// PrintsNamed reports whether the answer is the unchanged text of the one file that the call names.
func (c Call) PrintsNamed() bool { return c.definition().printsNamed() }

func (r *row) printsNamed() bool { return r.printsNote && r.reach == reachNote }

// IsDaily reports whether the call works on a daily note: tomorrow the same call may work on another note.
func (c Call) IsDaily() bool { return c.definition().target == targetDaily }

// IsRandom reports whether the answer of the same call differs each time.
func (c Call) IsRandom() bool { return c.definition().random }

// DrawsNote reports whether the call prints a random note. The app does not tell which one it was.
func (c Call) DrawsNote() bool {
	return c.definition().random && c.Effect() == tiers.Reads && !c.Shows()
}

// OnlyReads reports whether the call only reads: it shows nothing in the app and sends nothing to another machine.
func (c Call) OnlyReads() bool { return c.Effect() == tiers.Reads && !c.Shows() && !c.Sends() }

// OpensRandom reports whether the call shows a random note in the app.
func (c Call) OpensRandom() bool { return c.definition().random && c.Effect() == tiers.Shows }

// OwnAnswer returns which answer the gateway itself gives to the call.
func (c Call) OwnAnswer() OwnAnswer { return c.definition().ownAnswer }

// NamedPath is a path that a call names.
type NamedPath struct {
	Param      string
	Path       string // canonical, without a slash at its end; "" is the root folder
	Folder, To bool   // whether it is a folder, and whether a file is moved there
}

// NamedPaths lists the paths of notes and folders that the call names, in the order of
// its arguments. Names that are resolved like links are left out.
func (c Call) NamedPaths() []NamedPath {
	var list []NamedPath
	for _, a := range c.args {
		s := NamedPath{Param: a.key, Path: a.value}
		switch a.kind {
		case kindPath, kindNewPath:
		case kindRef:
			s.Path = a.value[:strings.LastIndexByte(a.value, ':')]
		case kindFolder:
			s.Folder = true
		case kindDestination:
			s.To = true
			s.Folder = strings.HasSuffix(a.value, "/")
		default:
			continue
		}
		s.Path = strings.TrimSuffix(s.Path, "/")
		list = append(list, s)
	}
	return list
}

// TouchesOneNote reports whether the call reads and changes only the note whose path it names.
func (c Call) TouchesOneNote() bool {
	if c.row == nil || c.row.reach != reachNote || c.has("template") {
		return false
	}
	return slices.ContainsFunc(c.NamedPaths(), func(s NamedPath) bool { return !s.Folder && !s.To })
}

// ChangesMany reports whether the call searches a folder or the whole vault for the notes to
// change, so that computing the change can take seconds.
func (c Call) ChangesMany() bool {
	return c.row != nil && (c.row.many || slices.ContainsFunc(c.row.targets, c.has))
}

// Apart reports whether the call needs a process of its own, which answers no other call.
func (c Call) Apart() bool { return c.definition().apart }

// TouchesNoNote reports whether the call reads and changes no note at all.
func (c Call) TouchesNoNote() bool { return c.definition().reach == reachNothing }

// DailyPath returns the call by which StepReadDaily asks for the path of the daily note, in the same vault.
func (c Call) DailyPath() (Call, error) {
	question, err := Parse("daily:path", nil)
	question.vault = c.vault
	return question, err
}

// VersionText returns the call by which StepVersion asks for the text of a version, for the same note and vault. The
// error is a [*ParseError] if c does not restore a version from a history of the app.
func (c Call) VersionText() (Call, error) {
	params := c.Params()
	question, err := Parse(c.definition().versions.read, params)
	question.vault = c.vault
	return question, err
}

// VersionsOf describes the history of the app that has the versions of the call, for messages; "" for a call that is
// not about versions.
func (c Call) VersionsOf() string { return c.definition().versions.of }

// HasStep reports whether a step is part of the call when the app runs it.
func (c Call) HasStep(s Step) bool {
	switch s {
	case StepLocate:
		_, named := c.Named()
		return named
	case StepLocateNew:
		_, named := c.NamesNew()
		return named
	}
	for _, r := range c.definition().steps {
		if r.step == s && (r.without == "" || !c.has(r.without)) {
			return true
		}
	}
	return false
}
