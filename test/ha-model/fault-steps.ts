// The faults of the high-availability model: connections that are cut, processes that die, a
// primary that restarts, a standby that is promoted. None of them is limited in number, except the
// promotion, since there is one standby.

import { stepDown } from './process-steps.ts';
import type { Emit } from './search.ts';
import {
  ASKED,
  Asked,
  EPOCH,
  KEY,
  MAX_ORPHANS,
  ORPHAN_BYTES,
  ORPHANS,
  PHASE,
  Phase,
  PROCESSES,
  PROMOTED,
  processAt,
  ROLE,
  Role,
  SESSION,
  Session,
  SHOWN_ROWS,
  type State,
  SYNCED,
  sortOrphans,
  WAITING,
  WAITING_ORPHAN,
  WAL,
  WAL_LENGTH,
} from './state.ts';

export function faultSteps(state: State, emit: Emit): void {
  for (let process = 0; process < PROCESSES; process++) {
    const at = processAt(process);
    if (state[at + ROLE] === Role.down) continue;
    if (state[at + SESSION] !== Session.none)
      endings(state, process, (next, what) => emit(next, `the connection of {p} is cut${what}`, process));
    endings(state, process, (next, what) => {
      stepDown(next, process);
      next[at + ROLE] = Role.down;
      emit(next, `{p} is killed${what}`, process);
    });
  }
  emit(restarted(state), 'the primary crashes and restarts');
  if (state[PROMOTED] === 0) emit(promoted(state), 'the primary dies and the standby is promoted');
}

/** The ways in which a session can end: what was sent on it may be lost, or run later. */
function endings(state: State, process: number, emit: (next: State, what: string) => void): void {
  const next = state.slice();
  const at = processAt(process);
  if (state[WAITING] === 1 + process) next[WAITING] = WAITING_ORPHAN;
  endSession(next, process);
  const sent = state[at + ASKED] !== Asked.nothing && state[at + PHASE] === Phase.sent;
  emit(next, sent ? '; what it sent is lost' : '');
  const free = ORPHANS + (MAX_ORPHANS - 1) * ORPHAN_BYTES;
  if (!sent || (state[ORPHANS] !== 0 && state[free] !== 0)) return;
  const later = next.slice();
  // Orphans are sorted, so the first place is free if any is.
  later[ORPHANS] = (state[at + ASKED]! << 4) | state[at + EPOCH]!;
  later[ORPHANS + 1] = state[at + ASKED] === Asked.append ? state[at + KEY]! : process;
  later[ORPHANS + 2] = state[at + ASKED] === Asked.append ? state[at + SHOWN_ROWS]! + 1 : 0;
  sortOrphans(later);
  emit(later, '; what it sent arrives later');
}

/** The process does not know what became of what it asked for. */
function endSession(next: State, process: number): void {
  const at = processAt(process);
  next[at + SESSION] = Session.none;
  if (next[at + ASKED] === Asked.append) next[at + PHASE] = Phase.unknown;
  if (next[at + ASKED] === Asked.lease) stepDown(next, process);
}

/**
 * After a restart, the primary shows the commit that waited for the standby, whether or not the
 * standby has it.
 */
function restarted(state: State): State {
  const next = state.slice();
  for (let process = 0; process < PROCESSES; process++) endSession(next, process);
  next.fill(0, ORPHANS, ORPHANS + MAX_ORPHANS * ORPHAN_BYTES);
  next[WAITING] = 0;
  return next;
}

/**
 * The standby becomes the only server. Sessions on the old primary, should it live on, are ended
 * here: no commit there is confirmed any more, and its confirmed rows are on the standby too, so
 * whoever still reads there sees no more than a process that is late.
 */
function promoted(state: State): State {
  const next = restarted(state);
  next[PROMOTED] = 1;
  next.fill(0, WAL + state[SYNCED]!, WAL + state[WAL_LENGTH]!);
  next[WAL_LENGTH] = state[SYNCED]!;
  return next;
}
