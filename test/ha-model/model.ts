// Puts the high-availability model together: PostgreSQL, two processes, clients, faults, and the
// invariants that every state must satisfy.

import { assert } from '../../src/assert.ts';
import { databaseSteps } from './database-steps.ts';
import { faultSteps } from './fault-steps.ts';
import { INVARIANT_NAMES, INVARIANTS, type Invariant, type Met, noneMet, violated } from './invariants.ts';
import type { Plants } from './plants.ts';
import { type Bounds, processSteps } from './process-steps.ts';
import type { Emit, System } from './search.ts';
import { MAX_ROWS, normalForm, PROCESSES, processAt, ROLE, Role, STATE_BYTES, type State } from './state.ts';

/** More often than that, the lease cannot be taken in any model: a state has no room for it. */
export const MAX_EPOCHS = 7;

export interface HaModel extends System {
  readonly bounds: Bounds;
  readonly met: Met;
  /** The steps that are not faults. */
  goodSteps(state: State, emit: Emit): void;
}

/** Makes the model. Only violations of `checked` count, by default of all invariants. */
export function haModel(bounds: Bounds, plants: Plants = {}, checked: readonly Invariant[] = INVARIANT_NAMES): HaModel {
  const which = new Set(checked);
  assert(bounds.epochs <= MAX_EPOCHS && bounds.requests.length < MAX_ROWS, 'a state has room for all rows and leases');
  const initial = new Uint8Array(STATE_BYTES);
  for (let process = 0; process < PROCESSES; process++) initial[processAt(process) + ROLE] = Role.follower;
  const met = noneMet();
  const goodSteps = (state: State, emit: Emit) => {
    databaseSteps(state, plants, emit);
    processSteps(state, bounds, plants, emit);
  };
  return {
    bounds,
    met,
    stateBytes: STATE_BYTES,
    initial,
    goodSteps,
    steps(state, emit) {
      goodSteps(state, emit);
      faultSteps(state, emit);
    },
    normalForm,
    violation(state) {
      const name = violated(state, met, which);
      return name === undefined ? undefined : `${name}: ${INVARIANTS[name]}`;
    },
  };
}
