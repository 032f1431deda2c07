// Returns the serious and critical violations that axe-core finds on a page, one line each.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary: string }[];
  }[];
}

export async function faultsOf(page: Page): Promise<string[]> {
  // Evaluated through the debugger, because the policy of the page allows no other scripts.
  await page.evaluate(source);
  const { violations } = await page.evaluate(() =>
    // Reports details of violations only, which takes much less time.
    (globalThis as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
      resultTypes: ['violations'],
    }),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
    );
}
