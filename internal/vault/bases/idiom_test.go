package bases_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// shelfNames are the properties of a vault in which the expressions below are written.
var shelfNames = bases.Names{Properties: []string{
	"status", "company", "type", "due", "rating", "price", "tags", "aliases", "author", "done", "title", "start", "end", "priority", "project", "created",
}}

// idioms are expressions as models and people write them who know other languages, with what is right.
var idioms = []struct{ written, right string }{
	// A text without quotes.
	{`company == Acme`, `company == "Acme"`},
	{`company = Acme`, `company == "Acme"`},
	{`type == meeting`, `type == "meeting"`},
	{`type == meeting note`, `type == "meeting note"`},
	{`type != meeting`, `type != "meeting"`},
	{`status == in-progress`, `status == "in-progress"`},
	{`status == 'open' && type == meeting`, `status == 'open' && type == "meeting"`},
	{`status == open || status == waiting`, `status == "open" || status == "waiting"`},
	{`open == status`, `"open" == status`},
	{`compny == Acme`, `compny == "Acme"`},
	{`file.folder == Projects`, `file.folder == "Projects"`},
	{`file.folder == Projects/Solar`, `file.folder == "Projects/Solar"`},
	{`file.path == Projects/Plan.md`, `file.path == "Projects/Plan.md"`},
	{`file.ext == md`, `file.ext == "md"`},
	{`file.name == Plan.md`, `file.name == "Plan"`},
	{`author == [[Ann]]`, `author == link("Ann")`},
	{`author = [[Ann Lee|Ann]]`, `author == link("Ann Lee")`},
	{`author == link(Ann)`, `author == link("Ann")`},
	{`tags.contains(work)`, `tags.contains("work")`},
	{`tags.containsAny(work, home)`, `tags.containsAny("work", "home")`},
	{`file.hasTag(work)`, `file.hasTag("work")`},
	{`file.inFolder(Projects)`, `file.inFolder("Projects")`},
	{`file.hasLink(Ann)`, `file.hasLink("Ann")`},
	{`title.startsWith(Plan)`, `title.startsWith("Plan")`},
	{`[open, waiting].contains(status)`, `["open", "waiting"].contains(status)`},
	{`due < 2025-01-01`, `due < "2025-01-01"`},
	{`due >= 2025-01-01 && due <= 2025-12-31`, `due >= "2025-01-01" && due <= "2025-12-31"`},
	{`due = 2025-01-01`, `due == "2025-01-01"`},
	{`due < date(2025-01-01)`, `due < date("2025-01-01")`},
	{`due < today`, `due < today()`},
	{`due == today`, `due == today()`},
	{`due < date(today)`, `due < today()`},
	{`due < date(tomorrow)`, `due < (today() + "1d")`},
	{`due <= now`, `due <= now()`},
	{`due == tomorrow`, `due == (today() + "1d")`},
	{`due < yesterday`, `due < (today() - "1d")`},
	{`due > "yesterday"`, `due > (today() - "1d")`},
	{`due <= "Today"`, `due <= today()`},
	{`"tomorrow" > due`, `(today() + "1d") > due`},
	{`file.mtime == "today"`, `file.mtime == today()`},
	{`file.ctime < 'now'`, `file.ctime < now()`},
	// Operators.
	{`status = "open"`, `status == "open"`},
	{`status === "open"`, `status == "open"`},
	{`status !== "open"`, `status != "open"`},
	{`status <> "open"`, `status != "open"`},
	{`rating => 3`, `rating >= 3`},
	{`rating =< 3`, `rating <= 3`},
	{`rating ≥ 3`, `rating >= 3`},
	{`status == "open" and rating > 3`, `status == "open" && rating > 3`},
	{`status == "open" AND rating > 3`, `status == "open" && rating > 3`},
	{`status = "open" AND rating > 3 OR done = true`, `status == "open" && rating > 3 || done == true`},
	{`status == "open" or status == "waiting"`, `status == "open" || status == "waiting"`},
	{`status == "open" & rating > 3`, `status == "open" && rating > 3`},
	{`status == "open" | rating > 3`, `status == "open" || rating > 3`},
	{`not done`, `!done`},
	{`NOT done`, `!done`},
	{`status == "open" AND NOT done`, `status == "open" && !done`},
	{`status == "open" and not (rating > 3)`, `status == "open" && !(rating > 3)`},
	{`not status == "open"`, `!(status == "open")`},
	{`not (status = "open" or done)`, `!(status == "open" || done)`},
	{`status is "open"`, `status == "open"`},
	{`status is open`, `status == "open"`},
	{`status is not "open"`, `status != "open"`},
	{`due is null`, `due.isEmpty()`},
	{`due IS NOT NULL`, `!due.isEmpty()`},
	{`due is empty`, `due.isEmpty()`},
	{`due is not empty AND rating > 2`, `!due.isEmpty() && rating > 2`},
	{`status in ("open", "waiting")`, `["open", "waiting"].contains(status)`},
	{`status IN (open, waiting)`, `["open", "waiting"].contains(status)`},
	{`status in ["open", "waiting"]`, `["open", "waiting"].contains(status)`},
	{`status not in ("open", "waiting")`, `!["open", "waiting"].contains(status)`},
	{`"work" in tags`, `tags.contains("work")`},
	{`work in tags`, `tags.contains("work")`},
	{`title like "%plan%"`, `title.contains("plan")`},
	{`title LIKE 'plan%'`, `title.startsWith("plan")`},
	{`title like "%plan"`, `title.endsWith("plan")`},
	{`title like "plan"`, `title == "plan"`},
	{`title not like "%plan%"`, `!title.contains("plan")`},
	{`rating between 2 and 4`, `rating >= 2 && rating <= 4`},
	{`rating BETWEEN 2 AND 4 AND done`, `rating >= 2 && rating <= 4 && done`},
	{`due between 2025-01-01 and 2025-02-01`, `due >= "2025-01-01" && due <= "2025-02-01"`},
	{`tags contains "work"`, `tags.contains("work")`},
	{`tags contains work`, `tags.contains("work")`},
	{`tags not contains "work"`, `!tags.contains("work")`},
	{`tags includes "work"`, `tags.contains("work")`},
	{`title starts with "Plan"`, `title.startsWith("Plan")`},
	{`title matches /^Plan/`, `/^Plan/.matches(title)`},
	{`title =~ /^Plan/i`, `/^Plan/i.matches(title)`},
	{`rating > 3 ? "good" : "bad"`, `if(rating > 3, "good", "bad")`},
	{`title ?? "none"`, `if(title, title, "none")`},
	{`exists due`, `!due.isEmpty()`},
	{`due exists`, `!due.isEmpty()`},
	{`WHERE status = "open"`, `status == "open"`},
	{`where status == "open" and done`, `status == "open" && done`},
	{`status == “open”`, `status == "open"`},
	{`status = open;`, `status == "open"`},
	// Tags, links and operators of searches.
	{`#work`, `file.hasTag("work")`},
	{`#work/home and done`, `file.hasTag("work/home") && done`},
	{`tag=work`, `file.hasTag("work")`},
	{`tag:work`, `file.hasTag("work")`},
	{`tag:#work`, `file.hasTag("work")`},
	{`tags = work`, `file.hasTag("work")`},
	{`tags == "work"`, `tags.contains("work")`},
	{`file.tags == "work"`, `file.tags.contains("work")`},
	{`tags != "work"`, `!tags.contains("work")`},
	{`status:open`, `status == "open"`},
	{`[status:open]`, `status == "open"`},
	{`path:Projects`, `file.path.contains("Projects")`},
	{`price > "5,000"`, `price > 5000`},
	{`price > 5,000`, `price > 5000`},
	// Functions.
	{`contains(tags, "work")`, `tags.contains("work")`},
	{`contains(tags,'work')`, `tags.contains('work')`},
	{`icontains(title, "Plan") and !done`, `title.lower().contains("Plan".lower()) && !done`},
	{`title ~= "Plan"`, `title.contains("Plan")`},
	{`title =~ Plan`, `title.contains("Plan")`},
	{`upper(status) == "OPEN"`, `status.lower() == "open"`},
	{`status.lower() == "Open"`, `status.lower() == "open"`},
	{`rating >= 5k`, `rating >= 5000`},
	{`lower(status) == "open"`, `status.lower() == "open"`},
	{`length(tags) > 2`, `tags.length > 2`},
	{`length(file.links) > 2`, `file.links.length > 2`},
	{`tags.length() > 2`, `tags.length > 2`},
	{`startswith(title, "Plan")`, `title.startsWith("Plan")`},
	{`dateformat(due, "yyyy") == "2025"`, `due.format("yyyy") == "2025"`},
	{`regexmatch("^Plan", title)`, `/^Plan/.matches(title)`},
	{`default(rating, 0) > 3`, `if(rating, rating, 0) > 3`},
	{`choice(done, 1, 2) == 1`, `if(done, 1, 2) == 1`},
	{`year(due) == 2025`, `due.year == 2025`},
	{`isempty(due)`, `due.isEmpty()`},
	{`empty(due)`, `due.isEmpty()`},
	{`not(done)`, `!(done)`},
	{`hasTag("work")`, `file.hasTag("work")`},
	{`inFolder("Projects")`, `file.inFolder("Projects")`},
	{`Today() > due`, `today() > due`},
	{`tags.includes("work")`, `tags.contains("work")`},
	{`title.toLowerCase() == "plan"`, `title.lower() == "plan"`},
	{`title.startswith("Plan")`, `title.startsWith("Plan")`},
	{`title.substring(0, 2) == "Pl"`, `title.slice(0, 2) == "Pl"`},
	{`due < today() + dur(7 days)`, `due < today() + duration("7 days")`},
	{`file.mtime > now() - 7d`, `file.mtime > now() - "7d"`},
	// Fields.
	{`file.modified > now() - "7d"`, `file.mtime > now() - "7d"`},
	{`file.cday == today()`, `file.ctime == today()`},
	{`file.outlinks.length > 2`, `file.links.length > 2`},
	{`file.extension == "md"`, `file.ext == "md"`},
	{`file.ext == ".md"`, `file.ext == "md"`},
	{`file.name == "Plan.md"`, `file.name == "Plan"`},
	{`file.folder == "Projects/"`, `file.folder == "Projects"`},
	{`file.folder == ""`, `file.folder == "/"`},
	{`file.path == "Projects/Plan"`, `file.path == "Projects/Plan.md"`},
	{`file.ext == "MD"`, `file.ext == "md"`},
	// Texts that are compared letter by letter.
	{`rating > "8"`, `rating > 8`},
	{`due > "2026-1-10"`, `due > "2026-01-10"`},
	{`due <= "10.01.2026"`, `due <= "2026-01-10"`},
	{`due < "Jan 10, 2026"`, `due < "2026-01-10"`},
}

