// Runs DuckDB for the service in a separate process, so that a native crash ends only this process.

import { openDatabases } from './duckdb-databases.ts';
import { openGuard } from './duckdb-guard.ts';
import { type Library, loadLibrary } from './duckdb-library.ts';
import type { DuckDbLimits, FromDuckDb, ToDuckDb } from './duckdb-messages.ts';
import { DuckDbQuestions } from './duckdb-questions.ts';
import { removeSpillFolder } from './files.ts';

const say = (message: FromDuckDb) => {
  process.send?.(message, undefined, {}, () => undefined);
};

// Ends the process when the service is gone. Nothing reads the answers any more, and a running
// statement would keep the process alive.
process.on('disconnect', () => {
  try {
    if (spillFolder !== undefined) removeSpillFolder(spillFolder);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
});

let questions: DuckDbQuestions | undefined;
let spillFolder: string | undefined;

process.on('message', (message: ToDuckDb) => {
  if (message.kind === 'limits') void start(message.limits);
  else questions?.receive(message);
});

async function start(limits: DuckDbLimits): Promise<void> {
  spillFolder = limits.spillFolder;
  let library: Library;
  try {
    library = await loadLibrary();
    const guard = await openGuard(library);
    questions = new DuckDbQuestions({ library, guard, databases: openDatabases(library, limits), say });
  } catch (error) {
    return say({ kind: 'absent', reason: (error as Error).message });
  }
  say({ kind: 'ready' });
}
