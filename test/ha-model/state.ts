// Layout of a state of the high-availability model, and its normal form under renaming.
//
// PostgreSQL is one sequence of entries (its write-ahead log, "WAL" here): rows of the log and
// changes of the lease. The standby has its first SYNCED entries. At most one entry, the last, has
// not been confirmed: its transaction waits for the standby and holds its locks, so no other
// transaction sees it, and none that needs the lease can run.

export const PROCESSES = 2;
/** Capacity for rows: a plant appends a request twice, the liveness check one more. */
export const MAX_ROWS = 5;
/** Capacity for rows and changes of the lease. */
const MAX_WAL = 12;
/** Transactions whose connection was cut but which PostgreSQL has yet to run. */
export const MAX_ORPHANS = 2;

export const WAL_LENGTH = 0;
export const WAL = WAL_LENGTH + 1;
export const SYNCED = WAL + MAX_WAL;
export const PROMOTED = SYNCED + 1;
/** Whether the lease has expired on the clock of PostgreSQL. */
export const EXPIRED = PROMOTED + 1;
/** Whose transaction waits for the standby: 0 nobody's, 1 + process, or `NOBODY_ELSE`. */
export const WAITING = EXPIRED + 1;
export const WAITING_ORPHAN = 1 + PROCESSES;
/** Orphans, sorted: kind * 16 + epoch, request or process, LSN. */
export const ORPHANS = WAITING + 1;
export const ORPHAN_BYTES = 3;
/** Processes, from PROCESS + p * PROCESS_BYTES on. */
const PROCESS = ORPHANS + MAX_ORPHANS * ORPHAN_BYTES;
/** Offsets within a process. */
export const ROLE = 0;
/** Epoch in which it leads; while it takes the lease, the epoch that it found. */
export const EPOCH = 1;
export const SESSION = 2;
/** What it has asked PostgreSQL for: a kind of transaction. */
export const ASKED = 3;
export const PHASE = 4;
/** The request whose append was asked for. */
export const KEY = 5;
/** The state that it shows: number of rows, and the request of each. */
export const SHOWN_ROWS = 6;
export const SHOWN = 7;
const PROCESS_BYTES = SHOWN + MAX_ROWS;
/** What clients know: the most rows shown, and for each LSN the request answered with it. */
export const MOST_SHOWN = PROCESS + PROCESSES * PROCESS_BYTES;
export const ANSWERED = MOST_SHOWN + 1;
/** The epoch in which a leader was told that its append of this LSN is durable, and answered. */
export const ANSWERED_IN = ANSWERED + MAX_ROWS;
/** A violation that a step committed (see invariants.ts), which no later state shows. */
export const BROKEN = ANSWERED_IN + MAX_ROWS;
export const STATE_BYTES = Math.ceil((BROKEN + 1) / 4) * 4;

/** Entries of the WAL: a row is its request + 8 * epoch, a lease LEASE + process. */
export const LEASE = 128;

export const Role = { down: 0, follower: 1, taking: 2, leader: 3 } as const;
/**
 * A session is `confirmed` once a commit of its own has reached the standby: from then on, all that
 * it can read is on the standby too.
 */
export const Session = { none: 0, connected: 1, confirmed: 2 } as const;
export const Asked = { nothing: 0, append: 1, lease: 2 } as const;
export const Phase = { idle: 0, sent: 1, waiting: 2, confirmed: 3, refused: 4, unknown: 5, checked: 6 } as const;

export type State = Uint8Array;

export function processAt(process: number): number {
  return PROCESS + process * PROCESS_BYTES;
}

/** Returns the number of rows in PostgreSQL, including one that waits for the standby. */
export function rowsIn(state: State): number {
  let rows = 0;
  for (let at = WAL; at < WAL + state[WAL_LENGTH]!; at++) if (state[at]! < LEASE) rows++;
  return rows;
}

/** Returns the newest epoch of the lease in PostgreSQL. */
export function epochIn(state: State): number {
  return state[WAL_LENGTH]! - rowsIn(state);
}