func TestIdioms(t *testing.T) {
	right := 0
	for _, row := range idioms {
		_, _, err := bases.Judge(row.written, shelfNames)
		var mistake *bases.Mistake
		if !errors.As(err, &mistake) {
			t.Errorf("%s: taken as it is, want %s", row.written, row.right)
			continue
		}
		if mistake.Right != row.right {
			t.Errorf("%s: read as %q (%s; %s), want %s", row.written, mistake.Right, mistake.Reason, mistake.Advice, row.right)
			continue
		}
		right++
	}
	t.Logf("%d of %d expressions are answered with what is right", right, len(idioms))
}

// What is right is left alone, and the hint for a wrong expression can be sent as it is.
func TestRightExpressionsPass(t *testing.T) {
	written := []string{
		`status == "open"`, `done`, `!done`, `rating > 3 && due`, `end - start > "1d"`, `start == end`, `file.hasTag("work")`, `due < today() + "7d"`,
		`tags.filter(value.startsWith("a")).length > 1`, `file.name.contains("Plan")`, `note["status"] == "open"`, `[1, 2].contains(rating)`,
		`(now() - created).days > 3`, `this.file.name == file.name`, `rating - 1 == price`, `file.links.map(value.asFile()).length`, `/a/.matches(title)`,
		`if(done, "x", "y") == "x"`, `file.ctime.date() == today()`, `file.size / 1024 > 3`, `price > 5000`,
		`author == link("Ann")`, `file.properties.isEmpty()`,
		`status != null`, `list(tags).contains(this)`, `title.lower().contains("plan")`, `values.length > 1`, `project.asFile().properties.status == "open"`,
	}
	for _, row := range idioms {
		written = append(written, row.right)
	}
	for _, text := range written {
		if _, _, err := bases.Judge(text, shelfNames); err != nil && !strings.HasPrefix(text, "compny") {
			t.Errorf("%s: %v (%s)", text, err, err.(*bases.Mistake).Hint())
		}
	}
}

