package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/eval"
	"vaultwicket/cmd/internal/vault/bases/source"
	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/bases/view"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

// queryParams are those that change what a view answers, or that take its place.
// The app has none of them.
func queryParams() []param {
	return []param{
		{name: "where", hint: "expression", about: "One more filter"},
		{name: "select", hint: "columns", about: "Columns: properties or expressions, each as \"label: expression\" if need be"},
		{name: "sort", hint: "keys", about: "Sort by these properties or expressions; \"due desc, file.name\""},
		{name: "group", hint: "key", about: "Group by this property or expression"},
		{name: "limit", hint: "n", about: "Maximum number of rows"},
		{name: "offset", hint: "n", about: "Rows to leave out at the beginning"},
		{name: "format", oneOf: view.Formats(), about: "Output format, default: json"},
		{name: "values", oneOf: []string{"text", "typed"}, about: "JSON values as text or in their own types, default: text"},
		{name: "groups", kind: flag, about: "Add the groups to JSON"},
		{name: "summaries", kind: flag, about: "Add the summaries to JSON"},
		{name: "explain", kind: flag, about: "Add to JSON how many rows each filter dropped"},
		{name: "this", hint: "path", about: "The note for which this stands, default: the base"},
	}
}

func baseQueryCommands() []command {
	base := []param{
		{name: "file", hint: "name", about: "Base by its name, resolved like a link"},
		{name: "path", hint: "path", about: "Base, or note with a base in it, by its path from the vault's folder"},
	}
	return []command{
		{
			name: "base:query", about: "Print the rows of a base",
			params: append(append(base, param{name: "view", hint: "name", about: "View by its name or number, default: the first"}), queryParams()...),
			run:    queryBase,
		},
		{name: "query", about: "Print the notes that a filter matches, as the rows of a base", params: append(queryParams(),
			param{name: "all", kind: flag, about: "Also files that are not notes"}), run: queryVault},
		{
			name: "base:eval", about: "Evaluate one expression of bases for a note",
			params: append(targetParams(),
				param{name: "expr", hint: "expression", required: true, about: "The expression"},
				param{name: "base", hint: "path", about: "A base whose formulas can be used"},
				param{name: "format", oneOf: []string{"text", formJSON}, about: "Output format, default: text"}),
			run: evaluate,
		},
		{
			name: "base:check", about: "List what is wrong with a base",
			params: append(base[:2:2], param{name: "format", oneOf: []string{"text", formJSON}, about: "Output format, default: text"}),
			run:    checkBase,
		},
	}
}

// queryBase answers a view of a base.
func queryBase(v *vault, p params) (reply, error) {
	path, err := v.baseOrNote(p)
	if err != nil {
		return reply{}, err
	}
	base, name, err := v.readBase(path, p["view"])
	if err != nil {
		return reply{}, err
	}
	return v.answerQuery(base, name, path.String(), p, true)
}

// queryVault answers a query that is not in any base.
func queryVault(v *vault, p params) (reply, error) {
	return v.answerQuery(&view.Base{}, "", "", p, p.has("all"))
}

func (v *vault) answerQuery(base *view.Base, viewName, this string, p params, everyFile bool) (reply, error) {
	q, err := parseQuery(base, viewName, p)
	if err != nil {
		return reply{}, err
	}
	if p.has("this") {
		if this, err = v.existing(p["this"]); err != nil {
			return reply{}, err
		}
	}
	files, err := v.baseFiles(this)
	if err != nil {
		return reply{}, err
	}
	src := files.Source()
	if !everyFile {
		src = src.Only(func(e value.Entry) bool { return strings.HasSuffix(e.Path(), ".md") })
	}
	table, err := base.Run(v.ctx, src, q)
	if err != nil {
		return reply{}, queryFailed(err)
	}
	if format := cmp.Or(p["format"], view.JSON); format != view.JSON {
		return say(table.Print(format)), nil
	}
	return say(table.JSON(view.Details{
		Typed: p["values"] == "typed", Groups: p.has("groups"), Summaries: p.has("summaries"), Explain: p.has("explain"),
	})), nil
}

// existing returns the path of a file that has to be there.
func (v *vault) existing(typed string) (string, error) {
	path, err := v.find(typed)
	if err == nil {
		_, err = v.disk.Stat(path)
	}
	if err != nil {
		return "", unreadable(typed, err)
	}
	return path.String(), nil
}

// parseQuery reads what a request lays over a view.
func parseQuery(base *view.Base, viewName string, p params) (q view.Query, err error) {
	q = view.Query{View: viewName, Explain: p.has("explain")}
	read := func(name string, parse func(text string) error) {
		if err != nil || !p.has(name) {
			return
		}
		if failed := parse(p[name]); failed != nil {
			err = misuse("Invalid value for %s: %s: %v", name, verbatim(p[name]), failed)
		}
	}
	read("where", func(text string) (err error) { q.Where, err = view.ParseExpression(text); return err })
	read("select", func(text string) (err error) { q.Columns, err = view.ParseColumns(text, base.Label); return err })
	read("sort", func(text string) (err error) { q.Sort, err = view.ParseKeys(text); return err })
	read("group", func(text string) error {
		key, err := view.ParseKey(text)
		q.Group = &key
		return err
	})
	read("limit", func(text string) (err error) { q.Limit, err = count(text, 1); return err })
	read("offset", func(text string) (err error) { q.Offset, err = count(text, 0); return err })
	return q, err
}

// count reads how many rows are meant.
func count(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("want a whole number of at least %d", least)
	}
	return n, nil
}

