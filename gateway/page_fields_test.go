package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestFields(t *testing.T) {
	tests := []struct {
		name, text, fields, want string
	}{
		{"fields of each row, in the order asked for", `[{"a":1,"b":2,"c":3},{"c":6,"b":5,"a":4}]`, "c a", "[{\"c\":3,\"a\":1},\n{\"c\":6,\"a\":4}]"},
		{"values keep their bytes", `[{"a": 1e400, "b":123456789012345678901, "c":"\u00e9\/", "d":[1 ,2]}]`, "d c b a",
			`[{"d":[1 ,2],"c":"\u00e9\/","b":123456789012345678901,"a": 1e400}]`},
		{"a row that lacks a field", `[{"a":1},{"b":2},{}]`, "b a", "[{\"a\":1},\n{\"b\":2},\n{}]"},
		{"one object", " {\n  \"a\" : {\"b\":[{}]} ,\n  \"c\" : null\n}\n", "a", `{"a" : {"b":[{}]}}`},
		{"no rows", "[ ]", "a", "[ ]"},
		{"a key with an escape", `{"\u0061":1}`, "a", `{"\u0061":1}`},
		{"a key that stands there twice", `{"a":1,"a":2}`, "a", `{"a":2}`},
	}
	for _, test := range tests {
		got, err := selectFields(test.text, strings.Fields(test.fields))
		require.Equal(t, err, nil, "%s", test.name)
		assert.Equal(t, got, test.want, "%s", test.name)
	}
}

func TestFieldsRefuses(t *testing.T) {
	many := make([]string, maxFields+1)
	tests := []struct {
		name, text, code, want string
		fields                 []string
	}{
		{"no field", `{"a":1}`, "bad_value", "fields is an empty list", nil},
		{"too many", `{"a":1}`, "bad_value", "fields has more than 100 names", many},
		{"one twice", `{"a":1}`, "bad_value", `fields has "a" twice`, []string{"a", "b", "a"}},
		{"no JSON", "a\tb\n", "bad_request", "fields cannot be chosen: the answer is not JSON", []string{"a"}},
		{"nothing", "", "bad_request", "fields cannot be chosen: the answer is not JSON", []string{"a"}},
		{"a number", "7", "bad_request", "fields cannot be chosen: the answer is a number, not an object", []string{"a"}},
		{"a row that is a string", `[{"a":1},"a"]`, "bad_request", "fields cannot be chosen: the answer has a string as row 2, not an object", []string{"a"}},
		{"a row that is an array", `[[1],2]`, "bad_request", "fields cannot be chosen: the answer has an array as row 1, not an object", []string{"a"}},
		{"a row that is null", `[null]`, "bad_request", "fields cannot be chosen: the answer has null as row 1, not an object", []string{"a"}},
		{"a boolean", ` true`, "bad_request", "fields cannot be chosen: the answer is a boolean, not an object", []string{"a"}},
		{"a field that no row has", `[{"b":1},{"a":1}]`, "bad_value", `fields: no row has a field "x"`, []string{"a", "x"}},
	}
	for _, test := range tests {
		got, err := selectFields(test.text, test.fields)
		var coded interface{ Code() string }
		require.Equal(t, got, "", "%s", test.name)
		require.That(t, errors.As(err, &coded), "%s: %q, %v, want %s", test.name, got, err, test.want)
		require.Equal(t, coded.Code(), test.code, "%s", test.name)
		assert.Equal(t, err.Error(), test.want, "%s", test.name)
	}
}

func TestAsManyFieldsAsThereMayBe(t *testing.T) {
	var fields []string
	for i := range maxFields {
		fields = append(fields, fmt.Sprint(i))
	}
	_, err := selectFields(`{"0":0}`, fields)
	require.That(t, err != nil, "%v", err)
	assert.Equal(t, err.Error(), `fields: no row has a field "1"`)
}

func TestAMissingFieldNamesWhatIsThere(t *testing.T) {
	text := `[{"path":"a"},{"name":1},{"path":2,"size\n":3}]`
	_, err := selectFields(text, []string{"Name"})
	var missing *failure.RequestError
	require.That(t, errors.As(err, &missing), "%+v", err)
	require.Equal(t, missing.Error(), `fields: no row has a field "Name"`)
	want := `did you mean "name"? there are "name", "path", "size\n"`
	assert.That(t, missing.Hint() == want, "hint %s, want %s", missing.Hint(), want)
	_, err = selectFields("[{},{}]", []string{"a"})
	require.That(t, errors.As(err, &missing), "%+v", err)
	assert.Equal(t, missing.Hint(), "the rows have no fields at all; leave fields out")
}

func TestAMissingFieldIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range maxNames + 500 {
		fmt.Fprintf(&text, `,{"%04d%s":1}`, i, strings.Repeat("x", 100))
	}
	_, err := selectFields("["+text.String()[1:]+"]", []string{strings.Repeat("é", 1<<20)})
	var missing *failure.RequestError
	require.That(t, errors.As(err, &missing), "%v", err)
	require.Equal(t, strings.Count(missing.Hint(), ", "), maxPresent-1)
	if len(missing.Error()) > 200 || len(missing.Hint()) > maxPresent*80 || !strings.HasSuffix(missing.Hint(), " and others") {
		t.Errorf("%s; %s", missing.Error(), missing.Hint())
	}
	_, err = selectFields("["+text.String()[1:]+`,{"nearly":1}]`, []string{"nearli"})
	require.That(t, errors.As(err, &missing), "a name beyond the bound is compared: %s", missing.Hint())
	assert.That(t, strings.HasPrefix(missing.Hint(), "there are "), "a name beyond the bound is compared: %s", missing.Hint())
}

// checkFields checks what Fields promises, against encoding/json.
func checkFields(t require.T, text string, fields []string) {
	got, err := selectFields(text, fields)
	if err != nil {
		var coded interface {
			Code() string
			Hint() string
		}
		require.That(t, errors.As(err, &coded), "Fields(%q, %q) = %q, %v", text, fields, got, err)
		require.That(t, coded.Hint() != "", "Fields(%q, %q) = %q, %v", text, fields, got, err)
		require.Equal(t, got, "", "Fields(%q, %q) = %q", text, fields, got)
		checkMissing(t, text, err)
		return
	}
	var whole, chosen []map[string]json.RawMessage
	if bytes.HasPrefix(bytes.TrimLeft([]byte(text), space), []byte("{")) {
		text, got = "["+text+"]", "["+got+"]"
	}
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatalf("Fields takes %q: %v", text, err)
	}
	if err := json.Unmarshal([]byte(got), &chosen); err != nil || len(chosen) != len(whole) {
		t.Fatalf("Fields(%q, %q) = %q: %v", text, fields, got, err)
	}
	for i, row := range whole {
		for key, value := range row {
			if chosenValue, ok := chosen[i][key]; ok != slices.Contains(fields, key) || ok && !bytes.Equal(chosenValue, value) {
				t.Fatalf("Fields(%q, %q) = %q: row %d, key %q", text, fields, got, i, key)
			}
		}
		require.That(t, len(chosen[i]) <= len(row), "Fields(%q, %q) = %q: row %d has more", text, fields, got, i)
	}
	checkOrder(t, got, fields)
}

// checkOrder: the keys of each row are in the order asked for.
func checkOrder(t require.T, got string, fields []string) {
	var rows []json.RawMessage
	_ = json.Unmarshal([]byte(got), &rows)
	for _, row := range rows {
		last := -1
		members(string(row), func(key, _ string) {
			i := slices.Index(fields, key)
			require.That(t, i > last, "%q for %q: key %q", got, fields, key)
			last = i
		})
	}
}

// checkMissing: a field of which Fields says that no row has it is in none.
func checkMissing(t require.T, text string, err error) {
	name, missing := strings.CutPrefix(err.Error(), "fields: no row has a field ")
	field, _ := strconv.Unquote(name)
	if !missing || strings.HasSuffix(field, "…") { // a long name is cut in the message
		return
	}
	var rows []map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &rows) != nil {
		rows = make([]map[string]json.RawMessage, 1)
		if err := json.Unmarshal([]byte(text), &rows[0]); err != nil {
			t.Fatalf("%q of %q: %v", field, text, err)
		}
	}
	for _, row := range rows {
		if _, ok := row[field]; ok {
			t.Fatalf("%q of %q", field, text)
		}
	}
}

func TestFieldsAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := values(3).Draw(t, "text")
		fields := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c d", ""}), 1, 4, rapid.ID[string]).Draw(t, "fields")
		checkFields(t, text, fields)
	})
}

// What a survey says of a text is what encoding/json says, up to this length.
func TestMuchSpaceIsNotTakenOut(t *testing.T) {
	text := "[\n" + strings.Repeat(" ", maxCompact) + "]"
	got, _ := compactRows(text)
	assert.That(t, got == text, "%d bytes became %d", len(text), len(got))
}
