// The steps of the processes that want to lead, and of the clients, in the high-availability model.
//
// A pause (SIGSTOP) needs no step of its own: each step of a process uses only what that process
// knows, and any number of steps of others may precede it. Nor does forwarding: a follower hands
// the request to the process that it believes to lead, so for the leader it is a request like any
// other, and a follower that dies or repeats it looks to the client like a lost answer or a
// duplicate. Both occur, since clients repeat requests at any time and to any process.

import { hasReadAll, mayTakeUnexpired } from './database-steps.ts';
import { Broken } from './invariants.ts';
import type { Plants } from './plants.ts';
import type { Emit } from './search.ts';
import {
  ANSWERED,
  ANSWERED_IN,
  ASKED,
  Asked,
  BROKEN,
  EPOCH,
  EXPIRED,
  epochIn,
  epochOf,
  KEY,
  keyOf,
  MAX_ROWS,
  MOST_SHOWN,
  PHASE,
  Phase,
  PROCESSES,
  processAt,
  ROLE,
  Role,
  rowAt,
  SESSION,
  Session,
  SHOWN,
  SHOWN_ROWS,
  type State,
  SYNCED,
  visibleRows,
  WAITING,
  WAL_LENGTH,
} from './state.ts';

export interface Bounds {
  /** Numbers of the requests, from 1 on. Each has its own Idempotency-Key. */
  readonly requests: readonly number[];
  /** How often the lease may be taken. */
  readonly epochs: number;
}

export function processSteps(state: State, bounds: Bounds, plants: Plants, emit: Emit): void {
  for (let process = 0; process < PROCESSES; process++) {
    const role = state[processAt(process) + ROLE]!;
    if (role === Role.down) restart(state, process, emit);
    else {
      connect(state, process, emit);
      readLog(state, process, plants, emit);
      if (role === Role.leader) leaderSteps(state, process, bounds, plants, emit);
      else seekLease(state, process, bounds, plants, emit);
    }
  }
}

/** A process starts from its own files, or from a snapshot that may be older. */
function restart(state: State, process: number, emit: Emit): void {
  const at = processAt(process);
  const next = state.slice();
  next[at + ROLE] = Role.follower;
  emit(next, '{p} starts with the files that it has', process);
  if (state[at + SHOWN_ROWS] === 0) return;
  const empty = next.slice();
  empty.fill(0, at + SHOWN_ROWS, at + SHOWN + MAX_ROWS);
  emit(empty, '{p} starts with an empty snapshot', process);
}

function connect(state: State, process: number, emit: Emit): void {
  const at = processAt(process);
  const next = state.slice();
  if (state[at + SESSION] === Session.none) {
    next[at + SESSION] = Session.connected;
    emit(next, '{p} connects to PostgreSQL', process);
  } else if (state[at + SESSION] === Session.connected && state[WAITING] === 0 && state[SYNCED] === state[WAL_LENGTH]) {
    next[at + SESSION] = Session.confirmed;
    emit(next, '{p} commits something and knows that the standby has it', process);
  }
}

/** A process applies the next row unless it leads, because a leader applies what it appends. */
function readLog(state: State, process: number, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  if (state[at + ROLE] === Role.leader || state[at + ASKED] !== Asked.nothing) return;
  const session = plants.readsUnconfirmed === true ? Session.connected : Session.confirmed;
  const lsn = state[at + SHOWN_ROWS]! + 1;
  if (state[at + SESSION]! < session || lsn > visibleRows(state)) return;
  const next = state.slice();
  const key = keyOf(rowAt(state, lsn));
  show(next, process, key);
  emit(next, `{p} applies LSN ${lsn}, {k}`, process, key);
}

/** A follower asks for the lease; one that has it reads the log to its end and leads. */
function seekLease(state: State, process: number, { epochs }: Bounds, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  const next = state.slice();
  if (state[at + ROLE] === Role.taking) {
    if (plants.noReadToEnd !== true && (state[at + SESSION] !== Session.confirmed || !hasReadAll(state, process)))
      return;
    next[at + ROLE] = Role.leader;
    emit(next, `{p} leads in epoch ${state[at + EPOCH]}`, process);
  } else if (state[at + ASKED] === Asked.lease) leaseAnswer(state, process, emit);
  else if (state[at + SESSION] === Session.confirmed && epochIn(state) < epochs) {
    if (state[EXPIRED] === 0 && !mayTakeUnexpired(state, process, plants)) return;
    next[at + ASKED] = Asked.lease;
    next[at + PHASE] = Phase.sent;
    next[at + EPOCH] = epochIn(state);
    emit(next, `{p} asks for the lease after epoch ${epochIn(state)}`, process);
  }
}

function leaseAnswer(state: State, process: number, emit: Emit): void {
  const at = processAt(process);
  const phase = state[at + PHASE]!;
  if (phase !== Phase.confirmed && phase !== Phase.refused) return;
  const next = state.slice();
  stepDown(next, process);
  if (phase === Phase.confirmed) {
    next[at + ROLE] = Role.taking;
    next[at + EPOCH] = state[at + EPOCH]! + 1;
  }
  emit(next, `{p} learns that ${phase === Phase.confirmed ? 'it has the lease' : 'another has the lease'}`, process);
}

function leaderSteps(state: State, process: number, bounds: Bounds, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  if (state[at + ASKED] === Asked.append) appendAnswer(state, process, plants, emit);
  else if (state[at + SESSION] !== Session.none && state[WAITING] === 0) renew(state, process, emit);
  for (const key of bounds.requests) takeRequest(state, process, key, plants, emit);
  if (plants.ownClock !== true || state[at + ASKED] !== Asked.nothing) return;
  const next = state.slice();
  stepDown(next, process);
  emit(next, 'the own clock of {p} says that its lease is over', process);
}

