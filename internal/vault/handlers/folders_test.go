package handlers_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// ofFile matches the texts in canvases and bases of the tests that name a file or a folder.
var ofFile = regexp.MustCompile(`"file":"([^"]*)"|hasLink\("([^"]*)"\)|inFolder\("([^"]*)"\)`)

// leadTo returns where the links of a file lead, in their order: those of properties, the body,
// the nodes of a canvas and the expressions of a base; "" is nowhere.
func leadTo(files *lookup.Files, at, text string) (all []string) {
	add := func(link string) {
		target := ""
		if i, ok := files.Resolve(link, at); ok {
			target = files.Path(i)
		}
		all = append(all, target)
	}
	for _, m := range ofFile.FindAllStringSubmatch(text, -1) {
		if path.Ext(at) == ".md" {
			break
		}
		switch {
		case m[1] != "":
			add("/" + m[1])
		case m[2] != "":
			add(m[2])
		default:
			all = append(all, m[3]+"/")
		}
	}
	if path.Ext(at) != ".base" {
		found := markdown.Scan([]byte(text))
		properties, _ := frontmatter.Parse([]byte(text)[found.Frontmatter.Start:found.Frontmatter.End])
		for _, link := range frontmatter.Links(properties) {
			add(link.Link.Path)
		}
		for _, link := range found.Links {
			add(link.Path)
		}
	}
	return all
}

