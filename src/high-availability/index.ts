// Public interface of the folder: one process of a database whose log is in PostgreSQL, and what an
// operator does with its tables.

export { type ClusterStatus, initCluster, readStatus } from './administration.ts';
export type { Election } from './election.ts';
export { Replica } from './replica.ts';
