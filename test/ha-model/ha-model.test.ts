import { describe, expect, it } from 'vitest';
import { INVARIANT_NAMES, type Invariant } from './invariants.ts';
import { checkRecovery } from './liveness.ts';
import { haModel } from './model.ts';
import { HARMLESS, LATER, PLANTS, type Plants, STUCK } from './plants.ts';
import { type System, search, VisitedStates } from './search.ts';
import { normalForm, rename, STATE_BYTES } from './state.ts';

/** Small enough for the tests. `npm run ha:model` has two requests: 1.2 million states. */
const SMALL = { requests: [1], epochs: 2 };

const nameOf = (plants: Plants) => Object.keys(plants).join(' and ');

describe('model of high availability on PostgreSQL', () => {
  it('has no violation in any state, meets the premise of each invariant, and always recovers', () => {
    const model = haModel(SMALL);
    const visited = new VisitedStates(model);
    expect(search(model, {}, visited)).toMatchObject({ complete: true });
    expect(visited.count).toBeGreaterThan(100_000);
    expect(INVARIANT_NAMES.filter((name) => model.met[name] < 500)).toEqual([]);
    const { recovered, stuck } = checkRecovery(visited, model);
    expect(stuck).toBeUndefined();
    expect(recovered).toBe(visited.count);
  });

  it.each(PLANTS.map(({ plants, violates }) => ({ name: nameOf(plants), plants, violates })))(
    'finds the planted fault $name',
    ({ plants, violates }) => {
      const { violation } = search(haModel(SMALL, plants));
      expect(violation?.what).toMatch(new RegExp(`^${violates}:`));
      expect(violation!.trace.steps.length).toBeGreaterThan(5);
    },
  );

  it.each(HARMLESS.map((plants) => ({ name: nameOf(plants), plants })))('holds with $name', ({ plants }) => {
    expect(search(haModel(SMALL, plants))).toMatchObject({ complete: true });
  });

  it('notices a protocol that does not recover', () => {
    const model = haModel(SMALL, STUCK);
    const visited = new VisitedStates(model);
    expect(search(model, {}, visited).complete).toBe(true);
    expect(checkRecovery(visited, model, STUCK).stuck?.steps.length).toBeGreaterThan(0);
  });

  it.each(Object.entries(LATER))('can violate the invariant %s', (name, plants) => {
    const { violation } = search(haModel({ requests: [1, 2], epochs: 2 }, plants, [name as Invariant]));
    expect(violation?.what).toMatch(new RegExp(`^${name}:`));
  });

  it('can violate every invariant', () => {
    const violable = [...PLANTS.map(({ violates }) => violates), ...Object.keys(LATER)];
    expect(new Set(violable)).toEqual(new Set(INVARIANT_NAMES));
  });

  it('merges only states whose steps are the same up to names', () => {
    const model = haModel({ requests: [1, 2], epochs: 2 });
    const visited = new VisitedStates(model);
    search(model, { states: 40_000 }, visited);
    let renamed = 0;
    for (let index = 0; index < visited.count; index += 101) {
      model.steps(visited.at(index).slice(), (state) => {
        for (const swap of [false, true]) {
          const other = new Uint8Array(STATE_BYTES);
          rename(state, other, swap);
          if (other.some((byte, at) => byte !== state[at])) renamed++;
          expect([...normalForm(other)]).toEqual([...normalForm(state)]);
          expect(stepsOf(model, other)).toEqual(stepsOf(model, state));
        }
      });
    }
    expect(renamed).toBeGreaterThan(1000);
  });
});

/** Returns the normal forms of the states after a step, as text. */
function stepsOf(system: System, state: Uint8Array): string[] {
  const after: string[] = [];
  system.steps(state, (next) => after.push(system.normalForm(next).join()));
  return after.sort();
}
