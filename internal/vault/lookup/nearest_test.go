package lookup

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestNearestPaths(t *testing.T) {
	files := []string{
		"Ideas/Bread.md", "Ideas/Sourdough starter.md", "Ideas/Tea.md", "Projects/Website redesign.md", "Projects/Kitchen.md", "Projects/Meeting notes.md",
		"People/Ana.md", "Journal/2026-11-20.md", "Journal/2026-11-21.md", "Books.base", "Images/oven.png", "Übung/Käse.md",
	}
	for wanted, want := range map[string]string{
		"Ideas/Bread":                  "Ideas/Bread.md",
		"Ideas/Braed.md":               "Ideas/Bread.md",
		"Bread.md":                     "Ideas/Bread.md",
		"bread":                        "Ideas/Bread.md",
		"Idea/Bread.md":                "Ideas/Bread.md",
		"My vault/Ideas/Bread.md":      "Ideas/Bread.md",
		"/Ideas/Bread.md":              "Ideas/Bread.md",
		`Ideas\Bread.md`:               "Ideas/Bread.md",
		"Ideas/Bread.txt":              "Ideas/Bread.md",
		"[[Bread]]":                    "Ideas/Bread.md",
		"![[Bread#Method|how]]":        "Ideas/Bread.md",
		"Ideas%20/Bread":               "Ideas/Bread.md",
		"Projects/website-redesign.md": "Projects/Website redesign.md",
		"website_redesign":             "Projects/Website redesign.md",
		"Website":                      "Projects/Website redesign.md",
		"redesign website":             "Projects/Website redesign.md",
		"Sourdough.md":                 "Ideas/Sourdough starter.md",
		"meeting-note.md":              "Projects/Meeting notes.md",
		"Meeting note":                 "Projects/Meeting notes.md",
		"Notes of the meeting":         "Projects/Meeting notes.md",
		"2026-11-20":                   "Journal/2026-11-20.md",
		"Daily/2026-11-21.md":          "Journal/2026-11-21.md",
		"Books":                        "Books.base",
		"oven.jpg":                     "Images/oven.png",
		"U\u0308bung/Ka\u0308se":       "Übung/Käse.md",
		"ubung/Kase.md":                "Übung/Käse.md",
		"Zebra":                        "",
		"":                             "",
		"///":                          "",
		strings.Repeat("Bread ", 100):  "",
	} {
		got := NearestPaths(wanted, files)
		if want == "" {
			assert.Equal(t, len(got), 0, "%q: %q", wanted, got)
			continue
		}
		require.That(t, len(got) != 0, "%q: nothing, want %q first", wanted, want)
		assert.Equal(t, got[0], want, "the first one for %q of %q", wanted, got)
	}
}

// TestTheFolderDecides between notes of one name.
func TestTheFolderDecides(t *testing.T) {
	files := []string{"A/Plan.md", "B/Plan.md", "C/Plan.md", "Plan.md", "D/Plan.md"}
	got := NearestPaths("B/Paln.md", files)
	require.Equal(t, len(got), maxNearest)
	assert.Equal(t, got[0], "B/Plan.md")
	got = NearestPaths("X/Plan.md", files)
	require.Equal(t, len(got), maxNearest, "without the folder")
	assert.Equal(t, got[0], "Plan.md", "without the folder")
}

func TestNearestNames(t *testing.T) {
	names := []string{"Bread", "Ingredients", "Method", "Open questions", "#baking", "#recipe/bread", "status", "due-date", "Übersicht"}
	for wanted, want := range map[string]string{
		"Methd": "Method", "method": "Method", "ingredient": "Ingredients", "questions": "Open questions", "Questions, open": "Open questions",
		"bakin": "#baking", "#Baking": "#baking", "recipe": "#recipe/bread", "staus": "status", "due_date": "due-date",
		"duedate": "due-date", "ubersicht": "Übersicht", "x": "", "Appendix": "", "ingredient list": "Ingredients",
	} {
		got := NearestNames(wanted, names)
		if want == "" {
			assert.Equal(t, len(got), 0, "%q: %q", wanted, got)
			continue
		}
		require.That(t, len(got) != 0, "%q: nothing, want %q first", wanted, want)
		assert.Equal(t, got[0], want, "the first one for %q of %q", wanted, got)
	}
}

// FuzzNames: what is suggested is one of the names, once, and the name itself comes
// first where it is there.
func FuzzNearestNames(f *testing.F) {
	f.Add("Braed", "Bread|Tea|Ideas/Bread.md")
	f.Add("\xff", "a|\xff|b")
	f.Fuzz(func(t *testing.T, wanted, list string) {
		names := strings.Split(list, "|")
		slices.Sort(names)
		names = slices.Compact(names)
		for _, got := range [][]string{NearestNames(wanted, names), NearestPaths(wanted, names)} {
			assert.That(t, len(got) <= maxNearest, "%d suggestions", len(got))
			for i, name := range got {
				assert.That(t, slices.Contains(names, name), "%q suggests %q", wanted, got)
				assert.That(t, !slices.Contains(got[:i], name), "%q suggests %q", wanted, got)
			}
		}
	})
}
