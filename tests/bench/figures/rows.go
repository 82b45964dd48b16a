package main

import "strings"

// row is one promise: what is measured, in which unit, and how far it should go.
type row struct {
	what, unit, aim string
	value           func(result) (float64, bool)
	// sides are the times on both sides of a ratio, for who wants more than the ratio.
	sides *sides
}

type sides struct {
	benchmark, ours, yard string
	against               string // what the yardstick is
}

// plain is a row of a figure of its own.
func plain(what, unit, aim, benchmark, name string) row {
	return row{what: what, unit: unit, aim: aim, value: figure(benchmark, name)}
}

// ratio is a row of how often a yardstick goes into what we take. Both are in milliseconds.
func ratio(what, aim, benchmark, ours, yard, against string) row {
	return row{what, "×", aim, figure(benchmark, ours+"/"+yard), &sides{benchmark, ours + "-ms", yard + "-ms", against}}
}

// bare are the figures of the machine itself: they have no aim.
var bare = []row{
	plain("this machine: a Go hello world, start to end", "ms", "", "Machine", "hello-ms"),
	plain("this machine: an exchange of 1 KB with a server that does nothing", "ms", "", "Machine", "exchange-ms"),
	plain("this machine: a plain read of 10,000 notes (42 MB)", "ms", "", "Machine", "cat-ms"),
	plain("this machine: a line that is durable in a file", "ms", "", "Machine", "durable-ms"),
}

