package fake

// The names and words of a vault. "Café" is here in both normal forms.
var (
	folderNames = []string{"Projects", "Areas", "People", "Reading", "Ideas", "Work", "Garden", "Läden", "旅行",
		"Ordner mit Leerzeichen", "2026", "Notes & Co", "🌱 Seeds"}

	topics = []string{
		"Tides", "Moon", "Harbour", "Lighthouse", "Boat", "Rope", "Knots", "Weather", "Wind", "Rain", "Garden", "Apples", "Bees",
		"Bread", "Soup", "Kitchen", "Budget", "Taxes", "Meeting", "Planning", "Review", "Roadmap", "Interview", "Reading list",
		"Caf\u00e9", "Cafe\u0301", "Straße", "na\u00efve ideas", "日記", "読書メモ", "会議", "Привет", "Ελλάδα", "한국어",
		"🌊 Waves", "🎉", "100% sure", "R&D", "v1.2 notes", "Mr. Smith", "what (not) to do", "it's fine", "e-mail", "snake_case", "007",
	}

	commonNames = []string{"Index", "README", "index", "TODO", "Notes"}

	pictureEndings = []string{".png", ".jpg", ".svg", ".pdf", ".PNG"}

	missing = []string{"Nowhere", "Not yet written", "nowhere", "Missing/Deep note", "Still to do.md", "später", "未定", "lost.png"}

	tagNames = []string{
		"project", "project/alpha", "project/beta", "Project", "reading", "idea", "todo", "y2026", "日本", "größe", "tag_1", "a-b", "🎉", "area/work/deep",
	}

	// noTags look like tags and are none, or end before they seem to.
	noTags = []string{"#2026", "word#inside", "https://example.org/#part", "#", "##", `\#escaped`, "C#", "(#bracket)"}

	marks = []string{" ", " ", " ", "x", "x", "X", "/", "-", ">", "?", "✓"}

	bullets = []string{"-", "-", "-", "*", "+", "1.", "12.", "1)"}

	noTasks = []string{"- [] no box", "-[ ] no blank", "- [ab] two marks", "[ ] no list", "- [ ]nothing between"}

	vaultWords = []string{
		"water", "morning", "slowly", "under", "the", "old", "bridge", "a", "letter", "from", "grandmother", "about", "apples", "and",
		"their", "price", "in", "winter", "which", "nobody", "remembers", "today", "but", "counts", "every", "evening", "before", "supper",
		"with", "patience", "over", "blue", "hills", "where", "two", "rivers", "meet", "it", "rains", "often", "still", "people", "walk",
		"along", "narrow", "paths", "carrying", "baskets", "of", "small", "stones", "for", "new", "walls", "around", "gardens", "that",
		"were", "never", "planned", "yet", "grow", "well", "enough", "naïve", "façade", "über", "снег", "水", "12", "3.5", "half-done", "don't",
	}

	languages = []string{"", "go", "sh", "tasks", "dataview"}
)
