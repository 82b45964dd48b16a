package system

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// CopyAttributes copies to a new file what belongs to the file that it replaces: its streams, its own access
// list, its creation time, and whether it is hidden, excluded from the search index of Windows, and kept on
// this device by a cloud program. It does as much as the file system and the rights of the user allow.
func CopyAttributes(from, to *os.File) {
	old := windows.Handle(from.Fd())
	replacement := windows.Handle(to.Fd())
	for _, name := range streamsOf(old) {
		_ = copyStream(old, replacement, name)
	}
	_ = copyAccessList(old, replacement)
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(old, &info) == nil {
		_ = windows.SetFileTime(replacement, &info.CreationTime, nil, nil)
		_ = addAttributes(replacement, info.FileAttributes&keptAttributes)
	}
}

// keptAttributes are the file attributes that users set:
// https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants
const keptAttributes = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM |
	windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED | attributePinned

// attributePinned is FILE_ATTRIBUTE_PINNED, which x/sys does not name.
const attributePinned = 0x80000

// addAttributes sets additional attributes of an open file.
func addAttributes(file windows.Handle, more uint32) error {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(file, &info); err != nil || more == 0 {
		return err
	}
	const times = 32 // size of the four times in a FILE_BASIC_INFO; 0 leaves a time unchanged
	basic := make([]byte, times, times+8)
	basic = binary.LittleEndian.AppendUint32(basic, info.FileAttributes|more)
	basic = basic[:cap(basic)]
	return windows.SetFileInformationByHandle(file, windows.FileBasicInfo, &basic[0], uint32(len(basic)))
}

// maxStreamList limits the bytes of the list of a file's streams.
const maxStreamList = 1 << 20

// streamsOf returns the names of a file's streams except its content, such as ":Zone.Identifier:$DATA".
func streamsOf(file windows.Handle) []string {
	for size := 1 << 10; size <= maxStreamList; size *= 8 {
		list := make([]byte, size)
		err := windows.GetFileInformationByHandleEx(file, windows.FileStreamInfo, &list[0], uint32(len(list)))
		switch {
		case err == nil:
			return streamNames(list)
		case !errors.Is(err, windows.ERROR_MORE_DATA):
			return nil // the file system has no streams
		}
	}
	return nil
}

// copyStream copies one stream of a file to another file.
func copyStream(from, to windows.Handle, name string) error {
	source, err := openStream(from, name, windows.GENERIC_READ, windows.FILE_OPEN)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := openStream(to, name, windows.GENERIC_WRITE, windows.FILE_OVERWRITE_IF)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

func openStream(file windows.Handle, name string, access, disposition uint32) (*os.File, error) {
	stream, err := reopen(file, name, access|windows.SYNCHRONIZE, disposition)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(stream), name), nil
}

// reopen opens a stream of an open file or, if name is empty, the file itself, with other access rights.
func reopen(file windows.Handle, name string, access, disposition uint32) (handle windows.Handle, err error) {
	text, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	object := windows.OBJECT_ATTRIBUTES{Length: 6 * pointerSize, RootDirectory: file, ObjectName: text}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	err = windows.NtCreateFile(
		&handle,
		access,
		&object,
		&windows.IO_STATUS_BLOCK{},
		nil,
		0,
		share,
		disposition,
		windows.FILE_SYNCHRONOUS_IO_NONALERT,
		0,
		0,
	)
	return handle, err
}

// copyAccessList copies the access list of a file to another file in the same folder. It skips a list that is
// entirely inherited, because the new file gets the same one from the folder.
func copyAccessList(from, to windows.Handle) error {
	descriptor, err := windows.GetSecurityInfo(from, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	control, _, err := descriptor.Control()
	if err != nil {
		return err
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return err
	}
	var inheritance windows.SECURITY_INFORMATION = windows.UNPROTECTED_DACL_SECURITY_INFORMATION
	if control&windows.SE_DACL_PROTECTED != 0 {
		inheritance = windows.PROTECTED_DACL_SECURITY_INFORMATION
	} else if !hasEntriesOfItsOwn(list) {
		return nil
	}
	writable, err := reopen(to, "", windows.READ_CONTROL|windows.WRITE_DAC|windows.SYNCHRONIZE, windows.FILE_OPEN)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(writable)
	parts := windows.DACL_SECURITY_INFORMATION | inheritance
	return windows.SetSecurityInfo(writable, windows.SE_FILE_OBJECT, parts, nil, nil, list, nil)
}

// hasEntriesOfItsOwn reports whether an access list has an entry that is not inherited from the folder.
func hasEntriesOfItsOwn(list *windows.ACL) bool {
	for i := uint32(0); ; i++ {
		var entry *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &entry) != nil {
			return false
		}
		if entry.Header.AceFlags&windows.INHERITED_ACE == 0 {
			return true
		}
	}
}
