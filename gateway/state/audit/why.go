package audit

// The reasons of a break. None of it comes from outside.
const (
	headMissing    = "the head is missing"
	headUnreadable = "the head cannot be read"
	keyReplaced    = "the key is not the one that the digests were made with"
	logRestored    = "an older copy of the log was put back while it was in use"
	fileMissing    = "the file is missing"
	fileShorter    = "the file is shorter than the head says"
	fileShorterNew = "the file is shorter than the head says, by lines that were not durable; losing power can do that"
	lastChanged    = "the last line is not the one that the head names"
	rotatedChanged = "the rotated file is not the one that the head names"
	unknownRotated = "there are files that the head does not know"
	unchainedLines = "the last lines do not follow the chain"
	droppedBroken  = "the file that was removed for its age was damaged"
	breakNotKept   = "a break was recorded in a line that is no longer kept"
)
