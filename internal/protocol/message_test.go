package protocol

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// leaves calls change with each field of a message that has no fields of its own, and its name. A pointer is
// to something.
func leaves(at reflect.Value, name string, visit func(name string, field reflect.Value)) {
	switch at.Kind() {
	case reflect.Struct:
		for i := range at.NumField() {
			leaves(at.Field(i), name+"."+at.Type().Field(i).Name, visit)
		}
	case reflect.Pointer:
		if at.IsNil() {
			at.Set(reflect.New(at.Type().Elem()))
		}
		leaves(at.Elem(), name, visit)
	default:
		visit(name, at)
	}
}

// fill gives a field a value that is not zero.
func fill(t testing.TB, name string, field reflect.Value, number int) {
	t.Helper()
	switch field.Kind() {
	case reflect.String:
		field.SetString(fmt.Sprintf("text %d", number))
	case reflect.Bool:
		field.SetBool(true)
	case reflect.Int:
		field.SetInt(int64(1000 + number))
	case reflect.Uint8:
		field.SetUint(1)
	case reflect.Slice:
		field.Set(reflect.ValueOf([]string{name, "", fmt.Sprintf("text %d", number)}))
	default:
		t.Fatalf("%s has the type %s, which no message has", name, field.Type())
	}
}

func roundTripOfRequest(t testing.TB, q Request) Request {
	t.Helper()
	b, ok := AppendRequest(nil, 7, q)
	require.That(t, ok, "too long")
	f := require.Value(NewReader(bytes.NewReader(b)).Next())(t)
	return require.Value(ParseRequest(f))(t)
}

func roundTripOfReply(t testing.TB, r Reply) Reply {
	t.Helper()
	f := require.Value(NewReader(bytes.NewReader(AppendReply(nil, 7, r))).Next())(t)
	return require.Value(ParseReply(f))(t)
}

// Each field is sent, alone and with all others: one that is new and was forgotten arrives as nothing.
func TestEveryFieldOfARequestArrives(t *testing.T) {
	var all Request
	number := 0
	leaves(reflect.ValueOf(&all).Elem(), "Request", func(name string, field reflect.Value) {
		number++
		fill(t, name, field, number)
		var one Request
		leaves(reflect.ValueOf(&one).Elem(), "Request", func(other string, field reflect.Value) {
			if other == name {
				fill(t, name, field, number)
			}
		})
		got := roundTripOfRequest(t, one)
		assert.That(t, reflect.DeepEqual(got, one), "%s alone is %+v, want %+v", name, got, one)
	})
	got := roundTripOfRequest(t, all)
	assert.That(t, number > 15, "%d fields are %+v, want %+v", number, got, all)
	assert.That(t, reflect.DeepEqual(got, all), "%d fields are %+v, want %+v", number, got, all)
	assert.That(t, reflect.DeepEqual(roundTripOfRequest(t, Request{}), Request{}), "the zero request is another one")
}

func TestEveryFieldOfAReplyArrives(t *testing.T) {
	var all Reply
	number := 0
	leaves(reflect.ValueOf(&all).Elem(), "Reply", func(name string, field reflect.Value) {
		number++
		fill(t, name, field, number)
		var one Reply
		leaves(reflect.ValueOf(&one).Elem(), "Reply", func(other string, field reflect.Value) {
			if other == name {
				fill(t, name, field, number)
			}
		})
		got := roundTripOfReply(t, one)
		assert.That(t, reflect.DeepEqual(got, one), "%s alone is %+v, want %+v", name, got, one)
	})
	got := roundTripOfReply(t, all)
	assert.That(t, number > 15, "%d fields are %+v, want %+v", number, got, all)
	assert.That(t, reflect.DeepEqual(got, all), "%d fields are %+v, want %+v", number, got, all)
	assert.That(t, reflect.DeepEqual(roundTripOfReply(t, Reply{}), Reply{}), "the zero reply is another one")
	assert.Equal(t, roundTripOfReply(t, Reply{Status: 255}).Status, uint8(255), "the status")
}

func TestProgressArrives(t *testing.T) {
	for _, p := range []Progress{{120, 3000, FilesRead}, {1, 2, FilesChanged}, {0, 0, FilesRead}} {
		f := require.Value(NewReader(bytes.NewReader(AppendProgress(nil, 7, p))).Next())(t)
		got, err := ParseProgress(f)
		assert.NoError(t, err)
		assert.Equal(t, got, p)
	}
}

