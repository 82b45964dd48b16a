package ownerfiles

import (
	"sync"

	"golang.org/x/sys/windows"
)

// isPackaged reports whether this process belongs to a package: it was started by a packaged program.
var isPackaged = sync.OnceValue(func() bool {
	getPackageName := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetCurrentPackageFullName")
	if getPackageName.Find() != nil {
		return false // before Windows 8
	}
	// The call is made with a length of 0: it then reports that the buffer is too short, or that there is no package.
	// https://learn.microsoft.com/windows/win32/api/appmodel/nf-appmodel-getcurrentpackagefullname
	const zeroed = 0x40 // LPTR
	const size = 4
	const tooShort = 122
	length, err := windows.LocalAlloc(zeroed, size)
	if err != nil {
		return false
	}
	defer windows.LocalFree(windows.Handle(length))
	code, _, _ := getPackageName.Call(length, 0)
	return code == tooShort
})
