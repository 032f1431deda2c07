// Names the machine that figures were taken on.

import { cpus, totalmem } from 'node:os';

export function machineLine(now: Date): string {
  const cores = cpus();
  const date = now.toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cores[0]?.model.trim() ?? 'unknown CPU'}, ${cores.length} cores, ${memory} GB, Node ${process.version}, ${process.platform}, ${date}`;
}
