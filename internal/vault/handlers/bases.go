package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

func init() {
	register(
		Command{Name: "bases", Run: listBases},
		Command{Name: "base:views", Run: listViews},
		Command{Name: "base:check", Run: checkBase},
		Command{Name: "base:eval", Run: evaluate},
		Command{Name: "base:query", Run: queryBase},
		Command{Name: "query", Run: func(v *call.Vault, p call.Values) (answer.Reply, error) {
			return answerQuery(v, &bases.Base{}, "", "", p, p.Has("all")) // a query without a base
		}},
	)
}

const baseExtension = "base"

// listBases lists the bases of the vault.
func listBases(v *call.Vault, p call.Values) (answer.Reply, error) {
	found, err := v.PathsBelow("", func(l call.Listed) bool { return l.Path.Ext() == baseExtension })
	if err != nil {
		return answer.Reply{}, err
	}
	none := answer.Text("No base files found in vault") // without a full stop, as in the app
	return listReply(v, p, found, none), nil
}

// listViews prints the name and the type of each view, as the app does for the open base; file= and path= are an
// extension. A view without a name or type has an empty cell: what the app prints there is not known.
func listViews(v *call.Vault, p call.Values) (answer.Reply, error) {
	base, err := base(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := textOfBase(v, base)
	if err != nil {
		return answer.Reply{}, err
	}
	content, err := frontmatter.Parse(text) // a base is one block of YAML
	if err != nil {
		return answer.Reply{}, answer.Failure("Base file %q cannot be read: %v", answer.Verbatim(base.String()), err)
	}
	views, _ := content.Lookup("views")
	table := answer.Table{}
	for _, view := range views.Value.List() {
		name, _ := view.Fields().Lookup("name")
		kind, _ := view.Fields().Lookup("type")
		table.Rows = append(table.Rows, []string{name.Value.String(), kind.Value.String()})
	}
	return table.Reply(v.Disk, answer.FormatTSV), nil
}

// base returns the path of the base that a request means. The name may omit the extension, as for a note.
func base(v *call.Vault, p call.Values) (disk.Path, error) {
	if name := p["file"]; name != "" && !strings.HasSuffix(name, "."+baseExtension) {
		p["file"] = name + "." + baseExtension
	}
	t, err := v.Target(p)
	switch {
	case err != nil && (p.Has("file") || p.Has("path")):
		return disk.Path{}, answer.BaseNotFound(p["file"] + p["path"])
	case err != nil:
		return disk.Path{}, err
	case t.Path.Ext() == baseExtension:
		return t.Path, nil
	case p.Has("path") && t.Path.Ext() == "":
		return disk.Path{}, answer.BaseNotFound(t.Path.String())
	case p.Has("path"):
		return disk.Path{}, answer.Failure("Not a base file: %q", answer.Verbatim(t.Path.String()))
	}
	return disk.Path{}, answer.Failure("Active file is not a base file: %s", t.Path)
}

// textOfBase reads a base, or a note that contains one.
func textOfBase(v *call.Vault, path disk.Path) ([]byte, error) {
	text, err := v.Disk.Read(path)
	switch {
	case disk.IsMissing(err):
		return nil, answer.BaseNotFound(path.String())
	case err != nil:
		return nil, answer.ReadError(path.String(), err)
	}
	return text, nil
}

// checkBase lists all problems of a base, including invalid YAML.
func checkBase(v *call.Vault, p call.Values) (answer.Reply, error) {
	path, err := base(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	text, err := textOfBase(v, path)
	if err != nil {
		return answer.Reply{}, err
	}
	parsed, err := bases.Read(text)
	malformed, isMalformed := errors.AsType[*frontmatter.Malformed](err)
	if err != nil && !isMalformed {
		return answer.Reply{}, err
	}
	var problems []bases.Problem
	if isMalformed {
		problems = []bases.Problem{{Line: malformed.Line, Fatal: true, Text: malformed.Reason, Position: -1}}
	} else {
		names, err := expressionNames(v)
		if err != nil {
			return answer.Reply{}, err
		}
		problems = append(parsed.Problems, parsed.Doubts(names)...)
		slices.SortStableFunc(problems, func(a, b bases.Problem) int { return cmp.Compare(a.Line, b.Line) })
	}
	if p["format"] != answer.FormatJSON {
		lines := answer.Map(problems, func(problem bases.Problem) string { return problem.String() })
		return answer.FromNote(v.Disk, path, text, cmp.Or(strings.Join(lines, "\n"), "No problems found.")), nil
	}
	type row struct {
		Line       int    `json:"line,omitempty"`
		Severity   string `json:"severity"`
		Problem    string `json:"problem"`
		Expression string `json:"expression,omitempty"`
		Position   *int   `json:"position,omitempty"`
	}
	rows := []row{}
	for _, problem := range problems {
		r := row{
			Line:       problem.Line,
			Severity:   problem.Severity(),
			Problem:    problem.Text,
			Expression: problem.Expression,
		}
		if problem.Position >= 0 {
			r.Position = &problem.Position
		}
		rows = append(rows, r)
	}
	printed, err := json.MarshalIndent(rows, "", "  ")
	return answer.FromNote(v.Disk, path, text, string(printed)), err
}

// evaluate prints the value of one expression for a note.
func evaluate(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	names, err := expressionNames(v)
	if err != nil {
		return answer.Reply{}, err
	}
	files, err := baseFiles(v, t.Path.String())
	if err != nil {
		return answer.Reply{}, err
	}
	entry := files.Entry(t.Path.String())
	if entry == nil {
		return answer.Reply{}, answer.FileNotFound(t.Typed)
	}
	src := files.Source()
	if p.Has("base") {
		text := p["base"]
		path, err := v.PathOf(text)
		if err != nil || path.Ext() != baseExtension {
			return answer.Reply{}, answer.BaseNotFound(text)
		}
		base, _, err := readBase(v, path, "")
		if err != nil {
			return answer.Reply{}, err
		}
		src.Formulas = base.Formulas
		names.Formulas = base.Formulas
	}
	program, unknown, err := bases.Judge(p["expr"], names)
	if err != nil {
		return answer.Reply{}, badExpression("expr", p["expr"], err)
	}
	result, err := evaluated(v.Ctx, src.Environment, entry, program)
	if err != nil {
		return answer.Reply{}, queryFailed(err)
	}
	if result.IsError() {
		return answer.Reply{}, answer.Failure("%s", result.Message())
	}
	if p["format"] != answer.FormatJSON {
		return answer.From(v.Disk, result.Text()).Noting(unknownProperties(unknown, names)), nil
	}
	printed, err := json.Marshal(struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Value json.RawMessage `json:"value"`
	}{result.Kind().String(), result.Text(), result.JSON()})
	return answer.From(v.Disk, string(printed)).Noting(unknownProperties(unknown, names)), err
}

func evaluated(
	ctx context.Context,
	env formula.Environment,
	entry formula.Entry,
	program *formula.Program,
) (formula.Value, error) {
	session := formula.NewSession(ctx, env)
	result := session.Row(entry).Eval(program)
	return result, session.Err()
}

// noteBase is a base in a note: a code block, or the embed of a base file.
type noteBase struct {
	base *bases.Base
	view string // the only view that the embed shows, "" if it shows the whole base, and then the first view is meant
}

// basesIn returns the bases of a note, its code blocks first.
func basesIn(v *call.Vault, path disk.Path, text []byte) (found []noteBase, err error) {
	for _, block := range codeBlocks(string(text), baseExtension) {
		base, err := parseBase([]byte(block))
		if err != nil {
			return nil, err
		}
		found = append(found, noteBase{base: base})
	}
	var idx *index.Index
	for _, l := range index.ReadNote(text).Note.Links {
		if !l.Embed || !strings.HasSuffix(l.Path, "."+baseExtension) {
			continue
		}
		if idx == nil {
			if idx, err = v.Index(); err != nil {
				return nil, err
			}
		}
		place, ok := idx.ResolveFrom(l.Path, path.String())
		if !ok {
			continue
		}
		base, _, err := readBase(v, idx.Files[place].Path, "")
		if err != nil {
			return nil, err
		}
		found = append(found, noteBase{base, strings.TrimPrefix(l.Subpath, "#")})
	}
	return found, nil
}

// codeBlocks returns the texts of the fenced code blocks of a language.
func codeBlocks(text, language string) (blocks []string) {
	var fence, block string
	wanted := false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		mark := "" // of a fence at the start of the line
		rest := strings.TrimLeft(line, " ")
		if len(line)-len(rest) <= 3 && (strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~")) {
			mark = rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
		}
		switch {
		case fence == "" && mark != "":
			fence = mark
			block = ""
			wanted = strings.TrimSpace(bare[len(mark):]) == language
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]) == "":
			if wanted {
				blocks = append(blocks, block)
			}
			fence = ""
		case fence != "":
			block += line
		}
	}
	return blocks
}

