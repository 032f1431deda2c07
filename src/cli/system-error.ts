// Explains to the user of a command why a system call failed, and what to do.

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no room on the disk. Free some space, or write elsewhere, then run the command again.',
  EDQUOT:
    'the quota of this user on the disk is used up. Free some space, or write elsewhere, then run the command again.',
  EROFS: 'the file system is read-only. Write elsewhere, or mount it for writing.',
  EIO: 'the disk answers with an error. Check the disk and the log of the system, then run the command again.',
};

/**
 * Returns a sentence about the failed call; undefined for other errors, whose own messages say
 * more.
 */
export function systemProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string' || typeof syscall !== 'string') return undefined;
  const advice = ADVICE[code];
  if (advice === undefined) return undefined;
  return `${path === undefined ? 'The output' : path} could not be written or read (${syscall}, ${code}): ${advice}`;
}
