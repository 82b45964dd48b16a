package disk

import "golang.org/x/sys/unix"

// The calls of this file are made again when a signal came in between, which
// the runtime sends to its own threads, and which network file systems let
// through.

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func fstatat(dir int, name string) (stat unix.Stat_t, err error) {
	for {
		err = unix.Fstatat(dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			return stat, err
		}
	}
}

func fstat(fd int, stat *unix.Stat_t) error {
	for {
		err := unix.Fstat(fd, stat)
		if err != unix.EINTR {
			return err
		}
	}
}

func read(fd int, text []byte) (int, error) {
	for {
		n, err := unix.Read(fd, text)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func readDirent(dir int, buf []byte) (int, error) {
	for {
		n, err := unix.ReadDirent(dir, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}
