// At most so many at once; the others wait in their order.

import { before } from './deadline.ts';
import { later } from './later.ts';

export interface Turns {
  /** Resolves with what ends the turn; rejects when the signal comes first. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function openTurns(most: number): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];

  function leave(): void {
    running--;
    waiting.shift()?.();
  }

  function turn(): () => void {
    running++;
    let over = false;
    return () => {
      if (!over) leave();
      over = true;
    };
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (running < most) return turn();
      const free = later<void>();
      const call = () => free.resolve();
      waiting.push(call);
      try {
        await before(free.promise, signal);
      } catch (error) {
        const place = waiting.indexOf(call);
        // Called in the same moment: somebody else may have the place.
        if (place < 0) waiting.shift()?.();
        else waiting.splice(place, 1);
        throw error;
      }
      return turn();
    },
  };
}
