package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// where is place for who does not hold the lock.
func (n *node) where() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.place()
}

func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	fd, err := unix.Open(n.where(), int(flags)&^(unix.O_APPEND|unix.O_CREAT|unix.O_EXCL)|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return fs.NewLoopbackFile(fd), 0, 0
}

func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) {
	target, err := os.Readlink(n.where())
	return []byte(target), fs.ToErrno(err)
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	entries, err := os.ReadDir(n.place())
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	list := make([]fuse.DirEntry, 0, len(entries))
	for _, e := range entries {
		var st unix.Stat_t
		if unix.Lstat(path.Join(n.place(), e.Name()), &st) == nil {
			list = append(list, fuse.DirEntry{Name: e.Name(), Mode: st.Mode, Ino: st.Ino})
		}
	}
	return fs.NewListDirStream(list), 0
}

func (n *node) Getattr(ctx context.Context, file fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if opened, ok := file.(fs.FileGetattrer); ok {
		return opened.Getattr(ctx, out) // it may be removed by now
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(n.where(), &st); err != nil {
		return fs.ToErrno(err)
	}
	out.Attr.FromStat(&st)
	return 0
}

func (n *node) Setattr(ctx context.Context, file fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if opened, ok := file.(fs.FileSetattrer); ok {
		return opened.Setattr(ctx, in, out)
	}
	fd, err := unix.Open(n.where(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fs.ToErrno(err)
	}
	handle := os.NewFile(uintptr(fd), "")
	defer handle.Close()
	if err := setAll(handle, in); err != nil {
		return fs.ToErrno(err)
	}
	return n.Getattr(ctx, nil, out)
}

func setAll(file *os.File, in *fuse.SetAttrIn) error {
	self := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	if mode, ok := in.GetMode(); ok {
		if err := unix.Chmod(self, mode); err != nil {
			return err
		}
	}
	if uid, ok := in.GetUID(); ok {
		if err := unix.Chown(self, int(uid), -1); err != nil {
			return err
		}
	}
	if gid, ok := in.GetGID(); ok {
		if err := unix.Chown(self, -1, int(gid)); err != nil {
			return err
		}
	}
	if size, ok := in.GetSize(); ok {
		if err := unix.Truncate(self, int64(size)); err != nil {
			return err
		}
	}
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}}
	accessed, hasA := in.GetATime()
	modified, hasM := in.GetMTime()
	if hasA {
		times[0] = unix.NsecToTimespec(accessed.UnixNano())
	}
	if hasM {
		times[1] = unix.NsecToTimespec(modified.UnixNano())
	}
	if !hasA && !hasM {
		return nil
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, self, times, 0)
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	var st syscall.Statfs_t
	if err := syscall.Statfs(n.where(), &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStatfsT(&st)
	return 0
}

// Fsync takes everything for synced: what is shown belongs to a test.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }
