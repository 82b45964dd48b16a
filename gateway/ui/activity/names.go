package activity

// name is the number of a text that many calls have in common. The zero name is "".
type name uint32

// names gives texts their numbers.
type names struct {
	numbers map[string]name
	texts   []string
}

func newNames() names { return names{map[string]name{"": 0}, []string{""}} }

func (n *names) number(text string) name {
	number, known := n.numbers[text]
	if !known {
		number = name(len(n.texts))
		n.numbers[text], n.texts = number, append(n.texts, text)
	}
	return number
}

func (n *names) text(number name) string { return n.texts[number] }

// find returns the number of a text that some call has.
func (n *names) find(text string) (name, bool) {
	number, known := n.numbers[text]
	return number, known
}