/** The leader renews its lease, or learns that another has it. */
function renew(state: State, process: number, emit: Emit): void {
  const at = processAt(process);
  const next = state.slice();
  if (state[at + EPOCH] !== epochIn(state)) {
    stepDown(next, process);
    emit(next, '{p} cannot renew its lease and follows', process);
  } else if (state[EXPIRED] === 1 && state[SYNCED] === state[WAL_LENGTH]) {
    next[EXPIRED] = 0;
    next[at + SESSION] = Session.confirmed;
    emit(next, '{p} renews its lease', process);
  }
}

/** A request reaches the leader, for the first time or again, directly or forwarded. */
function takeRequest(state: State, process: number, key: number, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  const rows = state[at + SHOWN_ROWS]!;
  for (let lsn = 1; lsn <= rows; lsn++) {
    if (state[at + SHOWN + lsn - 1] !== key) continue;
    const next = state.slice();
    answer(next, key, lsn);
    emit(next, `{p} answers {k}, which it knows, with LSN ${lsn}`, process, key);
    return;
  }
  if (state[at + ASKED] === Asked.nothing && rows < MAX_ROWS) {
    const next = state.slice();
    next[at + ASKED] = Asked.append;
    next[at + PHASE] = Phase.sent;
    next[at + KEY] = key;
    emit(next, `{p} receives {k} and sends its append as LSN ${rows + 1}`, process, key);
  } else if (plants.answerNotDurable === true && state[at + KEY] === key) {
    const next = state.slice();
    answer(next, key, rows + 1);
    emit(next, `{p} receives {k} again and answers LSN ${rows + 1}`, process, key);
  }
}

function appendAnswer(state: State, process: number, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  const phase = state[at + PHASE]!;
  if (phase === Phase.confirmed) acknowledge(state, process, '', emit);
  else if (phase === Phase.refused) {
    const next = state.slice();
    stepDown(next, process);
    emit(next, '{p} learns that its append was refused, and follows', process);
  } else if (phase === Phase.unknown && plants.appendAgain === true) {
    if (state[at + SESSION] !== Session.confirmed) return;
    const next = state.slice();
    next[at + PHASE] = Phase.sent;
    emit(next, '{p} sends its append again', process);
  } else if (phase === Phase.unknown) lookUp(state, process, plants, emit);
}

/**
 * Resolves an unknown outcome. A row of the same LSN, checksum and epoch is the leader's own. If it
 * is missing, it may still come: the leader steps down, so that its next epoch keeps it out.
 */
function lookUp(state: State, process: number, plants: Plants, emit: Emit): void {
  const at = processAt(process);
  const session = plants.lookupUnconfirmed === true ? Session.connected : Session.confirmed;
  if (state[at + SESSION]! < session) return;
  const lsn = state[at + SHOWN_ROWS]! + 1;
  const row = lsn <= visibleRows(state) ? rowAt(state, lsn) : 0;
  const own = plants.lookupWithoutEpoch === true || epochOf(row) === state[at + EPOCH];
  if (keyOf(row) === state[at + KEY] && own) {
    acknowledge(state, process, 'looks its append up, finds it and ', emit);
    return;
  }
  const next = state.slice();
  if (plants.goesOnWhenMissing === true) next.fill(0, at + ASKED, at + KEY + 1);
  else stepDown(next, process);
  emit(next, '{p} looks its append up and does not find it', process);
}

/** The leader applies its append and answers. The answer may be lost on its way. */
function acknowledge(state: State, process: number, how: string, emit: Emit): void {
  const at = processAt(process);
  const key = state[at + KEY]!;
  const next = state.slice();
  show(next, process, key);
  const lsn = next[at + SHOWN_ROWS]!;
  next.fill(0, at + ASKED, at + KEY + 1);
  const lost = next.slice();
  const before = next[ANSWERED_IN + lsn - 1]!;
  if (before !== 0 && before !== state[at + EPOCH]) next[BROKEN] = Broken.oneLeader;
  next[ANSWERED_IN + lsn - 1] = state[at + EPOCH]!;
  answer(next, key, lsn);
  emit(next, `{p} ${how}acknowledges {k} as LSN ${lsn}`, process, key);
  emit(lost, `{p} ${how}acknowledges {k} as LSN ${lsn}; the answer is lost`, process, key);
}

/** A client receives the answer: its request has this LSN. */
function answer(next: State, key: number, lsn: number): void {
  for (let other = 1; other <= MAX_ROWS; other++) {
    const known = next[ANSWERED + other - 1]!;
    const differs = other === lsn ? known !== 0 && known !== key : known === key;
    if (differs) next[BROKEN] ||= Broken.sameAnswer;
  }
  next[ANSWERED + lsn - 1] = key;
}

function show(next: State, process: number, key: number): void {
  const at = processAt(process);
  next[at + SHOWN + next[at + SHOWN_ROWS]!] = key;
  next[at + SHOWN_ROWS]!++;
  next[MOST_SHOWN] = Math.max(next[MOST_SHOWN]!, next[at + SHOWN_ROWS]!);
}

export function stepDown(next: State, process: number): void {
  const at = processAt(process);
  next[at + ROLE] = Role.follower;
  next[at + EPOCH] = 0;
  next.fill(0, at + ASKED, at + KEY + 1);
}
