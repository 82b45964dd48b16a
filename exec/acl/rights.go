package acl

import "strconv"

// Rights is a set of rights to a file or folder, as Windows numbers them.
type Rights uint32

// Rights that change something. For a folder WriteData is to add files and AppendData to
// add folders.
const (
	WriteData       Rights = 0x2
	AppendData      Rights = 0x4
	writeExtended   Rights = 0x10
	DeleteChild     Rights = 0x40
	WriteAttributes Rights = 0x100
	Delete          Rights = 0x10000
	WriteList       Rights = 0x40000
	WriteOwner      Rights = 0x80000
	maximumAllowed  Rights = 0x2000000
	genericAll      Rights = 0x10000000
	genericWrite    Rights = 0x40000000

	All Rights = 0xffffffff
)

// What lets an account replace a program or a file, or turn a path elsewhere.
const (
	// ChangeFile is to write to a file, to delete or rename it, or to give oneself the
	// right. An attribute of a file can make a link of it.
	ChangeFile = WriteData | AppendData | writeExtended | WriteAttributes | genericWrite | takeOver | Delete
	// ReplaceIn is to delete or rename what is in a folder.
	ReplaceIn = DeleteChild | takeOver
	// AddTo is to make files and folders in a folder.
	AddTo = WriteData | AppendData | genericWrite | takeOver
	// MoveAway is to delete or rename a folder or a link itself.
	MoveAway = Delete | takeOver

	takeOver = WriteList | WriteOwner | genericAll | maximumAllowed
)

// named are the rights that have a code of two letters. Those of the registry and of
// directory services are not rights to files, but some codes stand for their numbers.
var named = map[string]Rights{
	"GA": genericAll, "GW": genericWrite, "GX": 0x20000000, "GR": 0x80000000,
	"RC": 0x20000, "SD": Delete, "WD": WriteList, "WO": WriteOwner,
	"FA": 0x1f01ff, "FR": 0x120089, "FW": 0x120116, "FX": 0x1200a0,
	"CC": 0x1, "DC": WriteData, "LC": AppendData, "SW": 0x8, "RP": writeExtended, "WP": 0x20, "DT": DeleteChild, "LO": 0x80, "CR": WriteAttributes,
}

// rightsIn reads the rights of an entry: a number, or codes without anything between.
func rightsIn(text string) Rights {
	if n, err := strconv.ParseUint(text, 0, 32); err == nil {
		return Rights(n)
	}
	var all Rights
	for len(text) > 0 {
		if len(text) < 2 {
			return All
		}
		rights, known := named[text[:2]]
		if !known {
			return All
		}
		all |= rights
		text = text[2:]
	}
	return all
}
