// Defines the commands that inspect, back up, restore and check files: inspect, backup, restore,
// verify, check-proof.

import type { BackupFlags } from '../backup/command.ts';
import type { CheckProofFlags } from '../check-proof/command.ts';
import { type Command, type Host, withServer } from '../command-line.ts';
import type { InspectFlags } from '../inspect/command.ts';
import type { RestoreFlags } from '../restore/command.ts';
import type { VerifyFlags } from '../verify/command.ts';

export function addInspect(program: Command, { done, world }: Host): void {
  program
    .command('inspect')
    .description('Show what is in a log file, a manifest, a segment or a data directory. Only reads; a server may run.')
    .argument('<path...>')
    .option('--json', 'one JSON document a line for every path')
    .option('--limit <number>', 'of a log: frames to show, 0 = all (default 50)')
    .option('--rows <number>', 'of a segment: first and last rows to show (default 3)')
    .option('--deep', 'of a directory: read and check the segments whole')
    .action(async (paths: string[], options: InspectFlags) => {
      done(await (await import('../inspect/command.ts')).inspectCommand(paths, options, world));
    });
}

export function addBackup(program: Command, { done, world }: Host): void {
  withServer(
    program.command('backup').description('Back up a running server, or a data directory that no server has open.'),
    'admin key',
  )
    .option('--backup-dir <dir>', 'on the server, below its backup root (default the root itself)')
    .option('--data <dir>', 'a data directory that no server has open; needs no key')
    .option('--to <dir>', 'with --data: the directory for the backup')
    .option('--config <file>', 'with --data: the TOML file its server is started with')
    .option('--compact-first', 'compact all tables before')
    .action(async (options: BackupFlags) => {
      done(await (await import('../backup/command.ts')).backupCommand(options, world));
    });
}

export function addRestore(program: Command, { done, world }: Host): void {
  program
    .command('restore')
    .description('Make a data directory from a backup. The file is checked first; when it fails, nothing is left.')
    .argument('<file>')
    .option('--data <dir>', 'the data directory to be: new or empty')
    .action(async (file: string, options: RestoreFlags) => {
      done(await (await import('../restore/command.ts')).restoreCommand(file, options, world));
    });
}

export function addVerify(program: Command, { done, world }: Host): void {
  program
    .command('verify')
    .description('Check every byte of a data directory and name what is wrong. Only reads; a server may run.')
    .argument('<dir>')
    .option('--json', 'one JSON document')
    .action(async (dir: string, options: VerifyFlags) => {
      done(await (await import('../verify/command.ts')).verifyCommand(dir, options, world));
    });
}

export function addCheckProof(program: Command, { done, world }: Host): void {
  program
    .command('check-proof')
    .description('Derive again every conclusion of a proof, or of an answer with proofs, from its premises.')
    .argument('[file]', 'JSON; - or nothing: stdin')
    .option('--rules <file>', 'the rules it should follow from, as JSON')
    .action(async (file: string | undefined, options: CheckProofFlags) => {
      done(await (await import('../check-proof/command.ts')).checkProofCommand(file, options, world));
    });
}
