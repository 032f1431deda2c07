// Samples the peak memory of a service and of the DuckDB process that it starts.

import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 50;
/**
 * The proportional size is read once per this many samples, because the system needs some
 * milliseconds to add up the pages of a process.
 */
const LOOKS_A_SUM = 10;

/** The greatest values seen, in megabytes. */
export interface Peaks {
  readonly service: number;
  readonly duckdb: number;
  /** Sum of the resident sizes. Pages that both processes map, such as Node's code, count twice. */
  readonly together: number;
  /** The same sum with shared pages counted once. */
  readonly once: number;
}

export function watchMemory(pid: number): { stop(): Peaks } {
  let [service, duckdb, together, once, looks] = [0, 0, 0, 0, 0];
  const look = () => {
    const children = childrenOf(pid);
    const [ours, theirs] = [residentMb(pid), children.reduce((sum, child) => sum + residentMb(child), 0)];
    service = Math.max(service, ours);
    duckdb = Math.max(duckdb, theirs);
    together = Math.max(together, ours + theirs);
    if (looks++ % LOOKS_A_SUM === 0)
      once = Math.max(
        once,
        [pid, ...children].reduce((sum, process) => sum + proportionalMb(process), 0),
      );
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    stop() {
      clearInterval(timer);
      looks = 0;
      look();
      return { service, duckdb, together, once };
    },
  };
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => numberIn(`/proc/${pid}/status`, /PPid:\s+(\d+)/) === parent);
}

function residentMb(pid: number): number {
  return numberIn(`/proc/${pid}/status`, /VmRSS:\s+(\d+)/) / 1024;
}

function proportionalMb(pid: number): number {
  return numberIn(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+)/m) / 1024;
}

/** Returns a number from a file below /proc; 0 if the process has ended. */
function numberIn(path: string, pattern: RegExp): number {
  try {
    return Number(pattern.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
