package system

import (
	"encoding/binary"
	"unicode/utf16"
)

// mainStream is the name of the stream with the content of a file.
const mainStream = "::$DATA"

// streamNames returns the names in a list of FILE_STREAM_INFO, see
// https://learn.microsoft.com/windows/win32/api/winbase/ns-winbase-file_stream_info,
// except for the stream with the content. It is compiled on every system, so that it can be tested there.
func streamNames(list []byte) (names []string) {
	const header = 24 // bytes: offset of the next entry and length of the name, 32 bits each, and two sizes
	for len(list) >= header {
		next := binary.LittleEndian.Uint32(list)
		length := binary.LittleEndian.Uint32(list[4:])
		if uint64(length) > uint64(len(list)-header) {
			return names
		}
		if name := fromUTF16(list[header : header+int(length)]); name != "" && name != mainStream {
			names = append(names, name)
		}
		if next == 0 || uint64(next) > uint64(len(list)) {
			return names
		}
		list = list[next:]
	}
	return names
}

func fromUTF16(text []byte) string {
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(text[2*i:])
	}
	return string(utf16.Decode(units))
}
