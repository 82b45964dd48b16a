// Baddisk shows a folder of this machine through a file system whose calls fail or are slow when it is told so. It is for
// tests.
//
//	baddisk FOLDER MOUNTPOINT
//
// It prints a line once the file system can be used, unmounts it when its standard input ends, and answers each line
// there with one:
//
//	fault ERROR OPERATIONS FROM COUNT    from the FROM-th of these operations on, COUNT of them (0 for all) fail
//	heal                                 none fails; the answer says how many did
//	count OPERATIONS                     how many of these there were since the last fault or count
//
// ERROR is EIO, ENOSPC, EROFS, or a time such as 20ms, by which they are slower instead. OPERATIONS are names with commas, or "all", or
// "changing"; "lookup:NAME" are those lookups that are for files and folders of this name.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: baddisk FOLDER MOUNTPOINT")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "baddisk:", err)
		os.Exit(1)
	}
}

func serve(folder, mountpoint string) error {
	root, err := fs.NewLoopbackRoot(folder)
	if err != nil {
		return err
	}
	unix.Umask(0)             // the kernel has applied that of the caller
	asked := time.Duration(0) // the kernel asks each time, so that each operation can fail
	d := &disk{RawFileSystem: fs.NewNodeFS(root, &fs.Options{EntryTimeout: &asked, AttrTimeout: &asked, NegativeTimeout: &asked})}
	server, err := fuse.NewServer(d, mountpoint,
		&fuse.MountOptions{FsName: "baddisk", Name: "baddisk", DirectMount: true, DisableXAttrs: true,
			DisabledCapabilities: fuse.CAP_PASSTHROUGH})
	if err != nil {
		return err
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return err
	}
	fmt.Println("mounted")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(d.obey(lines.Text()))
	}
	if err := server.Unmount(); err != nil {
		return unix.Unmount(mountpoint, unix.MNT_DETACH) // a process still uses it
	}
	server.Wait()
	return nil
}

// obey carries out a line of the standard input.
func (d *disk) obey(line string) string {
	words := strings.Fields(line)
	switch {
	case len(words) == 5 && words[0] == "fault":
		next := fault{}
		if _, err := fmt.Sscan(words[3], &next.from); err != nil {
			return err.Error()
		}
		if _, err := fmt.Sscan(words[4], &next.count); err != nil {
			return err.Error()
		}
		next.errno = errnos[words[1]]
		if next.errno == 0 {
			var err error
			if next.delay, err = time.ParseDuration(words[1]); err != nil {
				return err.Error()
			}
		}
		next.operations = named(words[2])
		d.set(next)
		return "ok"
	case len(words) == 1 && words[0] == "heal":
		return fmt.Sprint(d.set(fault{}).failed)
	case len(words) == 2 && words[0] == "count":
		return fmt.Sprint(d.set(fault{operations: named(words[1]), from: never}).seen)
	}
	return "unknown command"
}

const never = 1 << 30 // operations

var errnos = map[string]syscall.Errno{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EROFS": syscall.EROFS}

// named returns the operations of a list.
func named(list string) map[string]bool {
	switch list {
	case "all":
		list = strings.Join(append(changing, reading...), ",")
	case "changing":
		list = strings.Join(changing, ",")
	}
	names := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		names[name] = true
	}
	return names
}
