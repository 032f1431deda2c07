// Runs one seed and reports the outcome.

import { type GoName, goOf } from './sim-goes.ts';
import { SimHistory } from './sim-history.ts';
import { Violation } from './sim-model.ts';
import { packAtOnce } from './sim-packing.ts';

export interface Outcome {
  /** The rule that was violated and how, or undefined if the history passes. */
  error: string | undefined;
  history: readonly string[];
  seen: Readonly<Record<string, number>>;
}

export async function runSeed(seed: number, go: GoName = goOf(seed)): Promise<Outcome> {
  packAtOnce();
  const history = new SimHistory(seed, go);
  // An unhandled rejection is also a failure of the engine.
  const loose: unknown[] = [];
  const keep = (error: unknown): void => void loose.push(error);
  process.on('unhandledRejection', keep);
  let error: string | undefined;
  try {
    await history.run();
  } catch (thrown) {
    error = textOf(thrown);
  }
  process.off('unhandledRejection', keep);
  if (error === undefined && loose.length > 0) error = `unhandled-rejection: ${textOf(loose[0])}`;
  const { history: lines, seen } = history.world;
  return { error, history: error === undefined ? lines : [...lines, error], seen };
}

function textOf(thrown: unknown): string {
  if (thrown instanceof Violation) return thrown.message;
  const { name, message, stack } = thrown as Error;
  return `unexpected: ${name}: ${message}\n${stack}`;
}
