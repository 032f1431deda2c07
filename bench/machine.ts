// Describes the machine on which the figures were taken.

import { cpus, loadavg, totalmem } from 'node:os';

export function machineLine(now: Date): string {
  const cores = cpus();
  const date = now.toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  // A load near or above the number of cores means that other programs use the machine. This makes
  // single figures worse; ratios suffer less.
  const load = loadavg()[0]!.toFixed(1);
  return `${cores[0]?.model.trim() ?? 'unknown CPU'}, ${cores.length} cores, ${memory} GB, Node ${process.version}, ${process.platform}, ${date}, load ${load} before`;
}
