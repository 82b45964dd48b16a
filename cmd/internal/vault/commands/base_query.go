package commands

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/lookup"
)

func init() {
	register(
		command.Command{Name: "base:query", Run: queryBase},
		command.Command{Name: "query", Run: queryVault},
	)
}

// queryBase answers a view of a base.
func queryBase(v *command.Vault, p command.Values) (command.Reply, error) {
	path, err := baseOrNote(v, p)
	if err != nil {
		return command.Reply{}, err
	}
	base, name, err := readBase(v, path, p["view"])
	if err != nil {
		return command.Reply{}, err
	}
	return answerQuery(v, base, name, path.String(), p, true)
}

// queryVault answers a query that is not in any base.
func queryVault(v *command.Vault, p command.Values) (command.Reply, error) {
	return answerQuery(v, &bases.Base{}, "", "", p, p.Has("all"))
}

func answerQuery(v *command.Vault, base *bases.Base, viewName, this string, p command.Values, everyFile bool) (command.Reply, error) {
	q, err := parseQuery(base, viewName, p)
	if err != nil {
		return command.Reply{}, err
	}
	if p.Has("this") {
		if this, err = existing(v, p["this"]); err != nil {
			return command.Reply{}, err
		}
	}
	files, err := baseFiles(v, this)
	if err != nil {
		return command.Reply{}, err
	}
	src := files.Source()
	if !everyFile {
		src = src.Only(func(e formula.Entry) bool { return strings.HasSuffix(e.Path(), ".md") })
	}
	table, err := base.Run(v.Ctx, src, q)
	if err != nil {
		return command.Reply{}, queryFailed(err)
	}
	var said command.Reply
	if format := cmp.Or(p["format"], bases.JSON); format != bases.JSON {
		said.Text = table.Print(format)
	} else {
		said.Text = table.JSON(bases.Details{
			Typed: p["values"] == "typed", Groups: p.Has("groups"), Summaries: p.Has("summaries"), Explain: p.Has("explain"),
		})
	}
	if table.Total == 0 {
		said.Notice, err = noRows(v, q)
	}
	return limited(said, q.Offset+len(table.Rows), table.Total, "row"), err
}

// noRows says why a query has no rows: it asks for a property that no note has, or the
// filters drop them all.
func noRows(v *command.Vault, q bases.Query) (string, error) {
	known, err := PropertyNames(v)
	if err != nil {
		return "", err
	}
	for _, name := range bases.Properties(q.Where) {
		if slices.ContainsFunc(known, func(other string) bool { return strings.EqualFold(name, other) }) {
			continue
		}
		notice := fmt.Sprintf("no note has the property %q", command.Verbatim(name))
		switch hint := command.DidYouMean(lookup.NearestNames(name, known)); {
		case formula.IsFunction(name):
			notice += "; the function is " + name + "()"
		case hint != "":
			notice += "; " + hint
		}
		return notice, nil
	}
	return "no row passes the filters; explain says how many each of them dropped", nil
}

// existing returns the path of a file that has to be there.
func existing(v *command.Vault, typed string) (string, error) {
	path, err := v.FindPath(typed)
	if err == nil {
		_, err = v.Disk.Stat(path)
	}
	if err != nil {
		return "", command.ReadError(typed, err)
	}
	return path.String(), nil
}

// parseQuery reads what a request lays over a view.
func parseQuery(base *bases.Base, viewName string, p command.Values) (q bases.Query, err error) {
	q = bases.Query{View: viewName, Explain: p.Has("explain")}
	read := func(name string, parse func(text string) error) {
		if err != nil || !p.Has(name) {
			return
		}
		if failed := parse(p[name]); failed != nil {
			err = command.Misuse("Invalid value for %s: %s: %v", name, command.Verbatim(p[name]), failed)
		}
	}
	read("where", func(text string) (err error) { q.Where, err = bases.ParseExpression(text); return err })
	read("select", func(text string) (err error) { q.Columns, err = bases.ParseColumns(text, base.Label); return err })
	read("sort", func(text string) (err error) { q.Sort, err = bases.ParseKeys(text); return err })
	read("group", func(text string) error {
		key, err := bases.ParseKey(text)
		q.Group = &key
		return err
	})
	read("limit", func(text string) (err error) { q.Limit, err = parseCount(text, 1); return err })
	read("offset", func(text string) (err error) { q.Offset, err = parseCount(text, 0); return err })
	return q, err
}

// parseCount reads how many rows are meant.
func parseCount(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("want a whole number of at least %d", least)
	}
	return n, nil
}

// queryFailed says why a query has no answer.
func queryFailed(err error) error {
	var unknown *bases.UnknownView
	var broken *bases.Error
	switch {
	case errors.As(err, &unknown):
		return noView(unknown)
	case errors.As(err, &broken):
		return command.Failure("%v", err)
	}
	return err
}

// noView names the views that a base has instead.
func noView(unknown *bases.UnknownView) error {
	kind := command.NotFoundNearest
	if len(unknown.Known) > 0 {
		kind.Hint = fmt.Sprintf("the views are %s", command.List(unknown.Known, maxViews))
	}
	return kind.DidYouMean(lookup.NearestNames(unknown.Name, unknown.Known), "%v", unknown)
}

// maxViews bounds how many views a hint lists.
const maxViews = 12

// baseFiles returns the files of the vault as expressions see them. this is the
// path that this represents.
func baseFiles(v *command.Vault, this string) (*bases.Vault, error) {
	x, err := v.Index()
	if err != nil {
		return nil, err
	}
	types, err := PropertyTypes(v)
	if err != nil {
		return nil, err
	}
	excluded, err := v.Excluded()
	if err != nil {
		return nil, err
	}
	return v.Host.Bases.New(bases.Config{Folder: v.Disk, Index: x, Types: types, Now: v.Clock(), Excluded: excluded, This: this}), nil
}

// baseOrNote finds out which base a request means. A note by its path may have
// one in it.
func baseOrNote(v *command.Vault, p command.Values) (disk.Path, error) {
	if path, err := v.PathOf(p["path"]); p.Has("path") && err == nil && path.Ext() == "md" {
		return path, nil
	}
	return base(v, p)
}

// readBase reads a base, or the one in a note that has a view. It returns the name
// of the view in the base.
func readBase(v *command.Vault, path disk.Path, viewName string) (*bases.Base, string, error) {
	text, err := v.Disk.Read(path)
	if disk.IsMissing(err) {
		return nil, "", command.BaseNotFound(path.String())
	}
	if err != nil {
		return nil, "", command.ReadError(path.String(), err)
	}
	if path.Ext() == "md" {
		return embeddedBase(v, path, text, viewName)
	}
	base, err := parseBase(text)
	return base, viewName, err
}

// parseBase reads the text of a base. Like the app it says no more of one that is
// no YAML than the reason.
func parseBase(text []byte) (*bases.Base, error) {
	base, err := bases.Read(text)
	var malformed *frontmatter.Malformed
	if errors.As(err, &malformed) {
		return nil, command.Failure("%v", malformed)
	}
	return base, err
}
