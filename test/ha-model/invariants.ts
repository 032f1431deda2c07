// The invariants of the high-availability model, and how often the premise of each was met.

import {
  ANSWERED,
  ANSWERED_IN,
  ASKED,
  Asked,
  BROKEN,
  EPOCH,
  epochIn,
  KEY,
  keyOf,
  MAX_ROWS,
  MOST_SHOWN,
  PROCESSES,
  PROMOTED,
  processAt,
  ROLE,
  Role,
  rowAt,
  rowsIn,
  SHOWN,
  SHOWN_ROWS,
  type State,
} from './state.ts';

/**
 * Each invariant. Its premise is that there is such a write, row, LSN, process or promotion; for
 * `oneLeader`, that both processes believe to lead after an LSN was acknowledged; for `sameAnswer`,
 * that a leader would answer a repeated request.
 */
export const INVARIANTS = {
  kept: 'an acknowledged write is in the log',
  keptAfterPromotion: 'an acknowledged write is in the log of the promoted standby',
  once: 'a request is in the log at most once',
  oneLeader: 'an LSN is acknowledged by the leader of one epoch only',
  prefix: 'what a process shows is a prefix of the log',
  shownForever: 'what was shown once is in the log for ever',
  neverBack: 'a process that has reached the LSN of an acknowledged write shows that write',
  sameAnswer: 'a request is always answered with the same LSN',
  complete: 'the leader of the newest epoch shows every acknowledged write',
} as const;
export type Invariant = keyof typeof INVARIANTS;
export const INVARIANT_NAMES = Object.keys(INVARIANTS) as Invariant[];

/** Number of times that the premise of each invariant was met. */
export type Met = Record<Invariant, number>;

/** Violations that a step commits. The value is kept in the state. */
export const Broken = { oneLeader: 1, sameAnswer: 2 } as const;

export function noneMet(): Met {
  return Object.fromEntries(INVARIANT_NAMES.map((name) => [name, 0])) as Met;
}

/** Checks a state. Returns the first violated invariant of `checked`. Adds to `met`. */
export function violated(state: State, met: Met, checked: ReadonlySet<Invariant>): Invariant | undefined {
  const broken = new Set<Invariant>();
  checkAnswers(state, met, broken);
  checkRows(state, met, broken);
  for (let process = 0; process < PROCESSES; process++) checkProcess(state, process, met, broken);
  for (const name of broken) if (checked.has(name)) return name;
  return undefined;
}

function checkAnswers(state: State, met: Met, broken: Set<Invariant>): void {
  if (state[BROKEN] === Broken.oneLeader) broken.add('oneLeader');
  if (state[BROKEN] === Broken.sameAnswer) broken.add('sameAnswer');
  const kept = state[PROMOTED] === 1 ? 'keptAfterPromotion' : 'kept';
  const twoLead = rolesAre(state, Role.leader);
  for (let lsn = 1; lsn <= MAX_ROWS; lsn++) {
    if (twoLead && state[ANSWERED_IN + lsn - 1] !== 0) met.oneLeader++;
    const key = state[ANSWERED + lsn - 1]!;
    if (key === 0) continue;
    met[kept]++;
    if (keyOf(rowAt(state, lsn)) !== key) broken.add(kept);
  }
}

function checkRows(state: State, met: Met, broken: Set<Invariant>): void {
  const rows = rowsIn(state);
  let seen = 0;
  for (let lsn = 1; lsn <= rows; lsn++) {
    const bit = 1 << keyOf(rowAt(state, lsn));
    met.once++;
    if ((seen & bit) !== 0) broken.add('once');
    seen |= bit;
  }
  // The log loses rows only at a promotion, so a shorter log is noticed before it grows again.
  if (state[MOST_SHOWN]! > 0) met.shownForever++;
  if (state[MOST_SHOWN]! > rows) broken.add('shownForever');
}

function checkProcess(state: State, process: number, met: Met, broken: Set<Invariant>): void {
  const at = processAt(process);
  if (state[at + ROLE] === Role.down) return;
  const shown = state[at + SHOWN_ROWS]!;
  const leads = state[at + ROLE] === Role.leader;
  const newest = leads && state[at + EPOCH] === epochIn(state);
  // Its own append may be durable, and answered by others, before the leader learns of it.
  const asked = state[at + ASKED] === Asked.append ? state[at + KEY]! : 0;
  for (let lsn = 1; lsn <= MAX_ROWS; lsn++) {
    const key = lsn <= shown ? state[at + SHOWN + lsn - 1]! : 0;
    const answered = state[ANSWERED + lsn - 1]!;
    if (answered !== 0 && newest) {
      met.complete++;
      if (answered !== (lsn === shown + 1 ? asked : key)) broken.add('complete');
    }
    if (key === 0) continue;
    if (answered !== 0) {
      if (leads) met.sameAnswer++;
      met.neverBack++;
      if (answered !== key) broken.add('neverBack');
    }
    met.prefix++;
    if (keyOf(rowAt(state, lsn)) !== key) broken.add('prefix');
  }
}

function rolesAre(state: State, role: number): boolean {
  for (let process = 0; process < PROCESSES; process++) if (state[processAt(process) + ROLE] !== role) return false;
  return true;
}
