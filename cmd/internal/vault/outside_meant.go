package vault

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/note"
	"vaultwicket/cmd/internal/vault/outcome"
	"vaultwicket/cmd/internal/vault/relink"
)

// The styles that a command allows the app besides those of package outcome.
const (
	byTemplate  = "the text is what the app made of the template"
	otherType   = "the app has given the property another type than vaultwicket would have"
	byTheApp    = "the app has filled in the note by itself"
	oldLinks    = "the app has not changed the links in the moved file"
	otherOrder  = "the app has written its list of bookmarks anew"
	fromItsOwn  = "the text is from the history of the app"
	dailyByApp  = "the app has made the note from the daily template"
	maxRepeated = 1 << 20 // bytes of text whose repetition is looked for
)

// meansCreated judges a new note, or one that was replaced. What a template gives
// is for the app to say: it may hold the time, or code of a plugin.
func meansCreated(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	if p.has("template") {
		return outcome.Verdict{Done: !c.now.equal(c.before), Style: byTemplate}, nil
	}
	return outcome.Pieces(c.now.text, false, []byte(p["content"])), nil
}

// meansAppended judges text at the end of a note.
func meansAppended(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	return outcome.Pieces(c.now.text, p.has("inline"), c.before.text, []byte(p["content"])), nil
}

// meansPrepended judges text before the body of a note.
func meansPrepended(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	return prepended(c.before.text, c.now.text, p), nil
}

func prepended(before, now []byte, p params) outcome.Verdict {
	body := note.BodyStart(before)
	return outcome.Pieces(now, p.has("inline"), slices.Concat(before[:body], []byte(p["content"])), before[body:])
}

// meansDaily judges today's note, which the app makes from its template if it is
// missing.
func meansDaily(add func(before, now []byte, p params) outcome.Verdict) meaning {
	return func(v *vault, p params, c appChange) (outcome.Verdict, error) {
		if c.before.there {
			return add(c.before.text, c.now.text, p), nil
		}
		today, err := v.today()
		if err != nil {
			return outcome.Verdict{}, err
		}
		fresh, err := today.fresh(v)
		if err != nil {
			return outcome.Verdict{}, err
		}
		verdict := add(fresh, c.now.text, p)
		if !verdict.Done && len(fresh) > 0 && holdsMore(c.now.text, fresh, p["content"]) {
			return outcome.Verdict{Done: true, Style: dailyByApp}, nil
		}
		return verdict, nil
	}
}

// holdsMore reports whether a text holds another one exactly once more than the
// text of a template does.
func holdsMore(text, template []byte, what string) bool {
	return len(text) <= maxRepeated && (what == "" || bytes.Count(text, []byte(what)) == bytes.Count(template, []byte(what))+1)
}

// holdsOnce reports whether a text holds another one, and not twice.
func holdsOnce(text []byte, what string) bool { return holdsMore(text, nil, what) }

func appendedDaily(before, now []byte, p params) outcome.Verdict {
	return outcome.Pieces(now, p.has("inline"), before, []byte(p["content"]))
}

// meansSet judges a property that was set. Without type= the app goes by what the
// value looks like, where this program goes by the type that the vault gives the
// name.
func meansSet(v *vault, p params, c appChange) (outcome.Verdict, error) {
	value, err := v.typedValue(p)
	if err != nil {
		return outcome.Verdict{}, err
	}
	for i, candidate := range append([]frontmatter.Value{value}, likeTheApp(p, value)...) {
		wanted, err := frontmatter.Set(c.before.text, p["name"], candidate)
		if err != nil {
			continue
		}
		if verdict := outcome.Properties(wanted, c.now.text); verdict.Done {
			if i > 0 && !candidate.Equal(value) {
				verdict.Style = otherType
			}
			return verdict, nil
		}
	}
	return outcome.Verdict{}, nil
}

// likeTheApp are the values that the app may have made of a request: that of the
// shape where no type was named, a list with its blanks, an empty value as null.
func likeTheApp(p params, value frontmatter.Value) (others []frontmatter.Value) {
	if !p.has("type") {
		if shaped, err := frontmatter.ParseValue(p["value"], ""); err == nil {
			others = append(others, shaped)
		}
	}
	if value.Kind() == frontmatter.List {
		if elements, err := json.Marshal(strings.Split(p["value"], ",")); err == nil {
			if spaced, err := frontmatter.ParseValue(string(elements), frontmatter.TypeMultitext); err == nil {
				others = append(others, spaced)
			}
		}
	}
	if p["value"] == "" && value.Kind() == frontmatter.String {
		others = append(others, frontmatter.Value{})
	}
	return others
}

