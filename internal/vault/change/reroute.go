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

// rerouted are links of files that a change leaves alone, which lead to another file after it: a new name takes them
// over, or a name that goes gives them back.
type rerouted struct {
	from, to string
	count    int
}

// names are the paths that a change makes and those that it takes away.
type names struct {
	made, gone []string
	moved      map[string]string
	touched    map[string]bool // files whose links are a matter of the change
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
			n.made, n.gone = append(n.made, s.Path.String()), append(n.gone, s.From.String())
		case !s.Before.Exists:
			n.made = append(n.made, s.Path.String())
		case !s.After.Exists:
			n.gone = append(n.gone, s.Path.String())
		}
	}
	return n
}

// traceLinks adds to the proposal which links of other files break and which lead elsewhere after it. Each is resolved
// among the files as they are and as they will be.
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
	at := map[[2]string]int{} // places in p.rerouted
	for _, f := range sources {
		broken := 0
		f.Facts().EachLink(func(link *markdown.Link) {
			place, led := x.ResolveFrom(link.Path, f.Path.String())
			if !led || link.Path == "" {
				return
			}
			was := x.Files[place].Path.String()
			wanted := was
			if to := changed.moved[was]; to != "" {
				wanted = to
			}
			now, leads := after.Resolve(link.Path, f.Path.String())
			switch {
			case !leads:
				broken++
			case after.Path(now) != wanted:
				key := [2]string{was, after.Path(now)}
				if _, known := at[key]; !known {
					at[key] = len(p.rerouted)
					p.rerouted = append(p.rerouted, rerouted{from: was, to: after.Path(now)})
				}
				p.rerouted[at[key]].count++
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

// sourcesOf returns the files with links that may lead elsewhere after a change: to what it takes away, and to files with
// a name that it makes.
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

// filesAfter returns the files of the vault after the change.
func (n names) filesAfter(x *index.Index) *lookup.Files {
	gone := map[string]bool{}
	for _, path := range n.gone {
		gone[path] = true
	}
	var after []string
	for _, f := range x.Files {
		if path := f.Path.String(); !gone[path] {
			after = append(after, path)
		}
	}
	return lookup.New(append(after, n.made...))
}

// maxRerouted is how many pairs of files are told of which links lead from one to the other.
const maxRerouted = 5

// leadElsewhere says which links lead to another file after the change, "" if there are none.
func (p Proposal) leadElsewhere() string {
	var said []string
	for _, r := range p.rerouted[:min(len(p.rerouted), maxRerouted)] {
		links := answer.Count(r.count, "link")
		verb := "lead"
		if r.count == 1 {
			verb = "leads"
		}
		switch p.Note.String() {
		case r.to:
			said = append(said, fmt.Sprintf("%s that led to %s %s here now", links, plainPath(r.from), verb))
		case r.from:
			said = append(said, fmt.Sprintf("%s that led here %s to %s now", links, verb, plainPath(r.to)))
		default:
			said = append(
				said,
				fmt.Sprintf("%s that led to %s %s to %s now", links, plainPath(r.from), verb, plainPath(r.to)),
			)
		}
	}
	return answer.AndMore(strings.Join(said, ", "), len(p.rerouted)-maxRerouted)
}

// plainPath returns a path as it is if it reads as one, and in quotes otherwise.
func plainPath(path string) string {
	isPlain := !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || strings.ContainsRune(`"'`+"`", r) })
	if _, err := disk.ParsePath(path); err == nil && isPlain && len(path) <= maxNamed {
		return path
	}
	return fmt.Sprint(named(path))
}
