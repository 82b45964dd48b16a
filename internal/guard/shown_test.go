package guard

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/fake"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// TestEachKindIsHiddenInEachPlace has 60 kinds of secrets in 40 places and more.
func TestEachKindIsHiddenInEachPlace(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	places := fake.Places()
	secrets := fake.Secrets()
	require.That(t, len(places) >= 40, "%d places and %d secrets", len(places), len(secrets))
	require.That(t, len(secrets) >= 60, "%d places and %d secrets", len(places), len(secrets))
	for _, where := range slices.Sorted(maps.Keys(places)) {
		p := places[where]
		var shown []string
		for _, s := range secrets {
			raw := p.Put(s.Line)
			out := m.Redact([]byte(raw))
			text := string(out)
			var err error
			if p.Decode != nil {
				text, err = p.Decode(text)
			}
			require.That(t, err == nil, "%s, %s: %q became %q: %v", where, s.Kind, raw, out, err)
			if strings.Contains(text, s.Value[:len(s.Value)-4]) || strings.Contains(text, s.Value[4:]) {
				shown = append(shown, s.Kind)
			}
			assert.Equal(t, len(Marks(out)), len(Find([]byte(raw), Secrets)), "what scan finds in %q", raw)
			assert.Equal(t, bytes.Count(out, []byte("\n")), strings.Count(raw, "\n"))
			back, err := m.Restore(nil, []byte(raw))(out)
			require.Equal(t, err, nil, "%s, %s: %q became %q and %q", where, s.Kind, raw, out, back)
			require.Equal(t, string(back), raw, "%s, %s: %q became %q and %q", where, s.Kind, raw, out, back)
		}
		if len(shown) > 0 {
			t.Errorf("%s: %d of %d are shown: %q", where, len(shown), len(secrets), shown)
		}
	}
}

// TestNothingInnocentIsHidden has 2,000 texts that look like secrets and have none.
func TestNothingInnocentIsHidden(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	texts := fake.Innocent()
	require.That(t, len(texts) == 2000, "%d texts", len(texts))
	hidden := 0
	for _, text := range texts {
		if shown := string(m.Redact([]byte(text))); shown != text {
			hidden++
			t.Logf("%q is shown as %q", text, shown)
		}
	}
	assert.Equal(t, hidden, 0)
}

// TestAValueIsHiddenInEachLayout has names and values in headings, lists, tables, blocks of code and prose.
func TestAValueIsHiddenInEachLayout(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	mixed, inWords := fake.Layouts()
	total, shown := 0, 0
	try := func(form, value string) {
		total++
		raw := strings.Replace(form, "%s", value, 1)
		out := m.Redact([]byte(raw))
		if bytes.Contains(out, []byte(value[3:len(value)-3])) {
			shown++
			t.Errorf("%q is shown as %q", raw, out)
		}
		back, err := m.Restore(nil, []byte(raw))(out)
		require.Equal(t, err, nil, "%q became %q and %q", raw, out, back)
		require.Equal(t, string(back), raw, "%q became %q and %q", raw, out, back)
	}
	for _, form := range mixed {
		for _, value := range []string{"Zk7pQ2mVx" + "4", "s7nflower" + "!", "b0at$H4rb0ur"} {
			try(form, value)
		}
	}
	for _, form := range inWords {
		try(form, "correct horse battery")
	}
	t.Logf("%d of %d are shown", shown, total)
}

// TestALabelledWordIsHidden has passwords of one plain word, and what is said about passwords in their place.
func TestALabelledWordIsHidden(t *testing.T) {
	m := NewMarker([]byte("key"), false)
	labelled, sayings := fake.PlainWords()
	for _, form := range labelled {
		for _, value := range []string{"sunflower", "Regenbogen", "правда", "tournesol!", "sun-flower"} {
			raw := strings.Replace(form, "%s", value, 1)
			out := m.Redact([]byte(raw))
			assert.That(t, !bytes.Contains(out, []byte(value)), "%q is shown as %q", raw, out)
			back, err := m.Restore(nil, []byte(raw))(out)
			require.NoError(t, err)
			require.Equal(t, string(back), raw, "%q is restored", out)
		}
	}
	for _, text := range sayings {
		assert.Equal(t, string(m.Redact([]byte(text))), text)
	}
}