// meansRemoved judges a note without a property.
func meansRemoved(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	wanted, _, err := frontmatter.Remove(c.before.text, p["name"])
	if err != nil {
		return outcome.Verdict{}, nil
	}
	return outcome.Properties(wanted, c.now.text), nil
}

// meansMarked judges a task whose mark was changed.
func meansMarked(v *vault, p params, c appChange) (outcome.Verdict, error) {
	t, line, err := v.taskPlace(p)
	if err != nil {
		return outcome.Verdict{}, err
	}
	was, err := taskAt(t, c.before.text, line)
	if err != nil {
		return outcome.Verdict{}, err
	}
	mark, _, err := newMark(p, was.Mark)
	if err != nil {
		return outcome.Verdict{}, err
	}
	wanted, err := edit.SetTask(c.before.text, line, mark)
	if err != nil {
		return outcome.Verdict{}, nil
	}
	return outcome.Ending(wanted, c.now.text), nil
}

// meansMoved judges the moved file, and those that link to it: each link has to
// lead to the file to which it led, however it is written.
func meansMoved(v *vault, _ params, c appChange) (outcome.Verdict, error) {
	if c.step.From != "" && c.now.equal(c.before) {
		return outcome.Verdict{Done: true, Style: oldLinks}, nil
	}
	from, to := c.entry.Steps[0].From, c.entry.Steps[0].Path
	now, err := v.pathsNow()
	if err != nil {
		return outcome.Verdict{}, err
	}
	then := slices.Clone(now)
	if i := slices.Index(then, to); i >= 0 {
		then[i] = from
	}
	var app struct {
		Format string `json:"newLinkFormat"`
	}
	if err := v.config("app.json", &app); err != nil {
		return outcome.Verdict{}, err
	}
	after := lookup.New(now)
	source := c.step.Path
	if c.step.From != "" {
		source = c.step.From
	}
	wanted, _, _ := relink.New(from, to, lookup.New(then), after, relink.ParseFormat(app.Format)).Rewrite(c.before.text, source)
	return outcome.Links(wanted, c.now.text, func(a, b string) bool {
		i, ok := after.Resolve(a, c.step.Path)
		k, alsoOK := after.Resolve(b, c.step.Path)
		return a == b || ok && alsoOK && i == k
	}), nil
}

// meansAddedToBase judges a note of a base: the app fills in what the filters of
// the view ask for.
func meansAddedToBase(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	verdict := outcome.Pieces(c.now.text, false, []byte(p["content"]))
	if !verdict.Done && holdsOnce(c.now.text, p["content"]) {
		return outcome.Verdict{Done: true, Style: byTheApp}, nil
	}
	return verdict, nil
}

// meansUnique judges a unique note, which may begin with what a template gives.
func meansUnique(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	verdict := outcome.Pieces(c.now.text, false, []byte(p["content"]))
	if !verdict.Done && holdsOnce(c.now.text, p["content"]) {
		return outcome.Verdict{Done: true, Style: byTemplate}, nil
	}
	return verdict, nil
}

// meansRestored judges a note that the app took from its own history, of which
// nothing is known here but that the note changed.
func meansRestored(_ *vault, _ params, c appChange) (outcome.Verdict, error) {
	return outcome.Verdict{Done: !c.now.equal(c.before), Style: fromItsOwn}, nil
}

// meansBookmarked judges the list of bookmarks: the old ones, and the new one at
// the end of its level. Times and further fields are for the app to say.
func meansBookmarked(v *vault, p params, c appChange) (outcome.Verdict, error) {
	added, err := v.newBookmark(p)
	if err != nil {
		return outcome.Verdict{}, err
	}
	old, ok := bookmarkItems(c.before.text)
	now, alsoOK := bookmarkItems(c.now.text)
	if !ok || !alsoOK || len(now) != len(old)+1 {
		return outcome.Verdict{}, nil
	}
	for i, item := range old {
		if !bytes.Equal(item, now[i]) {
			return outcome.Verdict{}, nil
		}
	}
	var last newBookmark
	if json.Unmarshal(now[len(old)], &last) != nil {
		return outcome.Verdict{}, nil
	}
	added.Ctime = last.Ctime
	return outcome.Verdict{Done: last == added, Style: otherOrder}, nil
}

// bookmarkItems are the entries of the app's file, each without blanks and with its
// keys in order.
func bookmarkItems(text []byte) (items []json.RawMessage, ok bool) {
	var file struct {
		Items []any `json:"items"`
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, true
	}
	if json.Unmarshal(text, &file) != nil {
		return nil, false
	}
	for _, item := range file.Items {
		same, err := json.Marshal(item)
		if err != nil {
			return nil, false
		}
		items = append(items, same)
	}
	return items, true
}
