// Checks that the high-availability model always recovers: from each state, once faults have
// stopped, a new request can be acknowledged. A process that is down stays down while the other is
// up.

import { type HaModel, haModel, MAX_EPOCHS } from './model.ts';
import type { Plants } from './plants.ts';
import type { VisitedStates } from './search.ts';
import { ANSWERED, ASKED, Asked, EXPIRED, MAX_ROWS, PROCESSES, processAt, ROLE, Role, type State } from './state.ts';

/** More steps than any recovery needs. */
const MOST_STEPS = 200;

export interface Recovery {
  /** States from which a new request was acknowledged. */
  recovered: number;
  /** Steps of the longest recovery that was followed to its end. */
  longest: number;
  /** A state from which it was not, and what happens there. */
  stuck?: { index: number; steps: string[] };
}

/**
 * Follows a schedule without faults from each state. The states are taken in the reverse of the
 * order in which the search found them, because a step mostly leads to a state found later: a
 * schedule that reaches a state that is known to recover need not be followed further.
 */
export function checkRecovery(visited: VisitedStates, searched: HaModel, plants: Plants = {}): Recovery {
  const request = Math.max(...searched.bounds.requests) + 1;
  const model = haModel({ requests: [request], epochs: MAX_EPOCHS }, plants);
  const result: Recovery = { recovered: 0, longest: 0 };
  for (let index = visited.count - 1; index >= 0; index--) {
    const steps: string[] = [];
    let state: State | undefined = visited.at(index).slice();
    while (state !== undefined && steps.length < MOST_STEPS && !isAnswered(state, request)) {
      const step = nextStep(model, state);
      state = step?.next;
      steps.push(step?.text ?? 'nothing can happen');
      if (state !== undefined && visited.find(model.normalForm(state)) > index) break;
    }
    if (state === undefined || steps.length === MOST_STEPS) return { ...result, stuck: { index, steps } };
    result.recovered++;
    result.longest = Math.max(result.longest, steps.length);
  }
  return result;
}

interface Step {
  text: string;
  next: State;
}

/**
 * Chooses the first possible step. A process asks for the lease only when nothing else is possible,
 * and the lease expires only then too: that is how the timeouts are meant to be set.
 */
function nextStep(model: HaModel, state: State): Step | undefined {
  let [first, ask, expiry]: (Step | undefined)[] = [];
  const oneIsUp = rolesOf(state).some((role) => role !== Role.down);
  model.goodSteps(state, (next, text) => {
    const step = { text, next };
    if (next[EXPIRED]! > state[EXPIRED]!) expiry ??= step;
    else if (asksForLease(next) > asksForLease(state)) ask ??= step;
    else if (oneIsUp && rolesOf(next).filter(isUp).length > rolesOf(state).filter(isUp).length) return;
    else first ??= step;
  });
  return first ?? ask ?? expiry;
}

function rolesOf(state: State): number[] {
  return Array.from({ length: PROCESSES }, (_, process) => state[processAt(process) + ROLE]!);
}

function isUp(role: number): boolean {
  return role !== Role.down;
}

function asksForLease(state: State): number {
  let asking = 0;
  for (let process = 0; process < PROCESSES; process++) if (state[processAt(process) + ASKED] === Asked.lease) asking++;
  return asking;
}

function isAnswered(state: State, request: number): boolean {
  return state.subarray(ANSWERED, ANSWERED + MAX_ROWS).includes(request);
}
