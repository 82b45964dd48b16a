package frontmatter

import (
	"math"

	"vaultwicket/cmd/internal/vault/knowledge/cache/wire"
)

// What a value holds beside its kind, as bits above it.
const (
	kindBits  = 0b111
	hasTruth  = 1 << 3
	hasNumber = 1 << 4
	hasText   = 1 << 5
	hasList   = 1 << 6
	hasFields = 1 << 7
)

// The fewest bytes that one of them is written in.
const (
	leastValue    = 1
	leastProperty = 3
)

// AppendBinary writes p behind b, for [ReadProperties].
func (p Properties) AppendBinary(b []byte) []byte {
	b = wire.AppendCount(b, p)
	line := 0
	for _, property := range p {
		b = wire.AppendText(b, property.Key)
		b = property.Value.appendBinary(b)
		b = wire.AppendInt(b, property.Line-line)
		line = property.Line
	}
	return b
}

func (v Value) appendBinary(b []byte) []byte {
	b = append(b, byte(v.kind)&kindBits|v.holds())
	if v.hasNumber() {
		b = wire.AppendFloat(b, v.number)
	}
	if v.text != "" {
		b = wire.AppendText(b, v.text)
	}
	if list := v.List(); list != nil {
		b = wire.AppendCount(b, list)
		for _, element := range list {
			b = element.appendBinary(b)
		}
	}
	if fields := v.Fields(); fields != nil {
		b = fields.AppendBinary(b)
	}
	return b
}

// holds returns what v holds. It asks the fields and not the kind, so that a
// value comes back as it was, whatever made it.
func (v Value) holds() (bits byte) {
	if v.truth {
		bits |= hasTruth
	}
	if v.hasNumber() {
		bits |= hasNumber
	}
	if v.text != "" {
		bits |= hasText
	}
	if v.List() != nil {
		bits |= hasList
	}
	if v.Fields() != nil {
		bits |= hasFields
	}
	return bits
}

// hasNumber reports whether the number is another one than that of the zero
// Value; the negative zero is.
func (v Value) hasNumber() bool { return math.Float64bits(v.number) != 0 }

// ReadProperties reads what AppendBinary wrote. What cannot have come from
// there, such as values nested deeper than those of a note, makes r fail.
func ReadProperties(r *wire.Reader) Properties { return readFields(r, maxDepth) }

func readFields(r *wire.Reader, depth int) Properties {
	fields := wire.List[Property](r, leastProperty)
	line := 0
	for i := range fields {
		key, value := r.Text(), readValue(r, depth)
		line += r.Int()
		fields[i] = Property{key, value, line}
	}
	return fields
}

func readValue(r *wire.Reader, depth int) Value {
	head := r.Byte()
	v := Value{kind: Kind(head & kindBits), truth: head&hasTruth != 0}
	if v.kind > Map || depth == 0 || head&hasList != 0 && head&hasFields != 0 {
		r.Fail()
		return Value{}
	}
	if head&hasNumber != 0 {
		v.number = r.Float()
	}
	if head&hasText != 0 {
		v.text = r.Text()
	}
	if head&hasList != 0 {
		list := wire.List[Value](r, leastValue)
		for i := range list {
			list[i] = readValue(r, depth-1)
		}
		v.more = list
	}
	if head&hasFields != 0 {
		v.more = readFields(r, depth-1)
	}
	return v
}
