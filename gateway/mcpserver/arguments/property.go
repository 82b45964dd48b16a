package arguments

// Property is one argument of a tool in its JSON Schema. An argument that is passed on as
// a command parameter has the name of the parameter.
type Property struct {
	Name        string
	Type        Type
	Description string // for a model
	// Values are the values of an argument that selects something in the tool itself.
	// Those of a command parameter are in the allowlist.
	Values   []string
	Required bool
}

// Type is the type of an argument in a JSON Schema.
type Type string

// The types of arguments.
const (
	String  Type = "string"
	Integer Type = "integer"
	Boolean Type = "boolean"
	Strings Type = "array" // of strings
)

// Schema returns the JSON Schema of the argument.
func (p Property) Schema() map[string]any {
	schema := map[string]any{"type": p.Type, "description": p.Description}
	if p.Type == Strings {
		schema["items"] = map[string]any{"type": String}
	}
	if p.Values != nil {
		schema["enum"] = p.Values
	}
	return schema
}

var paging = []Property{
	{Name: "fields", Type: Strings, Description: "row fields to return"},
	{Name: "limit", Type: Integer, Description: "max rows"},
	{Name: "cursor", Type: String, Description: "of a truncated result"},
}

// Paging returns the arguments for long answers. Callers must not change them.
func Paging() []Property { return paging }

var writing = []Property{
	{Name: "dryRun", Type: Boolean, Description: "preview only"},
	{Name: "expectHash", Type: String, Description: "change only a note with this hash"},
	{Name: "idempotencyKey", Type: String, Description: "run once per key"},
}

// Writing returns the arguments of tools that can change something. Callers must not
// change them.
func Writing() []Property { return writing }
