// Public interface of the folder: several processes that serve one port.

export { Crew, shareOf } from './crew.ts';
export type { Question, Usage } from './messages.ts';
export { WORKERS_DIR } from './worker-directories.ts';
export { WorkerPeer } from './worker-peer.ts';
