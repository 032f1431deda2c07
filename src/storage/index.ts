// Public interface of the storage folder: access to the file system, the log, the manifest and the
// other files of a data directory.

export { archivedLog } from './archived-log.ts';
export { directoryOf, FileInDoubt, writeFileAtomically } from './atomic-file.ts';
export type { Crc32c } from './crc32c.ts';
export { FRAME_HEADER_BYTES, frameBytes, type Region, readFrame, regionOf } from './frame.ts';
export { type FileHandle, type Fs, type FsLock, isLockName } from './fs.ts';
export { type HeldRecord, heldFileName, readHeldFile, writeHeldFile } from './held-file.ts';
export { type InspectedFrame, inspectLogFile, readLogFileHeader } from './inspect-log.ts';
export {
  DEFAULT_LOG_FILE_BYTES,
  openLog,
} from './log.ts';
export { listLogFiles } from './log-file.ts';
export { badSlots, markPath, readMark } from './log-mark.ts';
export { examineLog } from './log-recovery.ts';
export type {
  LogBatches,
  LogFollower,
  LogFrame,
  LogGroupFigures,
  LogHistory,
  LogLease,
  LogOpening,
  LogStore,
  OpenLog,
} from './log-store.ts';
export { installManifestText, manifestPath, readManifest, readManifestFile } from './manifest.ts';
export { FILE_MODE, nodeFs, widerThanOwner } from './node-fs.ts';
export { joined, type PathRules, pathBelow } from './path-parts.ts';
export {
  appendRecords,
  examineRecords,
  REPLAY_HEADER_BYTES,
  type ReplayFile,
  type ReplayRecord,
  readRecords,
  recordBytes,
  replayFileName,
  replayFileNumber,
  replayFileVersion,
} from './replay-file.ts';
export { readFully, readWhole, writeWhole } from './whole-file.ts';
