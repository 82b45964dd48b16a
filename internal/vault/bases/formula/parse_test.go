package formula

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// write writes a node with all its parentheses.
func write(n Node) string {
	switch n := n.(type) {
	case *NullNode:
		return "null"
	case *BoolNode:
		return strconv.FormatBool(n.Value)
	case *NumberNode:
		return strconv.FormatFloat(n.Value, 'g', -1, 64)
	case *StringNode:
		return strconv.Quote(n.Value)
	case *RegexNode:
		return "/" + n.Body + "/" + n.Flags
	case *NameNode:
		return n.Text
	case *ListNode:
		return "[" + writeAll(n.Items) + "]"
	case *UnaryNode:
		return "(" + operatorTexts[n.Op] + write(n.X) + ")"
	case *BinaryNode:
		return "(" + write(n.X) + operatorTexts[n.Op] + write(n.Y) + ")"
	case *MemberNode:
		return write(n.X) + "." + n.Name
	case *IndexNode:
		return write(n.X) + "[" + write(n.Key) + "]"
	case *CallNode:
		return write(n.Function) + "(" + writeAll(n.Args) + ")"
	}
	return "?"
}

var operatorTexts = [...]string{
	Or: "||", And: "&&", Equal: "==", NotEqual: "!=", Less: "<", Greater: ">", LessEqual: "<=", GreaterEqual: ">=",
	Add: "+", Subtract: "-", Multiply: "*", Divide: "/", Remainder: "%", Not: "!", Negate: "-",
}

func writeAll(nodes []Node) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = write(n)
	}
	return strings.Join(texts, ", ")
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a || b && c", "(a||(b&&c))"},
		{"a && b == c", "(a&&(b==c))"},
		{"a == b != c < d", "(((a==b)!=c)<d)"},
		{"a < b + c", "(a<(b+c))"},
		{"a + b * c - d", "((a+(b*c))-d)"},
		{"a - b - c", "((a-b)-c)"},
		{"a / b % c * d", "(((a/b)%c)*d)"},
		{"-a * b", "((-a)*b)"},
		{"!a == b", "((!a)==b)"},
		{"!-!a", "(!(-(!a)))"},
		{"-a.b", "(-a.b)"},
		{"a.b[c].d(e, f)[0]", "a.b[c].d(e, f)[0]"},
		{"a - -b", "(a-(-b))"},
		{"a-b", "(a-b)"},
		{"(a + b) * c", "((a+b)*c)"},
		{"[a, [b], []]", "[a, [b], []]"},
		{`'it\'s' + "\"\\\n\q"`, `("it's"+"\"\\\n\\q")`},
		{`/a[/]\/b/gi`, `/a[/]\/b/gi`},
		{"a / b / c", "((a/b)/c)"},
		{"a[0] / 2", "(a[0]/2)"},
		{"f(/x/)", "f(/x/)"},
		{"true", "true"}, {"True", "True"}, {"null", "null"}, {"x.null", "x.null"},
		{".5", "0.5"}, {"1e3", "1000"}, {"2.50", "2.5"},
		{"", "null"}, {" \n\t", "null"},
		{"имя == 1", "(имя==1)"}, {"$a + _b", "($a+_b)"},
		{"value.map(value)(1)", "value.map(value)(1)"},
	} {
		n, err := Parse(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		assert.Equal(t, write(n), test.want, "%q", test.text)
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct {
		text     string
		position int
		reason   string
	}{
		{"n +", 3, "the expression ends too early"},
		{"(n", 2, "the expression ends too early"},
		{"n)", 1, `unexpected ")"`},
		{"1.round()", 1, "a number cannot be followed by '.'; put it in parentheses"},
		{"12px", 2, "a number cannot be followed by 'p'; put it in parentheses"},
		{"[1, 2,]", 6, `unexpected "]"`},
		{"min(1,)", 6, `unexpected ")"`},
		{"n and m", 2, `unexpected "and"`},
		{"n ? 1 : 2", 2, "unexpected character '?'"},
		{`"💩" "x"`, 5, `unexpected "\"x\""`},
		{`"open`, 0, "the text has no closing quote"},
		{"/open", 0, "the regular expression has no closing slash"},
		{"/a/gg", 0, `invalid flags of a regular expression: "gg"`},
		{"// note", 0, "comments are not supported"},
		{"a.", 2, "the expression ends too early"},
		{"a.1", 2, `unexpected "1"`},
		{strings.Repeat("(", 200) + "1", 101, "an expression is nested at most 100 levels deep"},
		{"a" + strings.Repeat(".b", 300), 401, "at most 200 members and calls can follow each other"},
		{strings.Repeat("x", 70_000), 65536, "an expression has at most 65536 bytes"},
	} {
		_, err := Parse(test.text)
		var problem *SyntaxError
		if !errors.As(err, &problem) {
			t.Errorf("%.20q is parsed: %v", test.text, err)
			continue
		}
		if problem.Position != test.position || problem.Reason != test.reason {
			t.Errorf("%.20q fails at %d: %s; want %d: %s", test.text, problem.Position, problem.Reason, test.position, test.reason)
		}
	}
}
