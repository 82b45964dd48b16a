package forgery

import "github.com/vaultwicket/vaultwicket/allowlist"

var calls = []allowlist.Call{
	{row: nil},          // want "unexported field row"
	{vault: "Other"},    // want "unexported field vault"
	{nil, "", nil, 0},   // want "implicit assignment to unexported field"
	allowlist.Call{"x"}, // want "implicit assignment to unexported field"
}

// twin has the fields of allowlist.Call, as far as their types can be named here. It must not convert to a Call.
type twin struct {
	row    *int
	vault  string
	args   []string
	effect int
	loses  string
	shows  bool
}

var (
	converted = allowlist.Call(twin{})         // want "cannot convert"
	asserted  = any(twin{}).(allowlist.Call)   // compiles, but panics; with a second result it gives the zero Call
	argument  allowlist.arg                    // want "not exported"
	line      = allowlist.row{name: "eval"}    // want "not exported"
	rows      = allowlist.table                // want "not exported"
	found     = allowlist.find("eval")         // want "not exported"
	value     = allowlist.Value{text: "x"}     // want "unexported field text"
	carrier   = allowlist.Carrier{os: "linux"} // want "unexported field os"
)

func changeCall(c allowlist.Call, v allowlist.Value) {
	c.effect = 1                    // want "c.effect undefined"
	c.row = nil                     // want "c.row undefined"
	c.args[0].value = "../x"        // want "c.args undefined"
	c.take("path", v)               // want "c.take undefined"
	c.Name = nil                    // want "cannot assign"
	_ = c.items()                   // want "c.items undefined"
	_ = &allowlist.Call{row: c.row} // want "unexported field row"
}

func changeError(e *allowlist.ParseError) {
	e.code = "x"                              // want "e.code undefined"
	_ = allowlist.ParseError{code: "x"}       // want "unexported field code"
	_ = allowlist.ParseError{hint: "say yes"} // want "unexported field hint"
}
