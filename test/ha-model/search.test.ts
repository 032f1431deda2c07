import { describe, expect, it } from 'vitest';
import { type Emit, type System, search, VisitedStates } from './search.ts';

/** The 8-puzzle: 9!/2 states, the farthest 31 moves away (Reinefeld, IJCAI 1993). */
const PUZZLE: System = {
  stateBytes: 12,
  initial: Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0),
  steps(state, emit) {
    const hole = state.subarray(0, 9).indexOf(0);
    const move = (from: number, text: string) => {
      const next = state.slice();
      next[hole] = state[from]!;
      next[from] = 0;
      emit(next, text);
    };
    if (hole % 3 > 0) move(hole - 1, 'right');
    if (hole % 3 < 2) move(hole + 1, 'left');
    if (hole > 2) move(hole - 3, 'down');
    if (hole < 6) move(hole + 3, 'up');
  },
  normalForm: (state) => state,
  violation: () => undefined,
};

/** Two counters from 0 to `most`; the state does not say which is which. */
function counters(most: number, violation: System['violation'] = () => undefined): System {
  return {
    stateBytes: 4,
    initial: new Uint8Array(4),
    steps(state, emit) {
      for (const which of [0, 1]) {
        if (state[which] === most) continue;
        const next = state.slice();
        next[which]!++;
        emit(next, '{p} counts', which);
      }
    },
    normalForm: (state) => (state[0]! <= state[1]! ? state : Uint8Array.of(state[1]!, state[0]!, 0, 0)),
    violation,
  };
}

describe('search of all states', () => {
  it('visits each state of a system of known size once, to its known depth', () => {
    // A hole in a corner, on an edge and in the middle has 2, 3 and 4 moves: 24/9 on average.
    expect(search(PUZZLE)).toEqual({ states: 181_440, transitions: 483_840, depth: 31, complete: true });
  });

  it('merges symmetric states', () => {
    const most = 99;
    expect(search(counters(most))).toMatchObject({ states: ((most + 1) * (most + 2)) / 2, depth: 2 * most });
  });

  it('finds a shortest trace, and names the steps in it as they were taken', () => {
    const found = search(counters(5, (state) => (state[0] === 1 && state[1] === 2 ? 'one and two' : undefined)));
    expect(found).toMatchObject({ complete: false, violation: { what: 'one and two' } });
    const { steps, states } = found.violation!.trace;
    expect(steps.toSorted()).toEqual(['A counts', 'A counts', 'B counts']);
    expect([...states.at(-1)!].toSorted()).toEqual([0, 0, 1, 2]);
  });

  it('solves the jugs of 5 and 3 litres in the known 6 steps', () => {
    const size = [5, 3] as const;
    const jugs: System = {
      ...counters(0, (state) => (state[0] === 4 ? 'four litres' : undefined)),
      normalForm: (state) => state,
      steps(state, emit: Emit) {
        for (const [jug, other] of [
          [0, 1],
          [1, 0],
        ] as const) {
          const amount = Math.min(state[jug]!, size[other] - state[other]!);
          for (const [mine, its] of [
            [size[jug], state[other]!],
            [0, state[other]!],
            [state[jug]! - amount, state[other]! + amount],
          ] as const)
            emit(jug === 0 ? Uint8Array.of(mine, its, 0, 0) : Uint8Array.of(its, mine, 0, 0), 'pours');
        }
      },
    };
    expect(search(jugs).violation?.trace.steps).toHaveLength(6);
  });

  it('reports a violation in the initial state with an empty trace', () => {
    expect(search(counters(1, () => 'always')).violation).toMatchObject({ what: 'always', trace: { steps: [] } });
  });

  it('is not complete if it reaches its limit', () => {
    expect(search(PUZZLE, { states: 1000 }).complete).toBe(false);
  });

  it('keeps the states, and finds them by their bytes', () => {
    const visited = new VisitedStates(PUZZLE);
    search(PUZZLE, { states: 20_000 }, visited);
    expect(visited.count).toBeGreaterThan(20_000);
    for (let index = 0; index < visited.count; index += 97) expect(visited.find(visited.at(index).slice())).toBe(index);
    expect(visited.find(Uint8Array.of(0, 2, 1, 3, 4, 5, 6, 7, 8, 0, 0, 0))).toBe(-1);
  });
});