// queryBase answers a view of a base.
func queryBase(v *call.Vault, p call.Values) (answer.Reply, error) {
	path, err := v.PathOf(p["path"])
	if !p.Has("path") || err != nil || path.Ext() != "md" { // a note given by its path may contain a base
		path, err = base(v, p)
	}
	if err != nil {
		return answer.Reply{}, err
	}
	base, name, err := readBase(v, path, p["view"])
	if err != nil {
		return answer.Reply{}, err
	}
	return answerQuery(v, base, name, path.String(), p, true)
}

func answerQuery(
	v *call.Vault,
	base *bases.Base,
	viewName, this string,
	p call.Values,
	everyFile bool,
) (answer.Reply, error) {
	names, err := expressionNames(v)
	if err != nil {
		return answer.Reply{}, err
	}
	names.Formulas = base.Formulas
	q, unknown, err := parseQuery(base, viewName, p, names)
	if err != nil {
		return answer.Reply{}, err
	}
	if p.Has("this") {
		path, err := v.FindPath(p["this"])
		if err == nil {
			_, err = v.Disk.Stat(path)
		}
		if err != nil {
			return answer.Reply{}, answer.ReadError(p["this"], err)
		}
		this = path.String()
	}
	files, err := baseFiles(v, this)
	if err != nil {
		return answer.Reply{}, err
	}
	src := files.Source()
	if !everyFile {
		src = src.Only(func(e formula.Entry) bool { return strings.HasSuffix(e.Path(), ".md") })
	}
	table, err := base.Run(v.Ctx, src, q)
	if err != nil {
		return answer.Reply{}, queryFailed(err)
	}
	printed := ""
	if format := cmp.Or(p["format"], bases.JSON); format != bases.JSON {
		printed = table.Print(format)
	} else {
		printed = table.JSON(bases.Details{
			Typed:     p["values"] == "typed",
			Groups:    p.Has("groups"),
			Summaries: p.Has("summaries"),
			Explain:   p.Has("explain"),
		})
	}
	reply := answer.From(v.Disk, printed)
	notice, err := oddities(table, base.Doubts(names))
	if err != nil {
		return answer.Reply{}, err
	}
	reply.Notice = notice.And(unknownProperties(unknown, names))
	if table.Total == 0 && reply.Notice == (answer.Notice{}) {
		reply.Notice = answer.Remark("no row passes the filters; explain says how many each of them dropped")
	}
	return limited(reply, q.Offset+len(table.Rows), table.Total, "row"), nil
}