// TestRelocationsKeepWhereLinksLead draws vaults with equal names in several folders and
// links of every form, and moves, renames, copies and removes folders and files. Each link of
// each file that is left has to lead to the file it led to, wherever that is then; a copy has
// links to the files that are copied with it. Undo restores every byte and every modification time.
func TestRelocationsKeepWhereLinksLead(t *testing.T) {
	done := map[string]int{}
	rapid.Check(t, testenv.Cases(50, func(rt *rapid.T) {
		folders := []string{"", "A/", "A/Sub/", "B/", "B/Sub/", "Projects/Old plan/"}
		names := []string{"Note.md", "Plan.md", "Übung.md", "pic.png", "Board.canvas", "All.base"}
		start := map[string]string{".obsidian/app.json": `{"newLinkFormat":"` +
			rapid.SampledFrom([]string{"shortest", "relative", "absolute"}).Draw(rt, "format") + `"}`}
		var paths []string
		for _, folder := range folders {
			for _, name := range names {
				if rapid.IntRange(0, 2).Draw(rt, folder+name) > 0 {
					paths = append(paths, folder+name)
				}
			}
		}
		if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, "A/") }) {
			paths = append(paths, "A/Note.md")
		}
		link := func(from string) string {
			to := rapid.SampledFrom(paths).Draw(rt, "to")
			short := strings.TrimSuffix(to, ".md")
			up := strings.Repeat("../", strings.Count(from, "/"))
			return rapid.SampledFrom([]string{
				"[[" + short + "]]", "[[" + path.Base(short) + "]]", "![[" + path.Base(to) + "|x]]",
				"[t](<" + to + ">)", "[[" + path.Base(short) + "#H|" + stemOf(to) + "]]",
				"[t](" + up + strings.ReplaceAll(to, " ", "%20") + ")", "[[./" + path.Base(short) + "]]",
				"[[Nowhere]]",
			}).Draw(rt, "link")
		}
		for _, p := range paths {
			var text string
			switch path.Ext(p) {
			case ".md":
				text = "---\nup: \"" + strings.ReplaceAll(link(p), "\\", "") + "\"\n---\n# H\nText " + link(p) + " and " + link(p) + "\n`[[Note]]`\n"
			case ".canvas":
				text = fmt.Sprintf("{\"nodes\":[{\"type\":\"file\",\"file\":%q},\n{\"type\":\"text\",\"text\":%q}]}",
					rapid.SampledFrom(paths).Draw(rt, "node"), link(p))
			case ".base":
				text = fmt.Sprintf("filters:\n  or:\n    - file.hasLink(%q) # a comment\n    - file.inFolder(%q)\nviews: []\n",
					strings.TrimSuffix(rapid.SampledFrom(paths).Draw(rt, "has"), ".md"),
					rapid.SampledFrom([]string{"A", "B/Sub", "C"}).Draw(rt, "in"))
			default:
				text = "\x89PNG" + p
			}
			start[p] = text
		}
		h := embedded.New(t, start)
		times, those := fileTimes(h)
		before := h.Texts(false)
		call := rapid.SampledFrom([][]string{
			{"folder:move", "path=A", "to=B/"}, {"folder:move", "path=A/Sub", "to=New/Deep"},
			{"folder:move", "path=B", "to=A/Sub/"}, {"folder:rename", "path=A", "name=Z"},
			{"folder:rename", "path=Projects", "name=Archiv é"},
			{"folder:copy", "path=A", "to=B/", "links=hold"}, {"folder:copy", "path=A", "to=0", "links=hold"},
			{"folder:delete", "path=A"}, {"copy", "path=" + paths[0], "to=0/", "links=hold"},
			{"move", "path=" + paths[0], "to=B/Sub/other", "links=update"},
			{"move", "files=" + strings.Join(paths[:min(len(paths), 3)], "\n"), "to=Q/", "links=update"},
			{"folder:move", "files=A\nProjects", "to=B/"},
		}).Draw(rt, "call")
		status, out, _ := h.Run(call...)
		if status != answer.ExitDone {
			after := h.Texts(false)
			require.That(rt, maps.Equal(before, after), "%q says %q and made %q", call, out, after)
			return
		}
		done[call[0]]++
		after := h.Texts(false)
		maps.DeleteFunc(those, func(p string, _ int64) bool { return embedded.Exists(p) }) // their times change with each name in them
		to := map[string]string{}                                                          // where each file of before is
		for p, text := range before {
			to[p] = p
			if _, stays := after[p]; stays {
				continue
			}
			if call[0] == "folder:delete" {
				to[p] = ""
				continue
			}
			to[p] = relocated(call, p)
			_, there := after[to[p]]
			require.That(rt, there, "%q: %s (%q) is not at %s: %q", call, p, text, to[p], slices.Sorted(maps.Keys(after)))
		}
		was, is := lookup.New(sortedPaths(before)), lookup.New(sortedPaths(after))
		left := strings.Count(out, "is left as it is")
		for p, text := range before {
			if to[p] == "" {
				continue
			}
			wanted := leadTo(was, p, text)
			for i, target := range wanted {
				if folder, ok := strings.CutSuffix(target, "/"); ok && strings.HasPrefix(call[0], "folder:") &&
					call[0] != "folder:copy" && call[0] != "folder:delete" {
					wanted[i] = strings.TrimSuffix(relocated(call, folder+"/x"), "x")
				} else if !ok {
					wanted[i] = to[target]
				}
			}
			// What led nowhere, or to a file that is gone, may lead somewhere.
			same := func(got, wanted string) bool { return got == wanted || wanted == "" }
			if got := leadTo(is, to[p], after[to[p]]); !slices.EqualFunc(got, wanted, same) && left == 0 {
				rt.Fatalf("%q: the links of %s (%q) led to %q, and lead to %q (%q in %s)\n%s", call, p, text, wanted, got, after[to[p]], to[p], out)
			}
			if strings.HasSuffix(call[0], "copy") && strings.HasPrefix(p, "A/") && call[0] == "folder:copy" {
				copied := relocated(call, p)
				for i, target := range leadTo(was, p, text) {
					if strings.HasPrefix(target, "A/") {
						target = relocated(call, target)
					}
					if got := leadTo(is, copied, after[copied]); left == 0 && target != "" && (i >= len(got) || got[i] != target) {
						rt.Fatalf("%q: link %d of the copy %s (%q) leads to %q, want %q", call, i, copied, after[copied], got, target)
					}
				}
			}
		}
		status, out, _ = h.Run("undo")
		require.Equal(rt, status, answer.ExitDone, "%q, undo: %q", call, out)
		if got := h.Texts(false); !maps.Equal(got, before) {
			rt.Fatalf("%q undone, there is %q, was %q", call, got, before)
		}
		got, again := fileTimes(h)
		maps.DeleteFunc(again, func(p string, _ int64) bool { return those[p] == 0 })
		require.That(rt, maps.Equal(got, times), "%q undone, the times are %v and %v, were %v and %v", call, got, again, times, those)
		require.That(rt, maps.Equal(again, those), "%q undone, the times are %v and %v, were %v and %v", call, got, again, times, those)
	}))
	t.Log(done)
	for _, name := range []string{"folder:move", "folder:rename", "folder:copy", "folder:delete", "copy", "move"} {
		assert.That(t, done[name] != 0 || testing.Short(), "%s was never done: the test shows nothing", name)
	}
}

// times returns when each file was modified.
func fileTimes(h *embedded.Vault) (files, folders map[string]int64) {
	files, folders = map[string]int64{}, map[string]int64{}
	err := filepath.WalkDir(h.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || strings.Contains(p, "/.") {
			return err
		}
		info, err := d.Info()
		if err == nil && d.IsDir() {
			folders[p] = info.ModTime().UnixNano()
		} else if err == nil {
			files[p] = info.ModTime().UnixNano()
		}
		return err
	})
	require.NoError(h.T, err)
	return files, folders
}

