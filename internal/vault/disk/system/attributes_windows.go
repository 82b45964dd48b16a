package system

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// CopyAttributes gives a new file what hangs on the one that it replaces, as far as the file system and the rights of
// the user allow it: its streams, its own access list, its time of creation, and whether it is hidden, left out by the
// search of Windows, and kept on this device by a cloud program.
func CopyAttributes(from, to *os.File) {
	old, made := windows.Handle(from.Fd()), windows.Handle(to.Fd())
	for _, name := range streamsOf(old) {
		_ = copyStream(old, made, name)
	}
	_ = copyAccessList(old, made)
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(old, &info) == nil {
		_ = windows.SetFileTime(made, &info.CreationTime, nil, nil)
		_ = addAttributes(made, info.FileAttributes&keptAttributes)
	}
}

// keptAttributes are the attributes of a file that its user has set:
// https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants
const keptAttributes = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM |
	windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED | attributePinned

// attributePinned is FILE_ATTRIBUTE_PINNED, which x/sys does not name.
const attributePinned = 0x80000

// addAttributes gives an open file further attributes.
func addAttributes(file windows.Handle, more uint32) error {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(file, &info); err != nil || more == 0 {
		return err
	}
	const times = 32 // the size of the four times of a FILE_BASIC_INFO, of which 0 leaves each as it is
	basic := make([]byte, times, times+8)
	basic = binary.LittleEndian.AppendUint32(basic, info.FileAttributes|more)
	basic = basic[:cap(basic)]
	return windows.SetFileInformationByHandle(file, windows.FileBasicInfo, &basic[0], uint32(len(basic)))
}

// maxStreamList bounds what the names of the streams of a file take, in bytes.
const maxStreamList = 1 << 20

// streamsOf returns the names of the streams of a file but for its content, such as ":Zone.Identifier:$DATA".
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

// reopen opens a stream of an open file, or with an empty name the file itself, with other rights.
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

// copyAccessList gives a file the access list of another one in the same folder. A list that is inherited as a whole is
// what the folder gives the new file, too.
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
	what := windows.DACL_SECURITY_INFORMATION | inheritance
	return windows.SetSecurityInfo(writable, windows.SE_FILE_OBJECT, what, nil, nil, list, nil)
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
