package harness

import (
	"fmt"
	"strings"
)

// BusyClients are the names of the clients of [Program.BusyDay]: a plain one, one that is longer than the log keeps, and
// one with signs of HTML and of another direction.
var BusyClients = []string{"ann", "“cy” <b>\u202e & 'co'", strings.Repeat("long ", 30) + "end"}

// BusyNotes are the notes of [Program.BusyDay]: some of 60 with a line each, and those that rules are about.
func BusyNotes() map[string]string {
	notes := map[string]string{
		"Locked/Plan.md":           "one\ntwo\n",
		"Hidden/Diary.md":          "secret words\n",
		"Private.md":               "---\nprivate: true\n---\nmine\n",
		"Keys.md":                  "token ghp_0123456789abcdefghijABCDEFGHIJ012345\n",
		"<img src=x> & \"so\".md":  "one\n",
		"Ünï/日本語 \u00a0 name.md":   "one\n",
		"Long/" + longName + ".md": "one\n",
	}
	for i := range 60 {
		notes[fmt.Sprintf("Note %03d.md", i)] = "one\n"
	}
	return notes
}

var longName = strings.Repeat("a name that goes on ", 10) + "end"

// BusyDay has three clients at work, each for some rounds: they read, search, change and delete, in batches also of
// which operations fail, and are refused as often by each rule as there are refusals. Nothing of it is random.
func (r *Program) BusyDay(rounds, refusals int) {
	r.T.Helper()
	r.Set("rate-mutations", "0")
	before := r.Tables
	r.Tables += "[vaults.access]\n\"/\" = \"rwd\"\n\"Locked\" = \"r\"\n\"Hidden\" = \"none\"\n"
	note := func(i int) string { return fmt.Sprintf("path=Note %03d.md", i%60) }
	odd := []string{"path=<img src=x> & \"so\".md", "path=Ünï/日本語 \u00a0 name.md", "path=Long/" + longName + ".md"}
	for agent, name := range BusyClients {
		r.Client = name
		client := r.Stdio(false, "")
		for i := range rounds {
			first := agent*7 + i*3
			client.Do(Calling("read", note(first)))
			client.Do(Calling("search", "query=one"))
			client.Do(Calling("append", note(first+1), "content=more"))
			client.Do(Calling("read", "path=Missing.md"))
			client.Do(Calling("tags"))
			client.Do(Calling("read", odd[i%len(odd)]))
			if i%2 == 0 {
				client.Batch(Calling("read", note(first+2)), Calling("append", note(first+3), "content=x"), Calling("append", "path=Missing.md", "content=x"))
			}
			if i%4 == 0 {
				client.Do(Calling("delete", note(first+4)))
				client.Do(Calling("append", odd[i/4%len(odd)], "content=<b>more</b>"))
			}
		}
	}
	flags := r.Flags
	for i, rule := range r.refusals() {
		r.Client = BusyClients[i%len(BusyClients)]
		r.Flags = append(flags[:len(flags):len(flags)], rule.flags...)
		client := r.Stdio(false, "")
		for range refusals {
			client.Do(rule.call)
		}
	}
	r.Flags = flags
	client := r.Stdio(false, "")
	r.Must("pause")
	for range refusals {
		client.Do(Calling("read", note(1)))
	}
	r.Must("resume")
	r.Tables = before
}

// refusal is a call that a rule refuses.
type refusal struct {
	flags []string
	call  Call
}

func (r *Program) refusals() []refusal {
	return []refusal{
		{nil, Calling("eval", "code=1")},
		{nil, Calling("no-such-command")},
		{nil, Calling("read", "path=../outside.md")},
		{[]string{"--tier=v0"}, Calling("backlinks", "path=Note 001.md")},
		{[]string{"--allow-mutations=false"}, Calling("append", "path=Note 001.md", "content=x")},
		{[]string{"--disable=read"}, Calling("read", "path=Note 001.md")},
		{[]string{"--enable-only=tags"}, Calling("search", "query=one")},
		{nil, Calling("web", "url=https://example.com/")},
		{[]string{"--allow-ui=false"}, Calling("open", "path=Note 001.md")},
		{nil, Calling("append", "path=Locked/Plan.md", "content=x")},
		{nil, Calling("read", "path=Hidden/Diary.md")},
		{nil, Calling("read", "path=Private.md")},
		{nil, Calling("append", "content=x")},
		{[]string{"--secrets=block"}, Calling("read", "path=Keys.md")},
		{nil, Calling("delete", "path=Note 059.md")},
		{[]string{"--rate=1"}, Calling("read", "path=Note 003.md")},
	}
}
