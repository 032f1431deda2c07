// `hedgerow inspect PATH...`: reports what kind of file of the database a path is and what it
// contains, without changing anything.

import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { loadCore, makeChecksum } from '../../core/index.ts';
import { type FileTools, inspectLog, type LogReport } from '../../engine/verify/index.ts';
import { nodeFs } from '../../storage/index.ts';
import { integerFlag, reportFailure, UsageError, type World } from '../world.ts';
import { tablesAround } from './checkpoint-facts.ts';
import { type DirectoryReport, inspectDirectory } from './directory-report.ts';
import { directoryText } from './directory-text.ts';
import { logText } from './log-text.ts';
import { inspectManifest, type ManifestReport, manifestText } from './manifest-report.ts';
import { SEGMENT_MAGIC } from './segment-layout.ts';
import { inspectSegment, type SegmentReport } from './segment-report.ts';
import { segmentText } from './segment-text.ts';

export interface InspectFlags {
  json?: boolean | undefined;
  limit?: string | undefined;
  rows?: string | undefined;
  deep?: boolean | undefined;
}

type Report = LogReport | ManifestReport | SegmentReport | DirectoryReport;

interface Inspected {
  report: Report;
  text: () => string[];
}

const DEFAULT_FRAMES = 50;
const DEFAULT_ROWS = 3;
const MOST_ROWS = 65_536;
/** Number of levels from a file up to its data directory. */
const ABOVE_LOG = 2;
const ABOVE_SEGMENT = 3;

/**
 * Returns the exit code: 0 on success, 1 when something is corrupt or cannot be read, 2 for a wrong
 * call.
 */
export function inspectCommand(paths: readonly string[], flags: InspectFlags, world: World): number {
  let exitCode = 0;
  try {
    const limits = {
      frames: integerFlag('--limit', flags.limit, 0, 2 ** 40) ?? DEFAULT_FRAMES,
      rows: integerFlag('--rows', flags.rows, 0, MOST_ROWS) ?? DEFAULT_ROWS,
      deep: flags.deep === true,
    };
    if (paths.length === 0) throw new UsageError('inspect needs at least one PATH.');
    const core = loadCore();
    const tools: FileTools = { fs: nodeFs, crc32c: makeChecksum(core.instantiate()), core };
    paths.forEach((path, index) => {
      try {
        const { report, text } = inspect(tools, resolve(world.cwd, path), limits);
        if (report.problems.length > 0) exitCode = 1;
        if (flags.json === true) world.stdout.write(`${JSON.stringify(report)}\n`);
        else world.stdout.write(`${index > 0 ? '\n' : ''}${text().join('\n')}\n`);
      } catch (error) {
        exitCode = reportFailure(world, error);
      }
    });
  } catch (error) {
    return reportFailure(world, error);
  }
  return exitCode;
}

function inspect(tools: FileTools, path: string, limits: { frames: number; rows: number; deep: boolean }): Inspected {
  switch (kindOf(tools, path)) {
    case 'directory': {
      const report = inspectDirectory(tools, path, limits.deep);
      return { report, text: () => directoryText(report) };
    }
    case 'log': {
      const report = inspectLog(tools, path, limits.frames === 0 ? Infinity : limits.frames);
      return { report, text: () => logText(report, tablesAround(tools, path, ABOVE_LOG)) };
    }
    case 'segment': {
      const tables = tablesAround(tools, path, ABOVE_SEGMENT);
      const report = inspectSegment(tools, path, limits.rows, (number) => tables.get(number));
      return { report, text: () => segmentText(report, tables) };
    }
    case 'manifest': {
      const report = inspectManifest(tools, path);
      return { report, text: () => manifestText(report) };
    }
  }
}

/**
 * Determines the kind by the magic bytes, or else by the name, since a damaged file may have lost
 * its magic bytes.
 */
function kindOf(tools: FileTools, path: string): Report['kind'] {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) throw new Error(`There is nothing at ${path}.`);
  if (facts.isDirectory()) {
    if (['manifest', 'log', 'tables'].some((name) => tools.fs.exists(`${path}/${name}`))) return 'directory';
    throw new Error(`${path} is not a data directory: it contains neither a manifest nor a log.`);
  }
  const handle = tools.fs.open(path, 'read');
  const head = new Uint8Array(20);
  try {
    handle.read(head, 0);
  } finally {
    handle.close();
  }
  const magic = new TextDecoder('latin1').decode(head);
  const name = basename(path);
  if (magic.startsWith('HGROWLOG')) return 'log';
  if (magic.startsWith(SEGMENT_MAGIC)) return 'segment';
  if (magic.startsWith('hedgerow-manifest ')) return 'manifest';
  if (magic.startsWith('HGROWMRK') || name === 'mark')
    throw new Error(`${path} is the mark of a log. Inspect its data directory instead, which shows its content.`);
  if (name === 'log-spare') throw new Error(`${path} is zeros made ready for the next log file; it holds no data.`);
  if (name.startsWith('log-')) return 'log';
  if (name.endsWith('.hgs')) return 'segment';
  if (name.startsWith('manifest')) return 'manifest';
  throw new Error(`${path} is not a file of a database: neither a log file, nor a segment, nor a manifest.`);
}
