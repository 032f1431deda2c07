// The steps of PostgreSQL in the high-availability model: it runs transactions, sends commits to
// the standby, confirms them, and its clock lets the lease expire.

import type { Plants } from './plants.ts';
import type { Emit } from './search.ts';
import {
  ASKED,
  Asked,
  EPOCH,
  EXPIRED,
  epochIn,
  holderIn,
  KEY,
  LEASE,
  MAX_ORPHANS,
  MAX_ROWS,
  ORPHAN_BYTES,
  ORPHANS,
  PHASE,
  Phase,
  PROCESSES,
  PROMOTED,
  processAt,
  ROLE,
  Role,
  rowsIn,
  SESSION,
  Session,
  SHOWN_ROWS,
  type State,
  SYNCED,
  sortOrphans,
  visibleRows,
  WAITING,
  WAITING_ORPHAN,
  WAL,
  WAL_LENGTH,
} from './state.ts';

export interface Transaction {
  kind: number;
  /** The epoch that must be the newest one of the lease. */
  epoch: number;
  /** The request to append, or the process that takes the lease. */
  subject: number;
  /** First LSN of the append. */
  lsn: number;
}

export function databaseSteps(state: State, plants: Plants, emit: Emit): void {
  // The transaction that waits holds its locks, so no other can run before it is confirmed.
  if (state[WAITING] === 0) {
    for (let process = 0; process < PROCESSES; process++) runOfProcess(state, process, plants, emit);
    for (let orphan = 0; orphan < MAX_ORPHANS; orphan++) runOrphan(state, orphan, plants, emit);
  }
  if (state[SYNCED]! < state[WAL_LENGTH]!) {
    const next = state.slice();
    next[SYNCED]!++;
    emit(next, 'the standby has one commit more');
  } else if (state[WAITING] !== 0) {
    const next = state.slice();
    confirm(next);
    emit(next, 'PostgreSQL confirms the commit that waited for the standby');
  }
  if (state[EXPIRED] === 0 && epochIn(state) > 0 && plants.leaseNeverExpires !== true) {
    const next = state.slice();
    next[EXPIRED] = 1;
    emit(next, 'the lease expires on the clock of PostgreSQL');
  }
}

function runOfProcess(state: State, process: number, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  const kind = state[at + ASKED]!;
  const phase = state[at + PHASE]!;
  if (kind === Asked.nothing || (phase !== Phase.sent && phase !== Phase.checked)) return;
  const subject = kind === Asked.append ? state[at + KEY]! : process;
  const transaction: Transaction = { kind, epoch: state[at + EPOCH]!, subject, lsn: state[at + SHOWN_ROWS]! + 1 };
  const next = state.slice();
  if (
    plants.guardWithoutLock === true &&
    kind === Asked.append &&
    phase === Phase.sent &&
    mayRun(state, transaction, plants)
  ) {
    next[at + PHASE] = Phase.checked;
    emit(next, 'PostgreSQL reads the lease for the append of {p}', process);
    return;
  }
  if (!mayRun(state, transaction, phase === Phase.checked ? { ...plants, noEpochGuard: true } : plants)) {
    next[at + PHASE] = Phase.refused;
    emit(next, `PostgreSQL refuses the ${kindName(kind)} of {p}`, process);
    return;
  }
  write(next, transaction, 1 + process, plants);
  emit(next, `the primary has the ${kindName(kind)} of {p}`, process, subject);
}

function runOrphan(state: State, orphan: number, plants: Plants, emit: Emit): void {
  const at = ORPHANS + orphan * ORPHAN_BYTES;
  if (state[at] === 0) return;
  const kind = state[at]! >> 4;
  const transaction: Transaction = { kind, epoch: state[at]! & 15, subject: state[at + 1]!, lsn: state[at + 2]! };
  const next = state.slice();
  next.fill(0, at, at + ORPHAN_BYTES);
  sortOrphans(next);
  if (!mayRun(state, transaction, plants)) {
    emit(next, `PostgreSQL refuses the ${kindName(kind)} of a connection that was cut`);
    return;
  }
  write(next, transaction, WAITING_ORPHAN, plants);
  emit(next, `the primary has the ${kindName(kind)} of a connection that was cut`);
}

/** The guard, which is part of the transaction: it locks the lease before it reads it. */
function mayRun(state: State, { kind, epoch, subject, lsn }: Transaction, plants: Plants): boolean {
  if (kind === Asked.lease)
    return epoch === epochIn(state) && (state[EXPIRED] === 1 || mayTakeUnexpired(state, subject, plants));
  const rows = rowsIn(state);
  if (rows === MAX_ROWS) return false;
  if (plants.appendAgain !== true && plants.noContiguity !== true && lsn !== rows + 1) return false;
  return plants.noEpochGuard === true || plants.ownClock === true || epoch === epochIn(state);
}

/** Whether a process may take a lease that has not expired: if it is free, or was its own. */
export function mayTakeUnexpired(state: State, process: number, plants: Plants): boolean {
  return plants.ownClock === true || plants.takesEarly === true || epochIn(state) === 0 || holderIn(state) === process;
}

/** Makes the transaction durable on the primary. */
function write(next: State, { kind, epoch, subject }: Transaction, owner: number, plants: Plants): void {
  next[WAL + next[WAL_LENGTH]!] = kind === Asked.append ? subject | (epoch << 3) : LEASE + subject;
  next[WAL_LENGTH]!++;
  if (kind === Asked.lease) next[EXPIRED] = 0;
  next[WAITING] = owner;
  if (owner !== WAITING_ORPHAN) next[processAt(owner - 1) + PHASE] = Phase.waiting;
  // The promoted standby is alone: what is durable on it is durable.
  if (next[PROMOTED] === 1) next[SYNCED] = next[WAL_LENGTH]!;
  if (next[PROMOTED] === 1 || plants.acknowledgedBeforeStandby === true) confirm(next);
}

function confirm(next: State): void {
  const owner = next[WAITING]!;
  next[WAITING] = 0;
  if (owner === WAITING_ORPHAN) return;
  const at = processAt(owner - 1);
  next[at + PHASE] = Phase.confirmed;
  // A commit of its own has reached the standby, and with it all that precedes it.
  next[at + SESSION] = Session.confirmed;
}

function kindName(kind: number): string {
  return kind === Asked.append ? 'append' : 'new lease';
}

/** Returns whether the process, which leads or takes over, has read the log to its end. */
export function hasReadAll(state: State, process: number): boolean {
  const at = processAt(process);
  return state[at + ROLE] !== Role.down && state[at + SHOWN_ROWS]! >= visibleRows(state);
}