// oddities returns notices about what probably makes an answer differ from what was meant: expressions that failed,
// sort keys with values of several kinds, and doubts about the base. It returns an error if an expression of the
// request failed for every row.
func oddities(table *bases.Table, doubts []bases.Problem) (odd answer.Notice, err error) {
	for _, f := range table.Failures {
		if f.OfRequest && f.Failed == f.Asked {
			return answer.Notice{}, answer.MisuseWithHint(
				"base:eval shows the value of an expression for one note",
				"The expression %s failed for each of %s, as for %s: %s",
				answer.Verbatim(f.Expression),
				answer.Count(f.Asked, "file"),
				answer.Verbatim(f.Path),
				answer.Verbatim(f.Error),
			)
		}
		odd = odd.And(answer.Remark(
			"the expression %s failed for %d of %s, as for %s: %s",
			answer.Verbatim(f.Expression),
			f.Failed,
			answer.Count(f.Asked, "file"),
			answer.Verbatim(f.Path),
			answer.Verbatim(f.Error),
		))
	}
	for _, mixed := range table.Mixed {
		odd = odd.And(mixedKinds(mixed))
	}
	for _, doubt := range doubts[:min(len(doubts), maxDoubts)] {
		doubt.Line = 0
		odd = odd.And(answer.Remark("in the base, %s", answer.Verbatim(doubt.Text)))
	}
	if len(doubts) > maxDoubts {
		odd = odd.And(answer.Remark("base:check lists more"))
	}
	return odd, nil
}

