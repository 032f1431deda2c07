import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Command } from '../../src/cli/command-line.ts';
import { buildProgram, runProgram } from '../../src/cli/program.ts';
import { TestWorld } from './support.ts';

const world = new TestWorld();
afterAll(() => world.remove());

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
const scripts = {} as Record<Shell, string>;

beforeAll(async () => {
  for (const shell of SHELLS) {
    world.out = '';
    expect(await runProgram(['completion', shell], '1.2.3', world)).toBe(0);
    scripts[shell] = world.out;
    world.file(`completion.${shell}`, world.out);
  }
  world.file('edges with blanks.csv', '');
});

/** Returns whether the shell is installed. For zsh, its pseudo-terminal module is needed too. */
const isHere = (shell: Shell) =>
  spawnSync(shell, ['-c', shell === 'zsh' ? 'zmodload zsh/zpty' : 'exit 0']).status === 0;

/** Returns what the shell offers at the end of a line, sorted. */
const OFFERS: Record<Shell, (line: string) => string[]> = {
  bash: (line) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    const code = `source completion.bash; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _hedgerow; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return lines('bash', ['--norc', '-c', code]);
  },
  // zsh completes only on a terminal, so it gets a pseudo-terminal.
  zsh: (line) => {
    const code = `
zmodload zsh/zpty
zpty shell zsh -f -i
answer() { local out; REPLY=; while zpty -r shell out; do REPLY+=$out; [[ $REPLY == *$1* ]] && return; done }
zpty -w shell 'PROMPT= RPROMPT=; unsetopt zle_bracketed_paste 2>/dev/null; autoload -Uz compinit; compinit -u -D; source ./completion.zsh; zstyle ":completion:*" list-colors "no=<:"; LISTMAX=10000; stty cols 4000 rows 4000 -echo; offer() { local -a all; compadd() { if [[ " $* " == *" -O "* || " $* " == *" -A "* || " $* " == *" -D "* ]]; then builtin compadd "$@"; return; fi; builtin compadd -A all "$@"; print -rl -- "offer:"$^all; builtin compadd "$@" }; _main_complete; print done:offers; compstate[insert]=; compstate[list]= }; zle -C offer complete-word offer; bindkey "^I" offer; print ready:now'
answer 'ready:now'
zpty -w -n shell "$1"$'\\t'
answer 'done:offers'
print -r -- "$REPLY"`;
    return lines('zsh', ['-f', '-c', code, 'zsh', line])
      .flatMap((one) => /offer:(.+)$/.exec(one)?.[1] ?? [])
      .sort();
  },
  fish: (line) => {
    const code = `source completion.fish; complete -C '${line}'`;
    return lines('fish', ['--no-config', '-c', code]).map((one) => one.split('\t')[0]!);
  },
};

function lines(shell: string, parameters: string[]): string[] {
  const { stdout, stderr, status } = spawnSync(shell, parameters, {
    cwd: world.cwd,
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env.PATH ?? '', HOME: world.cwd, TERM: 'xterm' },
  });
  expect(status, stderr).toBe(0);
  return [...new Set(stdout.split(/\r?\n/).filter((one) => one !== ''))].sort();
}

describe.each(SHELLS)('completion of %s', (shell) => {
  test.skipIf(!isHere(shell))(
    `offers commands, flags, words and files${isHere(shell) ? '' : ` (skipped: no ${shell} on this machine)`}`,
    () => {
      const offers = OFFERS[shell];
      expect(offers('hedgerow ')).toEqual(
        expect.arrayContaining(['import', 'keys', 'query', 'serve', 'serve-virtual']),
      );
      expect(offers('hedgerow im')).toEqual(['import']);
      expect(offers('hedgerow keys ')).toEqual(['create', 'list', 'revoke']);
      expect(offers('hedgerow keys create --ro')).toEqual(['--role']);
      expect(offers('hedgerow keys create --role ')).toEqual(['admin', 'readonly', 'readwrite']);
      expect(offers('hedgerow keys create --role readwrite --expires')).toEqual(['--expires-days']);
      expect(offers('hedgerow import --format ')).toEqual(['csv', 'hif', 'ndjson', 'parquet']);
      expect(offers('hedgerow export --format g')).toEqual(['gexf', 'graphml']);
      expect(offers('hedgerow query --format ')).toContain('table');
      expect(offers('hedgerow serve --transport ')).toEqual(['auto', 'node', 'uws']);
      expect(offers('hedgerow virtual query --un')).toEqual(['--unordered']);
      expect(offers('hedgerow import edg').map((name) => name.replaceAll('\\', ''))).toEqual(['edges with blanks.csv']);
      expect(offers('hedgerow completion f')).toEqual(['fish']);
    },
  );
});

test('every command and every flag is in the script of every shell', () => {
  const program = buildProgram({ world, serverWorld: world, done: () => {} }, '1.2.3');
  const all = (command: Command): string[] => [
    ...command.options.map(({ long }) => long!.slice(2)),
    ...command.commands.flatMap((inner) => [inner.name(), ...all(inner)]),
  ];
  const names = all(program);
  expect(names.length).toBeGreaterThan(100);
  for (const script of Object.values(scripts)) expect(names.filter((name) => !script.includes(name))).toEqual([]);
});

test('a shell without completion is refused', async () => {
  expect(await runProgram(['completion', 'tcsh'], '1.2.3', world)).toBe(2);
  expect(world.err).toBe('hedgerow: There is no completion for "tcsh", only for bash, zsh, fish.\n');
});