/** Returns the entry of the row with this LSN, or 0. */
export function rowAt(state: State, lsn: number): number {
  let rows = 0;
  for (let at = WAL; at < WAL + state[WAL_LENGTH]!; at++) if (state[at]! < LEASE && ++rows === lsn) return state[at]!;
  return 0;
}

/** Returns the number of rows that other transactions see. */
export function visibleRows(state: State): number {
  const hidden = state[WAITING] !== 0 && state[WAL + state[WAL_LENGTH]! - 1]! < LEASE;
  return rowsIn(state) - (hidden ? 1 : 0);
}

/** Returns the process that has the lease, or -1. */
export function holderIn(state: State): number {
  for (let at = WAL + state[WAL_LENGTH]! - 1; at >= WAL; at--) if (state[at]! >= LEASE) return state[at]! - LEASE;
  return -1;
}

export function keyOf(row: number): number {
  return row & 7;
}

export function epochOf(row: number): number {
  return row >> 3;
}

const scratch = [new Uint8Array(STATE_BYTES), new Uint8Array(STATE_BYTES)] as const;
const names = new Uint8Array(8);
let named = 0;

/**
 * Returns the least of the states that differ only in the names of processes, with the requests
 * renamed in the order of their appearance. Sound because all steps treat all processes alike and
 * all requests alike.
 */
export function normalForm(state: State): State {
  const [plain, swapped] = scratch;
  rename(state, plain, false);
  rename(state, swapped, true);
  for (let at = 0; at < STATE_BYTES; at++)
    if (plain[at] !== swapped[at]) return plain[at]! < swapped[at]! ? plain : swapped;
  return plain;
}

/**
 * Writes the state into `into`, with the processes swapped if `swap` is set, and the requests
 * renamed in the order of their appearance.
 */
export function rename(state: State, into: Uint8Array, swap: boolean): void {
  into.set(state);
  names.fill(0);
  named = 0;
  const flip = swap ? 1 : 0;
  for (let at = WAL; at < WAL + state[WAL_LENGTH]!; at++)
    into[at] =
      state[at]! >= LEASE ? LEASE + ((state[at]! - LEASE) ^ flip) : newName(keyOf(state[at]!)) | (state[at]! & ~7);
  const waiting = state[WAITING]!;
  if (waiting > 0 && waiting < WAITING_ORPHAN) into[WAITING] = ((waiting - 1) ^ flip) + 1;
  for (let process = 0; process < PROCESSES; process++) {
    const from = processAt(process ^ flip);
    const to = processAt(process);
    if (swap) for (let offset = 0; offset < SHOWN; offset++) into[to + offset] = state[from + offset]!;
    for (let offset = SHOWN; offset < PROCESS_BYTES; offset++) into[to + offset] = newName(state[from + offset]!);
    into[to + KEY] = newName(state[from + KEY]!);
  }
  for (let at = ANSWERED; at < ANSWERED + MAX_ROWS; at++) into[at] = newName(state[at]!);
  for (let at = ORPHANS; at < ORPHANS + MAX_ORPHANS * ORPHAN_BYTES; at += ORPHAN_BYTES)
    into[at + 1] = state[at]! >> 4 === Asked.lease ? state[at + 1]! ^ flip : newName(state[at + 1]!);
  sortOrphans(into);
}

function newName(key: number): number {
  if (key === 0) return 0;
  if (names[key] === 0) names[key] = ++named;
  return names[key]!;
}

/** Orders the orphans, of which there are at most two. */
export function sortOrphans(state: State): void {
  const first = ORPHANS;
  const second = ORPHANS + ORPHAN_BYTES;
  for (let offset = 0; offset < ORPHAN_BYTES; offset++) {
    const difference = state[second + offset]! - state[first + offset]!;
    if (difference < 0) return;
    if (difference === 0) continue;
    for (let each = 0; each < ORPHAN_BYTES; each++) {
      const byte = state[first + each]!;
      state[first + each] = state[second + each]!;
      state[second + each] = byte;
    }
    return;
  }
}
