// Saves the rejected rows as a file in the browser, each with its number and the reason.

import type { Reject } from './read-file.ts';

export function saveRejects(name: string, rejected: readonly Reject[]): void {
  const lines = rejected.map((reject) => `${JSON.stringify(reject)}\n`);
  const address = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name}.rejects.ndjson`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