// promises are what vaultwicket is measured by.
var promises = []row{
	plain("own time of a call to the client: without its start, and without an exchange of that size", "ms", "≤ 0.3", "Call", "own-ms"),
	ratio("a call through the server to the client, everything in it", "≤ 1.2", "Call", "call", "bare", "a bare start of the same client"),
	ratio("start to the answer to `initialize`", "≤ 3", "Initialize", "initialize", "hello", "a Go hello world"),
	plain("page faults of a start", "", "≤ 900", "Initialize", "faults"),
	plain("memory of the server at rest, of its own", "MiB", "≤ 2.6", "Memory", "rest-anon-MiB"),
	plain("memory of the server at rest, with the pages of its program", "MiB", "≤ 16", "Memory", "rest-MiB"),
	plain("the same after 10,000 calls, of its own", "MiB", "≤ 6", "Memory", "after-anon-MiB"),
	plain("the same after 10,000 calls, with the pages of its program", "MiB", "≤ 19", "Memory", "after-MiB"),
	plain("the same after 10,000 calls and 20 seconds without one, of its own", "MiB", "", "Memory", "paused-anon-MiB"),
	plain("the same, with the pages of its program", "MiB", "≤ 16", "Memory", "paused-MiB"),
	{what: "50 calls at once to the client, which answers one at a time", unit: "× the throughput", aim: "≥ 0.95", value: figure("Fifty", "throughput/bare")},
	ratio("one note read through the server's resident worker", "", "ResidentRead", "call", "floor", "a server that reads the file and does nothing else"),
	ratio("the same as a process of its own, without a server", "", "ResidentRead", "one-shot", "pipe", "the worker, asked without a server"),
	ratio("50 reads at once", "", "ResidentFifty", "fifty", "floor", "the same 50 reads of a server that does nothing else"),
	ratio("one note read by one of 50 agents, through the server's resident worker", "≤ 1.03", "ResidentAgents",
		"agents", "none", "the same read where no agent is defined"),
	ratio("a note of 5 KB of prose, with the content rules", "≤ 1.05", "TextRules/prose", "guarded", "plain", "the same read without them"),
	ratio("a note of 5 KB of documentation about keys and tokens", "≤ 1.05", "TextRules/documents", "guarded", "plain", "the same read without them"),
	ratio("the first page of a listing of 1.5 MB, with the content rules", "≤ 1.15", "TextRules/listing", "guarded", "plain", "the same without them"),
	plain("a read right behind a search of 10,000 notes, over a read alone", "ms", "≤ 1", "ReadBehindSearch", "slower-ms"),
	plain("tokens of `tools/list` without the app, read-only", "", "≤ 450", "Tools/v0", "tokens"),
	plain("tokens of `tools/list` without the app, tier v2 with mutations", "", "≤ 1,600", "Tools/v2-mutations", "tokens"),
	plain("tokens of `tools/list` without the app, everything on", "", "≤ 1,900", "Tools/everything", "tokens"),
	plain("tokens of an answer over the note's own, JSON", "", "≤ 68", "Answer/json", "tokens-over"),
	plain("tokens of an answer over the note's own, text", "", "≤ 15", "Answer/text", "tokens-over"),
	ratio("one note read by the embedded program as a process", "≤ 1.1", "OneShotRead", "read", "version", "`vaultwicket version`"),
	ratio("search in 10,000 notes as a process, with its cache", "≤ 1", "Vault/one-shot", "search", "rg", "ripgrep"),
	ratio("the same, the very first time", "≤ 2", "Vault/one-shot", "first-search", "rg-first", "ripgrep"),
	ratio("search by the resident worker, a word of no note", "≤ 0.2", "Vault/resident/search", "rare", "rg-rare", "ripgrep"),
	ratio("search by the resident worker, words of few notes", "≤ 0.2", "Vault/resident/search", "few", "rg-few", "ripgrep"),
	ratio("search by the resident worker, a word of most notes", "≤ 0.3", "Vault/resident/search", "many", "rg-many", "ripgrep"),
	plain("find in 10,000 notes, four words with a typing error, resident, median", "ms", "≤ 15", "Find/resident", "p50-ms"),
	plain("the same, of 95 in 100", "ms", "≤ 40", "Find/resident", "p95-ms"),
	plain("memory of the index of words", "KiB a note", "≤ 1", "Find/resident", "KiB/note"),
	plain("the file of the index of words", "KiB a note", "", "Find/resident", "file-KiB/note"),
	plain("a changed note is found, at most", "ms", "≤ 100", "Find/change", "seen-ms/max"),
	ratio("find as a process, with its cache", "≤ 1.2", "Find/one-shot", "find", "search", "a search as a process"),
	plain("the slowest listing of 10,000 notes, resident, text or JSON", "ms", "≤ 8", "Vault/resident/listing", "slowest-ms"),
	plain("tasks by due date, resident", "ms", "≤ 8", "Tasks", "due-ms"),
	ratio("the first page of a listing of 1.5 MB, through the server", "", "Pages", "first", "pipe", "the whole listing from the worker"),
	plain("the page behind it", "ms", "", "Pages", "next-ms"),
	plain("a change on disk is seen, median", "ms", "≤ 100", "Vault/change", "seen-ms/p50"),
	plain("a change on disk is seen, at most", "ms", "≤ 100", "Vault/change", "seen-ms/max"),
	plain("base on 10,000 notes: two filters, a formula, 5 columns", "ms", "≤ 25", "Bases/resident", "Table-ms"),
	plain("base on 10,000 notes: groups with summaries", "ms", "≤ 40", "Bases/resident", "Groups-ms"),
	plain("base on 10,000 notes: backlinks", "ms", "≤ 40", "Bases/resident", "Backlinks-ms"),
	ratio("the first index of 10,000 notes", "≤ 2", "Vault/one-shot", "first-index", "cat", "a plain read of all of them"),
	plain("memory of the worker at rest", "KiB a note", "≤ 3", "Vault/resident/memory", "KiB/note"),
	{what: "growth of the slowest listing from 10,000 to 100,000 notes", unit: "×", aim: "≤ 11", value: growth("Vault/resident/listing", "slowest-ms")},
	{what: "growth of a search from 10,000 to 100,000 notes", unit: "×", aim: "≤ 11", value: growth("Vault/resident/search", "rare-ms")},
	plain("memory of the worker at rest, 100,000 notes", "KiB a note", "≤ 3", "LargeVault/resident/memory", "KiB/note"),
	plain("a client that hangs: the answer comes after its limit by", "ms", "≤ 500", "HungClient", "over-ms/max"),
	plain("most memory of the server: notes of 20 and 100 MB, a batch of 100 reads of 1 MB", "MiB", "≤ 64", "Large", "most-MiB"),
	ratio("an append through the worker, with its journal", "", "JournaledAppend", "append", "bare", "a bare durable one"),
	plain("reads over HTTP from the resident worker, 10 clients", "a second", "", "HTTP/worker/10", "calls/s"),
	plain("memory of the server with 1,000 HTTP sessions that made a call", "MiB", "", "Sessions", "sessions-MiB"),
	plain("memory of an agent that is defined", "KiB", "", "Agents", "defined-KiB/agent"),
	plain("memory of an agent that made a call over HTTP, over a session without agents", "KiB", "", "Agents", "calling-KiB/agent"),
}

// growth is how many times as long a figure takes with ten times as many notes.
func growth(benchmark, name string) func(result) (float64, bool) {
	return func(r result) (float64, bool) {
		small, found := r[benchmark][name]
		large, foundLarge := r[strings.Replace(benchmark, "Vault", "LargeVault", 1)][name]
		return large / small, found && foundLarge && small > 0
	}
}
