package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// rerouted counts links, in files that the change leaves alone, which lead to another file after it: because
// the target of a link got a rival with a matching name, or lost one.
type rerouted struct {
	from, to string
	count    int
}

// names has the paths that a change adds and those that it removes.
type names struct {
	made, gone []string
	moved      map[string]string
	touched    map[string]bool // files whose own links the change handles
}

func (p Proposal) names() names {
	n := names{moved: map[string]string{}, touched: map[string]bool{}}
	for _, s := range p.Steps {
		if s.IsNoop() || s.Before.Folder || s.After.Folder {
			continue
		}
		n.touched[s.source().String()] = true
		switch {
		case s.IsMove():
			n.moved[s.From.String()] = s.Path.String()
			n.made = append(n.made, s.Path.String())
			n.gone = append(n.gone, s.From.String())
		case !s.Before.Exists:
			n.made = append(n.made, s.Path.String())
		case !s.After.Exists:
			n.gone = append(n.gone, s.Path.String())
		}
	}
	return n
}

// traceLinks adds to the proposal the links of other files that break or lead to another file. It resolves each
// link among the files before and after the change.
func (p *Proposal) traceLinks(v *call.Vault) error {
	changed := p.names()
	if len(changed.made)+len(changed.gone) == 0 || p.Undoes != "" {
		return nil
	}
	x, err := v.IndexOfNames()
	if err != nil {
		return err
	}
	sources := sourcesOf(x, changed)
	for _, note := range p.Broken.Notes {
		changed.touched[note] = true
	}
	sources = slices.DeleteFunc(sources, func(f *index.File) bool { return changed.touched[f.Path.String()] })
	if len(sources) == 0 {
		return nil
	}
	if err := budget.From(v.Ctx).Step(int64(len(x.Files) + len(sources))); err != nil {
		return err
	}
	after := changed.filesAfter(x)
	indexes := map[[2]string]int{} // indexes in p.rerouted
	for _, f := range sources {
		broken := 0
		f.Facts().EachLink(func(link *markdown.Link) {
			place, resolves := x.ResolveFrom(link.Path, f.Path.String())
			if !resolves || link.Path == "" {
				return
			}
			oldTarget := x.Files[place].Path.String()
			newTarget := oldTarget
			if to := changed.moved[oldTarget]; to != "" {
				newTarget = to
			}
			now, stillResolves := after.Resolve(link.Path, f.Path.String())
			switch {
			case !stillResolves:
				broken++
			case after.Path(now) != newTarget:
				key := [2]string{oldTarget, after.Path(now)}
				if _, known := indexes[key]; !known {
					indexes[key] = len(p.rerouted)
					p.rerouted = append(p.rerouted, rerouted{from: oldTarget, to: after.Path(now)})
				}
				p.rerouted[indexes[key]].count++
			}
		})
		p.Broken.Add(f.Path, broken)
	}
	slices.SortFunc(p.Broken.Notes, func(a, b string) int {
		first, _ := x.Place(a)
		second, _ := x.Place(b)
		return first - second
	})
	return nil
}

// sourcesOf returns the files with links that a change may affect: links to files that it removes, and links to
// files with the name of one that it adds.
func sourcesOf(x *index.Index, changed names) (sources []*index.File) {
	var targets []int
	for _, path := range changed.made {
		targets = append(targets, x.Rivals(path)...)
	}
	for _, path := range changed.gone {
		if place, ok := x.Place(path); ok {
			targets = append(targets, place)
		}
	}
	if len(targets) == 0 {
		return nil
	}
	near := map[int32]bool{}
	graph := x.Graph()
	for _, place := range targets {
		for _, edge := range graph.In(place) {
			near[edge.Place] = true
		}
	}
	for place, f := range x.Files {
		if near[int32(place)] {
			sources = append(sources, f)
		}
	}
	return sources
}

// filesAfter returns the files of the vault as they are after the change.
func (n names) filesAfter(x *index.Index) *lookup.Files {
	isGone := map[string]bool{}
	for _, path := range n.gone {
		isGone[path] = true
	}
	var after []string
	for _, f := range x.Files {
		if path := f.Path.String(); !isGone[path] {
			after = append(after, path)
		}
	}
	return lookup.New(append(after, n.made...))
}

// maxRerouted limits the pairs of old and new targets that a message lists.
const maxRerouted = 5

// leadElsewhere describes the links that lead to another file after the change, "" if there are none.
func (p Proposal) leadElsewhere() string {
	var sentences []string
	for _, r := range p.rerouted[:min(len(p.rerouted), maxRerouted)] {
		links := answer.Count(r.count, "link")
		verb := "lead"
		if r.count == 1 {
			verb = "leads"
		}
		switch p.Note.String() {
		case r.to:
			sentences = append(sentences, fmt.Sprintf("%s that led to %s %s here now", links, plainPath(r.from), verb))
		case r.from:
			sentences = append(sentences, fmt.Sprintf("%s that led here %s to %s now", links, verb, plainPath(r.to)))
		default:
			sentences = append(
				sentences,
				fmt.Sprintf("%s that led to %s %s to %s now", links, plainPath(r.from), verb, plainPath(r.to)),
			)
		}
	}
	return answer.AndMore(strings.Join(sentences, ", "), len(p.rerouted)-maxRerouted)
}

// plainPath returns a path unchanged if it is plain, and quoted otherwise.
func plainPath(path string) string {
	isPlain := !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || strings.ContainsRune(`"'`+"`", r) })
	if _, err := disk.ParsePath(path); err == nil && isPlain && len(path) <= maxNamed {
		return path
	}
	return fmt.Sprint(quotable(path))
}