// relocated is where a file goes by a call.
func relocated(call []string, p string) string {
	from, to := strings.TrimPrefix(call[1], "path="), strings.TrimPrefix(strings.TrimPrefix(call[2], "to="), "name=")
	switch {
	case call[0] == "move" && strings.HasPrefix(call[1], "files="):
		return to + path.Base(p)
	case call[0] == "move", call[0] == "copy":
		if strings.HasSuffix(to, "/") {
			return to + path.Base(p)
		}
		if path.Ext(to) == "" {
			to += path.Ext(p)
		}
		return to
	case strings.HasPrefix(call[1], "files="):
		if from, _, _ = strings.Cut(p, "/"); from != "A" && from != "Projects" {
			return p
		}
	case call[0] == "folder:rename":
		to = path.Join(path.Dir(from), to)
	}
	if strings.HasSuffix(to, "/") {
		to += path.Base(from)
	}
	if rest, in := strings.CutPrefix(p, from+"/"); in {
		return to + "/" + rest
	}
	return p
}

func stemOf(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }

func sortedPaths(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// A folder moves as a whole or not at all, and nothing is said of what is hidden in it.
func TestAFolderIsMovedAsAWhole(t *testing.T) {
	files := map[string]string{"F/a.md": "a [[b]]", "F/Sub/b.md": "b", "L.md": "[[F/a]]", "G/g.md": "g"}
	for _, test := range []struct {
		name, call, said string
		rules, more      map[string]string
		status           int
	}{
		{"a hidden note", "folder:move path=F to=G/",
			"Error: Access denied: the folder \"F\" may not be changed as a whole.\n",
			map[string]string{"/": "rwd", "F/Sub": "none"}, nil, answer.ExitFailed},
		{"an ignored one", "folder:delete path=F",
			"Error: Access denied: the folder \"F\" may not be changed as a whole.\n", nil,
			map[string]string{".vaultwicketignore": "b.md\n"}, answer.ExitFailed},
		{"a note that may only be read", "folder:rename path=F name=Z",
			"Error: Access denied: the folder \"F\" may not be changed as a whole.\n",
			map[string]string{"/": "rwd", "F/Sub": "r"}, nil, answer.ExitFailed},
		{"one that may not be moved away", "folder:rename path=F name=Z",
			"Error: Access denied: the folder \"F\" may not be changed as a whole.\n",
			map[string]string{"/": "rwd", "F/Sub": "rw"}, nil, answer.ExitFailed},
		{"a rule for what is not there", "folder:move path=F to=G/",
			"Error: Access denied: the folder \"F\" may not be changed as a whole.\n",
			map[string]string{"/": "rwd", "F/Nothing": "none"}, nil, answer.ExitFailed},
		{"a rule that opens more", "folder:rename path=F name=Z", "Renamed: F -> Z (2 files)\n",
			map[string]string{"/": "rwd", "F/Sub": "rwd", "G": "none"}, nil, answer.ExitDone},
		{"a link in a note that may only be read", "folder:rename path=F name=Z",
			"Error: Access denied: \"L.md\" may not be changed.\n", map[string]string{"F": "rwd", "Z": "rwd", "/": "r"},
			nil, answer.ExitFailed},
		{"where nothing may be made", "folder:move path=F to=G/", "Error: Access denied: \"G/F\" may not be changed.\n",
			map[string]string{"/": "rwd", "G": "r"}, nil, answer.ExitFailed},
		{"a copy of what can be seen", "folder:copy path=F to=Z", "Copied: F -> Z (1 file)\n",
			map[string]string{"/": "rwd", "F/Sub": "none"}, nil, answer.ExitDone},
		{"a hidden folder", "folder:delete path=F", "Error: Folder \"F\" not found.\n", map[string]string{"/": "rwd", "F": "none"}, nil, answer.ExitFailed},
		{"into itself", "folder:move path=F to=F/Sub/", "Error: Invalid value for to: \"F/Sub/F\". It is in the folder itself.\n", nil, nil, answer.ExitMisuse},
		{"over another one", "folder:rename path=F name=G", "Error: Destination \"G\" already exists!\n", nil, nil, answer.ExitFailed},
		{"the vault", "folder:delete path=/", "Error: Invalid value for path: \"/\". That is the whole vault.\n", nil, nil, answer.ExitMisuse},
		{"one that is not there", "folder:move path=N to=G/", "Error: Folder \"N\" not found.\n", nil, nil, answer.ExitFailed},
		{"a file", "folder:move path=L.md to=G/", "Error: Folder \"L.md\" not found.\n", nil, nil, answer.ExitFailed},
		{"several in one another", "folder:move|files=F\nF/Sub|to=G/", "Error: \"F/Sub\" and \"F\" are in one another.\n", nil, nil, answer.ExitMisuse},
		{"several to one path", "folder:move|files=F\nG|to=Z",
			"Error: Invalid value for to: \"Z\". Several folders go to a folder, with a slash at its end.\n", nil, nil,
			answer.ExitMisuse},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, files)
			for p, text := range test.more {
				h.Put(p, text)
			}
			if test.rules != nil {
				h.Env[call.AccessVariable] = embedded.Rules(t, test.rules).String()
			}
			before := h.Texts(true)
			call := strings.Fields(test.call)
			if strings.Contains(test.call, "|") {
				call = strings.Split(test.call, "|")
			}
			h.Expect(test.status, test.said, call...)
			after := h.Texts(true)
			assert.That(t, test.status == answer.ExitDone || maps.Equal(before, after), "it made %q", after)
		})
	}
}

