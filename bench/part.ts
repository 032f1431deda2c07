// The options that every part of the benches receives.

import type { Dataset } from './dataset.ts';
import type { BenchRow } from './row.ts';
import type { Workspace } from './workspace.ts';

export interface PartOptions {
  /**
   * Runs everything once, quickly and on small inputs, for the tests. Results are compared, but the
   * times mean nothing.
   */
  tiny: boolean;
  dataset: Dataset;
  workspace: Workspace;
  /** Reports to the user what was left out, and why. */
  note(message: string): void;
}

export type Part = (options: PartOptions) => Promise<BenchRow[]>;
