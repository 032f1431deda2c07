// Compares texts with golden files, which contain the expected text. HEDGEROW_WRITE_GOLDEN=1
// rewrites these files; the change is then reviewed as a diff.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const folder = new URL('../golden/', import.meta.url);

export const WRITE_GOLDEN = process.env.HEDGEROW_WRITE_GOLDEN === '1';

/** Compares a text with test/golden/<name>, or writes it there. */
export function expectGolden(name: string, text: string): void {
  const path = fileURLToPath(new URL(name, folder));
  if (WRITE_GOLDEN) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(text, `${path} differs; HEDGEROW_WRITE_GOLDEN=1 rewrites it`).toBe(readFileSync(path, 'utf8'));
}
