// A naive model of the key dictionary.

import type { KeyDictionary } from '../../../src/core/index.ts';

interface Node {
  slot: number;
  key: string | number;
  holds: number;
  state: 'held' | 'live' | 'dead';
}

export class KeysModel {
  next = 1;
  readonly nodes = new Map<number, Node>();
  readonly takenBack = new Set<number>();

  get live(): number {
    return [...this.nodes.values()].filter(({ state }) => state === 'live').length;
  }

  find(slot: number, key: string | number): number {
    for (const [number, node] of this.nodes) {
      if (node.slot === slot && node.key === key && node.state !== 'dead') return number;
    }
    return 0;
  }

  hold(slot: number, key: string | number): number {
    const number = this.find(slot, key);
    if (number === 0) {
      this.nodes.set(this.next, { slot, key, holds: 1, state: 'held' });
      return this.next++;
    }
    const node = this.nodes.get(number)!;
    if (node.state === 'held') node.holds++;
    return number;
  }

  release(numbers: ArrayLike<number>): void {
    for (const number of Array.from(numbers)) {
      const node = this.nodes.get(number);
      if (node === undefined || node.holds === 0) continue;
      node.holds--;
      if (node.holds > 0 || node.state !== 'held') continue;
      this.nodes.delete(number);
      this.takenBack.add(number);
    }
    while (this.takenBack.delete(this.next - 1)) this.next--;
  }

  makeLive(numbers: ArrayLike<number>): void {
    for (const number of Array.from(numbers)) this.nodes.get(number)!.state = 'live';
  }

  add(slot: number, key: string | number, number: number): void {
    const known = this.nodes.get(number);
    this.nodes.set(number, { slot, key, holds: known?.holds ?? 0, state: 'live' });
    this.takenBack.delete(number);
    this.next = Math.max(this.next, number + 1);
  }

  kill(number: number): void {
    const node = this.nodes.get(number);
    if (node?.state === 'live') node.state = 'dead';
  }

  unborn(numbers: Iterable<number>): { slot: number; numbers: number[] }[] {
    const groups = new Map<number, number[]>();
    for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
      const node = this.nodes.get(number);
      if (node?.state === 'held') groups.set(node.slot, [...(groups.get(node.slot) ?? []), number]);
    }
    return [...groups].sort(([a], [b]) => a - b).map(([slot, list]) => ({ slot, numbers: list }));
  }
}

/** Returns everything that can be asked about the numbers up to `last`. */
export function describeKeys(dictionary: KeyDictionary, last: number): unknown[] {
  const all: unknown[] = [dictionary.next, dictionary.live];
  for (let number = 0; number <= last; number++) {
    const slot = dictionary.slotOf(number);
    const key = dictionary.keyOf(number);
    const found = slot === undefined ? undefined : dictionary.find(slot, key!);
    all.push([slot, key, dictionary.isLive(number), found]);
  }
  return all;
}

/** Same as `describeKeys`, of the model. */
export function describeModel(model: KeysModel, last: number): unknown[] {
  const all: unknown[] = [model.next, model.live];
  for (let number = 0; number <= last; number++) {
    const node = model.nodes.get(number);
    all.push([node?.slot, node?.key, node?.state === 'live', node && model.find(node.slot, node.key)]);
  }
  return all;
}
