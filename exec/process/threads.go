package process

import "errors"

// resumeFirst resumes a process that was started with its first thread suspended. threads are the ids of its
// threads. Other programs, such as virus scanners, may have started threads in the process meanwhile. These may have
// ended, and may not be accessible. The first thread is the one that was suspended exactly once. resume resumes a
// thread and returns how often it had been suspended. This function is not in a Windows file, so that it is tested
// on every system.
func resumeFirst(threads []uint32, resume func(id uint32) (suspended uint32, err error)) error {
	var failures error
	for _, id := range threads {
		suspended, err := resume(id)
		if err == nil && suspended == 1 {
			return nil
		}
		failures = errors.Join(failures, err)
	}
	return errors.Join(errors.New("the first thread of the process was not found"), failures)
}
