// `hedgerow ha init|status`: the tables of a log in PostgreSQL, which several servers share.

import { type ClusterStatus, initCluster, readStatus } from '../../high-availability/index.ts';
import { loadSettings } from '../config/load.ts';
import { tableText } from '../table-text.ts';
import { reportFailure, type World } from '../world.ts';

export interface HaFlags {
  logDsn?: string | undefined;
  config?: string | undefined;
  json?: boolean | undefined;
}

/**
 * Makes the tables, or brings them up to date. This function and the next resolve with the exit
 * code: 0 on success, 1 on failure, 2 for a wrong call.
 */
export async function haInitCommand(flags: HaFlags, world: World): Promise<number> {
  try {
    const { from, to, database, warnings } = await initCluster(dsnOf(flags, world));
    for (const warning of warnings) world.stderr.write(`hedgerow: ${warning}\n`);
    const done =
      from === to
        ? `The tables of the log are up to date (version ${to}).`
        : from === 0
          ? `The tables of the log were made (version ${to}).`
          : `The tables of the log were brought from version ${from} to ${to}.`;
    world.stdout.write(flags.json ? `${JSON.stringify({ database, from, to })}\n` : `${done}\ndatabase  ${database}\n`);
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

/** Shows who leads, how far every server is, and what the log and the snapshot hold. */
export async function haStatusCommand(flags: HaFlags, world: World): Promise<number> {
  try {
    const status = await readStatus(dsnOf(flags, world));
    for (const warning of status.warnings) world.stderr.write(`hedgerow: ${warning}\n`);
    world.stdout.write(flags.json ? `${JSON.stringify(status)}\n` : textOf(status));
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

function dsnOf({ logDsn, config }: HaFlags, world: World): string {
  return loadSettings({ config, settings: { log: 'postgres', logDsn } }, world).config.logDsn!;
}

function textOf({ database, log, leader, epoch, processes, snapshot }: ClusterStatus): string {
  const facts: [string, string][] = [
    ['database', database],
    [
      'leader',
      leader === null ? 'none, the lease is free' : `${leader.url}, for ${leader.leftMs} ms without a renewal`,
    ],
    ['epoch', String(epoch)],
    ['log', log.oldestLsn === null ? 'empty' : `LSN ${log.oldestLsn} to ${log.lastLsn}, ${megabytes(log.bytes)}`],
    ['snapshot', snapshot === null ? 'none' : `LSN ${snapshot.lsn}, ${megabytes(snapshot.bytes)}, ${snapshot.madeAt}`],
  ];
  const lines = facts.map(([name, value]) => `${name.padEnd(8)}  ${value}\n`).join('');
  if (processes.length === 0) return lines;
  const rows = processes.map(({ id, url, lsn, neededLsn, ageMs }) => [
    url,
    id === leader?.holder ? 'leader' : 'follower',
    String(lsn),
    String(neededLsn),
    `${Math.round(ageMs / 1000)} s ago`,
  ]);
  return `${lines}\n${tableText(['server', 'role', 'LSN', 'needs the log after', 'seen'], rows)}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