// queryFailed says why a query has no answer.
func queryFailed(err error) error {
	var unknown *view.UnknownView
	var broken *view.Error
	switch {
	case errors.As(err, &unknown):
		return notFound.failure("%v", err)
	case errors.As(err, &broken):
		return failure("%v", err)
	case errors.Is(err, eval.ErrTooMuch):
		return failure("The query was stopped: %v.", err)
	}
	return err
}

// baseFiles returns the files of the vault as expressions see them. this is the
// path for which this stands.
func (v *vault) baseFiles(this string) (*source.Vault, error) {
	x, err := v.index()
	if err != nil {
		return nil, err
	}
	types, err := v.propertyTypes()
	if err != nil {
		return nil, err
	}
	excluded, err := v.excluded()
	if err != nil {
		return nil, err
	}
	return v.host.bases.New(source.Config{Folder: v.disk, Index: x, Types: types, Now: v.clock(), Excluded: excluded, This: this}), nil
}

// baseOrNote finds out which base a request means. A note by its path may have
// one in it.
func (v *vault) baseOrNote(p params) (disk.Path, error) {
	if path, err := v.pathOf(p["path"]); p.has("path") && err == nil && path.Ext() == "md" {
		return path, nil
	}
	return v.base(p)
}

// readBase reads a base, or the one in a note that has a view. It returns the name
// of the view in the base.
func (v *vault) readBase(path disk.Path, viewName string) (*view.Base, string, error) {
	text, err := v.disk.Read(path)
	if disk.IsMissing(err) {
		return nil, "", notFound.failure("Base file not found: %s", path)
	}
	if err != nil {
		return nil, "", unreadable(path.String(), err)
	}
	if path.Ext() == "md" {
		return v.embeddedBase(path, text, viewName)
	}
	base, err := parseBase(text)
	return base, viewName, err
}

// parseBase reads the text of a base. Like the app it says no more of one that is
// no YAML than the reason.
func parseBase(text []byte) (*view.Base, error) {
	base, err := view.Read(text)
	var malformed *frontmatter.Malformed
	if errors.As(err, &malformed) {
		return nil, failure("%v", malformed)
	}
	return base, err
}

// evaluate prints the value of one expression for a note.
func evaluate(v *vault, p params) (reply, error) {
	t, err := v.target(p)
	if err != nil {
		return reply{}, err
	}
	program, err := view.ParseExpression(p["expr"])
	if err != nil {
		return reply{}, misuse("Invalid value for expr: %v", err)
	}
	files, err := v.baseFiles(t.path.String())
	if err != nil {
		return reply{}, err
	}
	entry := files.Entry(t.path.String())
	if entry == nil {
		return reply{}, fileNotFound(t.typed)
	}
	src := files.Source()
	if p.has("base") {
		base, err := v.formulasOf(p["base"])
		if err != nil {
			return reply{}, err
		}
		src.Formulas = base.Formulas
	}
	got, err := evaluated(v.ctx, src.Environment, entry, program)
	if err != nil {
		return reply{}, queryFailed(err)
	}
	if got.IsError() {
		return reply{}, failure("%s", got.Message())
	}
	if p["format"] == formJSON {
		return say(valueJSON(got)), nil
	}
	return say(got.Text()), nil
}

func evaluated(ctx context.Context, env eval.Environment, e value.Entry, program *eval.Program) (value.Value, error) {
	session := eval.NewSession(ctx, env)
	got := session.Row(e).Eval(program)
	return got, session.Err()
}

// valueJSON is a value with its type and its text.
func valueJSON(v value.Value) string {
	answer, err := json.Marshal(struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Value json.RawMessage `json:"value"`
	}{v.Kind().String(), v.Text(), view.TypedJSON(v)})
	if err != nil {
		return "null" // its parts are JSON already
	}
	return string(answer)
}

func (v *vault) formulasOf(text string) (*view.Base, error) {
	path, err := v.pathOf(text)
	if err != nil || path.Ext() != baseExtension {
		return nil, notFound.failure("Base file not found: %s", text)
	}
	base, _, err := v.readBase(path, "")
	return base, err
}

// checkBase lists all that is wrong with a base.
func checkBase(v *vault, p params) (reply, error) {
	path, err := v.base(p)
	if err != nil {
		return reply{}, err
	}
	text, err := v.disk.Read(path)
	if disk.IsMissing(err) {
		return reply{}, notFound.failure("Base file not found: %s", path)
	}
	if err != nil {
		return reply{}, unreadable(path.String(), err)
	}
	problems, err := problemsOf(text)
	if err != nil {
		return reply{}, err
	}
	if p["format"] == formJSON {
		return tell(path, text, problemsJSON(problems)), nil
	}
	if len(problems) == 0 {
		return tell(path, text, "No problems found."), nil
	}
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	return tell(path, text, strings.Join(lines, "\n")), nil
}

// problemsOf returns what is wrong with a base, also where it is no YAML.
func problemsOf(text []byte) ([]view.Problem, error) {
	base, err := view.Read(text)
	var malformed *frontmatter.Malformed
	switch {
	case errors.As(err, &malformed):
		return []view.Problem{{Line: malformed.Line, Fatal: true, Text: malformed.Reason, Position: -1}}, nil
	case err != nil:
		return nil, err
	}
	return base.Problems, nil
}

func problemsJSON(problems []view.Problem) string {
	type row struct {
		Line       int    `json:"line,omitempty"`
		Severity   string `json:"severity"`
		Problem    string `json:"problem"`
		Expression string `json:"expression,omitempty"`
		Position   *int   `json:"position,omitempty"`
	}
	rows := []row{}
	for _, problem := range problems {
		r := row{Line: problem.Line, Severity: problem.Severity(), Problem: problem.Text, Expression: problem.Expression}
		if problem.Position >= 0 {
			r.Position = &problem.Position
		}
		rows = append(rows, r)
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return "[]" // strings and numbers always marshal
	}
	return string(text)
}