// mixedKinds describes the kinds of the values of a sort key, such as "2 dates, 1 text".
func mixedKinds(m bases.Mixed) answer.Notice {
	var kinds []string
	for _, kind := range []struct {
		rows int
		name string
	}{
		{m.Dates, "date"},
		{m.Numbers, "number"},
		{m.Durations, "duration"},
		{m.Texts, "text"},
	} {
		if kind.rows > 0 {
			kinds = append(kinds, answer.Count(kind.rows, kind.name))
		}
	}
	return answer.Remark("the values of %s are of several kinds, which have no order among each other: %s",
		answer.Verbatim(m.Key), strings.Join(kinds, ", "))
}

// maxDoubts is how many doubts about a base an answer mentions; base:check lists all.
const maxDoubts = 2

// expressionNames returns the names that an expression can use in this vault.
func expressionNames(v *call.Vault) (bases.Names, error) {
	properties, err := propertyNames(v)
	if err != nil {
		return bases.Names{}, err
	}
	types, err := propertyTypes(v)
	if err != nil {
		return bases.Names{}, err
	}
	properties = slices.Clip(properties)
	for _, more := range []map[string]string{types, ownTypes} {
		properties = append(properties, slices.Sorted(maps.Keys(more))...)
	}
	return bases.Names{
		Properties: properties,
		Meant: func(field, text string) string {
			idx, err := v.Index()
			if err != nil {
				return ""
			}
			return meantFile(idx.Files, field, text)
		},
	}, nil
}

// meantFile returns the value that a comparison of a file's field (path, folder, name or basename) with text probably
// means: the only value of a visible file that differs from text in case, parent folders or extension. It returns "" if
// a file has exactly this value, or if there is no candidate or more than one.
func meantFile(files []*index.File, field, text string) string {
	meant := ""
	for _, file := range files {
		path := file.Path.String()
		value := file.Path.Base()
		if file.IsNote() || field == "basename" {
			value = file.Path.Stem()
		}
		similar := []string{value}
		switch field {
		case "path":
			similar = []string{path, strings.TrimSuffix(path, ".md"), file.Path.Base(), value}
			value = path
		case "folder":
			value = cmp.Or(file.Path.Folder(), "/")
			similar = []string{value}
		}
		if value == text {
			return ""
		}
		isSimilar := slices.ContainsFunc(similar, func(n string) bool { return strings.EqualFold(n, text) })
		if !isSimilar || value == meant {
			continue
		}
		if meant != "" {
			return ""
		}
		meant = value
	}
	return meant
}

// badExpression returns the error for an invalid expression of a request, with a hint if there is one.
func badExpression(param, text string, err error) error {
	var mistake *bases.Mistake
	if !errors.As(err, &mistake) {
		return answer.Misuse("Invalid value for %s: %s: %v", param, answer.Verbatim(text), err)
	}
	return answer.MisuseWithHint(mistake.Hint(), "Invalid value for %s: %s: %v", param, answer.Verbatim(text), mistake)
}

// unknownProperties returns a notice about the properties that an expression uses and no note has, "" if there are
// none.
func unknownProperties(unknown []string, names bases.Names) (notice answer.Notice) {
	for _, name := range unknown {
		notice = notice.And(
			answer.Remark("no note has the property %q", answer.Verbatim(name)),
			answer.Remark("%s", answer.DidYouMean(lookup.NearestNames(name, names.Properties))),
		)
	}
	return notice
}

