// Public interface of the folder: what a service needs to follow another one.

export { Follower, type Lag } from './follower.ts';
export { encodeFrames, encodeHeartbeat, type Heartbeat } from './frame-stream.ts';
export { LeaderLink, LeaderRefusal, type LeaderSource, logTarget, refusalOf, SNAPSHOT_TARGET } from './leader-link.ts';
export { startDirectory } from './start-directory.ts';
