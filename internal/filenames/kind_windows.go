package filenames

import (
	"encoding/binary"
	"math/bits"
	"os"

	"golang.org/x/sys/windows"
)

// reparseTag returns the reparse tag of the entry name in dir. It opens the reparse point itself, so no link is
// followed and no cloud file is downloaded.
func reparseTag(dir *os.Root, name string) (uint32, error) {
	dirFile, err := dir.Open(".")
	if err != nil {
		return 0, err
	}
	defer dirFile.Close()
	objectName, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	const objectAttributesSize = 6 * bits.UintSize / 8 // six fields, each as wide as a pointer with its padding
	attributes := windows.OBJECT_ATTRIBUTES{
		Length:        objectAttributesSize,
		RootDirectory: windows.Handle(dirFile.Fd()),
		ObjectName:    objectName,
		Attributes:    windows.OBJ_CASE_INSENSITIVE,
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const options = windows.FILE_OPEN_REPARSE_POINT | windows.FILE_OPEN_FOR_BACKUP_INTENT |
		windows.FILE_SYNCHRONOUS_IO_NONALERT
	var entry windows.Handle
	err = windows.NtCreateFile(
		&entry,
		windows.SYNCHRONIZE|windows.FILE_READ_ATTRIBUTES,
		&attributes,
		&windows.IO_STATUS_BLOCK{},
		nil,
		0,
		share,
		windows.FILE_OPEN,
		options,
		0,
		0,
	)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(entry)
	var info [8]byte // FILE_ATTRIBUTE_TAG_INFO: the attributes, and the tag
	err = windows.GetFileInformationByHandleEx(entry, windows.FileAttributeTagInfo, &info[0], uint32(len(info)))
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(info[4:]), nil
}