// parseQuery parses the parameters of a request that refine a view. unknown are the properties that they use and no
// note has.
func parseQuery(
	base *bases.Base,
	viewName string,
	p call.Values,
	names bases.Names,
) (q bases.Query, unknown []string, err error) {
	q = bases.Query{View: viewName, Explain: p.Has("explain")}
	parse := func(text string) (*formula.Program, error) {
		program, missing, err := bases.Judge(text, names)
		for _, name := range missing {
			if !slices.Contains(unknown, name) {
				unknown = append(unknown, name)
			}
		}
		return program, err
	}
	read := func(name string, parse func(text string) error) {
		if err != nil || !p.Has(name) {
			return
		}
		if failed := parse(p[name]); failed != nil {
			err = badExpression(name, p[name], failed)
		}
	}
	read("where", func(text string) (err error) { q.Where, err = parse(text); return err })
	read("select", func(text string) (err error) {
		q.Columns, err = bases.ParseColumns(text, base.Label, parse)
		return err
	})
	read("sort", func(text string) (err error) { q.Sort, err = bases.ParseKeys(text, parse); return err })
	read("group", func(text string) error {
		key, err := bases.ParseKey(text, parse)
		q.Group = &key
		return err
	})
	read("limit", func(text string) (err error) { q.Limit, err = parseCount(text, 1); return err })
	read("offset", func(text string) (err error) { q.Offset, err = parseCount(text, 0); return err })
	return q, unknown, err
}

// parseCount parses a number of rows.
func parseCount(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("want a whole number of at least %d", least)
	}
	return n, nil
}

// queryFailed returns the error of a query as a fault; nil for nil.
func queryFailed(err error) error {
	var unknown *bases.UnknownView
	var broken *bases.Error
	switch {
	case errors.As(err, &unknown):
		return noView(unknown)
	case errors.As(err, &broken):
		return answer.Failure("%v", err)
	}
	return err
}

// noView returns the error for an unknown view. Its hint names the views of the base.
func noView(unknown *bases.UnknownView) error {
	kind := answer.NotFoundNearest
	if len(unknown.Known) > 0 {
		kind.Hint = fmt.Sprintf("the views are %s", answer.List(unknown.Known, maxViews))
	}
	return kind.DidYouMean(lookup.NearestNames(unknown.Name, unknown.Known), "%v", unknown)
}

// maxViews is how many views a hint lists.
const maxViews = 12

// baseFiles returns the files of the vault as expressions see them. this is the path of the file that the
// expression "this" stands for.
func baseFiles(v *call.Vault, this string) (*bases.Vault, error) {
	idx, err := v.Index()
	if err != nil {
		return nil, err
	}
	types, err := propertyTypes(v)
	if err != nil {
		return nil, err
	}
	excluded, _, err := v.Excluded()
	if err != nil {
		return nil, err
	}
	return v.Host.Bases.New(
		bases.Config{Folder: v.Disk, Index: idx, Types: types, Now: v.Clock(), Excluded: excluded, This: this},
	), nil
}

// readBase reads a base, or the base in a note that has the view. It also returns the name of the view in that base.
func readBase(v *call.Vault, path disk.Path, viewName string) (*bases.Base, string, error) {
	text, err := textOfBase(v, path)
	if err != nil {
		return nil, "", err
	}
	if path.Ext() == "md" {
		return readNoteBase(v, path, text, viewName)
	}
	base, err := parseBase(text)
	return base, viewName, err
}

// readNoteBase is [readBase] for the text of a note. The view is given by its name or by its number among all views
// of the note; the default is the first.
func readNoteBase(v *call.Vault, path disk.Path, text []byte, viewName string) (*bases.Base, string, error) {
	found, err := basesIn(v, path, text)
	if err != nil {
		return nil, "", err
	}
	if len(found) == 0 {
		return nil, "", answer.Failure("There is no base in the note: %q", answer.Verbatim(path.String()))
	}
	if viewName == "" {
		return found[0].base, found[0].view, nil
	}
	var names []string
	for _, b := range found {
		views := []string{b.view}
		if b.view == "" {
			views = answer.Map(b.base.Views, func(view bases.View) string { return view.Name })
		}
		for _, name := range views {
			names = append(names, name)
			if name == viewName || strconv.Itoa(len(names)) == viewName {
				return b.base, name, nil
			}
		}
	}
	return nil, "", noView(&bases.UnknownView{Name: viewName, Known: names})
}

// parseBase parses the text of a base. For invalid YAML the error has only the reason, as in the app.
func parseBase(text []byte) (*bases.Base, error) {
	base, err := bases.Read(text)
	if malformed, ok := errors.AsType[*frontmatter.Malformed](err); ok {
		return nil, answer.Failure("%v", malformed)
	}
	return base, err
}