func TestPayloadsThatAreNone(t *testing.T) {
	b, _ := AppendRequest(nil, 1, aRequest())
	request := string(b[headSize:])
	reply := string(AppendReply(nil, 1, Reply{Facts: Facts{Path: "a.md"}})[headSize:])
	for name, payload := range map[string]string{
		"nothing": "", "half of it": request[:len(request)/2], "all but the last byte": request[:len(request)-1], "more than it": request + "\x00",
		"another question": "\x09" + request[1:], "a flag that is neither": request[:1] + "\x02" + request[2:],
		"a length without end": request[:2] + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a length beyond the end": request[:2] + "\xff\xff\x03" + request[3:],
	} {
		q, err := ParseRequest(Frame{Kind: KindRequest, Payload: []byte(payload)})
		assert.That(t, err != nil, "%s as a request: %+v", name, q)
	}
	for name, payload := range map[string]string{"nothing": "", "a status": "\x00",
		"all but the last byte": reply[:len(reply)-1], "more than it": reply + "\x00"} {
		r, err := ParseReply(Frame{Kind: KindReply, Payload: []byte(payload)})
		assert.That(t, err != nil, "%s as a reply: %+v", name, r)
	}
	for name, payload := range map[string]string{"nothing": "", "more done than found": "\x00\x01\x02",
		"another kind": "\x02\x01\x01", "more than it": "\x00\x01\x01\x00"} {
		p, err := ParseProgress(Frame{Kind: KindProgress, Payload: []byte(payload)})
		assert.That(t, err != nil, "%s as progress: %+v", name, p)
	}
}

// A list of words that is said to be long makes none before they are there.
func TestAListIsNoLongerThanItsBytes(t *testing.T) {
	start := string([]byte{byte(AskCommand), 0, 0}) // no vault, no command
	payload := []byte(start + "\xff\xff\xff\x07" + strings.Repeat("\x00", 100))
	allocated := testing.AllocsPerRun(10, func() {
		_, err := ParseRequest(Frame{Kind: KindRequest, Payload: payload})
		require.That(t, err != nil, "a list beyond the end")
	})
	assert.That(t, allocated < 20, "%v allocations", allocated)
}

func TestAReasonIsOneShortLine(t *testing.T) {
	for reason, want := range map[string]string{
		"Error: x.":                    "Error: x.",
		"Error: x.\nAnother line":      "Error: x.",
		"a\rb\u2028c\x00\"}":           "a\rb\u2028c\x00\"}",
		strings.Repeat("x", 300):       strings.Repeat("x", MaxReason),
		strings.Repeat("ü", 200):       strings.Repeat("ü", MaxReason/2),
		"x" + strings.Repeat("漢", 100): "x" + strings.Repeat("漢", (MaxReason-1)/3),
	} {
		got := roundTripOfReply(t, Reply{Failure: Failure{Code: "c", Hint: "h", Reason: reason}}).Failure
		assert.Equal(t, got, Failure{"c", "h", want}, "%q", reason)
		assert.That(t, utf8.ValidString(got.Reason), "%q: %+v", reason, got)
		assert.Equal(t, NewFailure("c", "h", reason), got, "%q", reason)
	}
}

func TestLongTextsOfAReplyAreCut(t *testing.T) {
	long := strings.Repeat("ü", maxReply)
	got := roundTripOfReply(t, Reply{Panic: long, Facts: Facts{Notice: long}})
	assert.Equal(t, len(got.Panic), maxPanic)
	assert.Equal(t, len(got.Facts.Notice), maxNotice)
	assert.That(t, utf8.ValidString(got.Panic), "%d and %d bytes", len(got.Panic), len(got.Facts.Notice))
}

// Any bytes are a message or an error, and a message is the same one when it is sent again.
func FuzzMessages(f *testing.F) {
	b, _ := AppendRequest(nil, 1, aRequest())
	f.Add(b[headSize:])
	f.Add(AppendReply(nil, 1, Reply{Facts: Facts{Path: "a.md", Rows: 7}})[headSize:])
	f.Add(AppendProgress(nil, 1, Progress{1, 2, FilesRead})[headSize:])
	f.Add([]byte(strings.Repeat("\xff", 40)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > maxReply/2 {
			return
		}
		if q, err := ParseRequest(Frame{Kind: KindRequest, Payload: payload}); err == nil {
			require.That(t, reflect.DeepEqual(roundTripOfRequest(t, q), q), "the request %+v", q)
		}
		if r, err := ParseReply(Frame{Kind: KindReply, Payload: payload}); err == nil {
			first := roundTripOfReply(t, r) // long texts are cut once
			require.That(t, reflect.DeepEqual(roundTripOfReply(t, first), first), "the reply %+v", r)
		}
		if p, err := ParseProgress(Frame{Kind: KindProgress, Payload: payload}); err == nil {
			require.That(t, p.Done <= p.Total, "the progress %+v", p)
			require.That(t, p.Of == FilesRead || p.Of == FilesChanged, "the progress %+v", p)
		}
	})
}

func BenchmarkMessages(b *testing.B) {
	q, buf := Request{Command: "read", Args: []string{"path=Tides.md"}, Want: Want{Facts: true}}, []byte(nil)
	for b.Loop() {
		buf, _ = AppendRequest(buf[:0], 1, q)
		_, err := ParseRequest(Frame{Kind: KindRequest, Payload: buf[headSize:]})
		require.NoError(b, err)
		buf = AppendReply(buf[:0], 1, Reply{Facts: Facts{Path: "Tides.md", Hash: "0123456789abcdef"}})
		_, err = ParseReply(Frame{Kind: KindReply, Payload: buf[headSize:]})
		require.NoError(b, err)
	}
}