// A link in a hidden note is not changed, and no answer tells that there is one.
func TestLinksInHiddenNotesAreLeft(t *testing.T) {
	var said [2]string
	for i, hidden := range []string{"no link", "[[F/a]] [[a]]\n```base\nfilters: file.inFolder(\"F\")\n```\n"} {
		h := embedded.New(t, map[string]string{"F/a.md": "a", "L.md": "[[a]]\n```base\nfilters: file.inFolder(\"F\")\n```\n", "Private/p.md": hidden})
		h.Env[call.AccessVariable] = embedded.Rules(t, map[string]string{"/": "rwd", "Private": "none"}).String()
		for _, call := range [][]string{{"rename", "path=F/a.md", "name=b", "links=update"}, {"folder:rename", "path=F", "name=G"}} {
			_, plan, facts := h.Run(append([]string{"--facts", "--plan"}, call...)...)
			_, out, _ := h.Run(call...)
			said[i] += plan + facts + out
		}
		if h.Get("Private/p.md") != hidden || h.Get("L.md") != "[[b]]\n```base\nfilters: file.inFolder(\"G\")\n```\n" {
			t.Errorf("the hidden note is %q, the other one %q", h.Get("Private/p.md"), h.Get("L.md"))
		}
	}
	assert.That(t, said[0] == said[1], "%s\nwith a link in a hidden note:\n%s", said[0], said[1])
}

// What is large is not read into memory, what is not a file of the vault stays, and what others
// put into a folder since is no obstacle to undo.
func TestWhatElseIsInAFolder(t *testing.T) {
	large := strings.Repeat("x", 2<<20)
	h := embedded.New(t, map[string]string{".obsidian/app.json": embedded.FollowLinks, "F/big.bin": large,
		"F/n.md": "![[big.bin]]", "F/.hidden": "stays", "F/empty/.keep": "", "E/x/y.md": "y"})
	h.Expect(answer.ExitDone, "Moved: F -> G/F (2 files)\n", "folder:move", "path=F", "to=G/")
	assert.Equal(t, h.Get("G/F/big.bin"), large, "the files are not where they belong")
	assert.Equal(t, h.Get("F/.hidden"), "stays", "the files are not where they belong")
	assert.Equal(t, h.Get("F/big.bin"), "(missing)", "the files are not where they belong")
	h.Put("G/F/new.md", "new")
	h.Expect(answer.ExitDone, "Copied: G/F -> C (3 files)\n", "folder:copy", "path=G/F", "to=C")
	assert.That(t, h.Get("C/big.bin") == large, "the copy differs")
	h.Expect(answer.ExitDone, "Moved to trash: C (3 files)\n", "folder:delete", "path=C")
	assert.That(t, !embedded.Exists(h.File("C")), "the folder is still there, or not in the trash")
	assert.Equal(t, h.Get(".trash/big.bin"), large, "the folder is still there, or not in the trash")
	for range 3 {
		h.Does("undo")
	}
	if h.Get("F/big.bin") != large || h.Get("G/F/new.md") != "new" || embedded.Exists(h.File("C")) {
		t.Errorf("undone, there is %q", slices.Sorted(maps.Keys(h.Texts(true))))
	}
	h.Expect(answer.ExitDone, "Created: A/B\n", "folder:create", "path=A/B")
	h.Expect(answer.ExitFailed, "Error: Destination \"A/B\" already exists!\n", "folder:create", "path=A/B")
	h.Expect(answer.ExitDone, "Moved: E -> A/B/E (1 file)\n", "folder:move", "path=E", "to=A/B/")
	h.Run("undo")
	h.Run("undo")
	assert.That(t, !embedded.Exists(h.File("A")), "undone, there is %q", slices.Sorted(maps.Keys(h.Texts(true))))
	assert.That(t, embedded.Exists(h.File("E/x/y.md")), "undone, there is %q", slices.Sorted(maps.Keys(h.Texts(true))))
}