// A property that no note has may come to be: it is told, and refused only as what is compared with.
func TestUnknownPropertiesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		`colour == "red"`: "colour", `colour`: "colour", `!colour`: "colour", `note.colour > 3`: "colour", `note["colour"] == 3`: "colour",
		`colour.isEmpty() && status == "open"`: "colour", `status == "open"`: "", `tags.map(value)`: "",
	} {
		_, unknown, err := bases.Judge(text, shelfNames)
		assert.NoError(t, err)
		assert.Equal(t, text+": "+strings.Join(unknown, ","), text+": "+want)
	}
}

func TestDataviewQueries(t *testing.T) {
	for text, want := range map[string]string{
		`TABLE status, due FROM "Projects" WHERE status = "open" SORT due DESC`: `a query is made of parameters: where=file.inFolder("Projects") && status == "open"; select=status, due; sort=due DESC`,
		`LIST FROM #work LIMIT 5`:                       `a query is made of parameters: where=file.hasTag("work"); limit=5`,
		`select title from notes where status = 'open'`: `a query is made of parameters: where=status == "open"; select=title`,
		`TABLE rating FROM [[Ann]] WHERE rating > 3`:    `a query is made of parameters: where=file.hasLink("Ann") && rating > 3; select=rating`,
	} {
		_, _, err := bases.Judge(text, shelfNames)
		var mistake *bases.Mistake
		if !errors.As(err, &mistake) {
			t.Fatalf("%s: taken as it is", text)
		}
		assert.Equal(t, mistake.Hint(), want)
	}
}

// Functions that do not exist and are like no other get the names of those that do.
func TestUnknownFunctionsNameThoseThatExist(t *testing.T) {
	for _, text := range []string{`frobnicate(title)`, `title.frobnicate()`, `file.frobnicated == 1`, `formula.none > 2`} {
		_, _, err := bases.Judge(text, shelfNames)
		var mistake *bases.Mistake
		if !errors.As(err, &mistake) {
			t.Fatalf("%s: taken as it is", text)
		}
		assert.Equal(t, mistake.Right, "")
		assert.That(t, mistake.Advice != "", "%s: no advice", text)
	}
}

func FuzzJudge(f *testing.F) {
	for _, row := range idioms {
		f.Add(row.written)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _, err := bases.Judge(text, shelfNames)
		var mistake *bases.Mistake
		if !errors.As(err, &mistake) || mistake.Right == "" {
			return
		}
		if _, _, err := bases.Judge(mistake.Right, shelfNames); err != nil {
			t.Errorf("%q: the hint %q is refused: %v", text, mistake.Right, err)
		}
	})
}
