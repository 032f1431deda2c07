// Defines what the help of each command shows besides its flags: examples and the meaning of the
// exit codes.

/**
 * Example calls by command. Tests parse every example and require at least one for each command.
 */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  serve: ['hedgerow serve --data ./data', 'HEDGEROW_PORT=9000 hedgerow serve --config hedgerow.toml'],
  'serve-virtual': ['hedgerow serve-virtual --spec-dir specs --root files'],
  query: [
    'hedgerow query "MATCH (e:meetings) WHERE 7 IN e.members RETURN e.event_ts, e.members LIMIT 10"',
    "hedgerow query 'MATCH (e:meetings) WHERE e.weight > $least RETURN COUNT(*) AS n' --param least=0.5 --data ./data",
    'hedgerow query - --format csv < statement.txt > rows.csv',
  ],
  shell: ['hedgerow shell --url localhost:8000', 'hedgerow shell --data ./data < script.txt'],
  analyze: ['hedgerow analyze', 'hedgerow analyze meetings pagerank --param alpha=0.85'],
  'virtual backends': ['hedgerow virtual backends'],
  'virtual propose': ['hedgerow virtual propose --path calls.parquet --save'],
  'virtual list': ['hedgerow virtual list'],
  'virtual show': ['hedgerow virtual show calls > calls.json'],
  'virtual create': ['hedgerow virtual create calls.json'],
  'virtual replace': ['hedgerow virtual replace calls calls.json'],
  'virtual delete': ['hedgerow virtual delete calls'],
  'virtual clear-cache': ['hedgerow virtual clear-cache calls'],
  'virtual introspect': ['hedgerow virtual introspect calls'],
  'virtual compile': ["hedgerow virtual compile calls 'MATCH (c:Call){a:Person} WHERE a.id = 7 RETURN c'"],
  'virtual query': ["hedgerow virtual query calls 'MATCH (c:Call){a:Person} WHERE a.id = 7 RETURN c' --limit 10"],
  'virtual materialize': [
    "hedgerow virtual materialize calls 'MATCH (c:Call){a:Person} RETURN c' --table calls --bucket-seconds 60",
  ],
  import: [
    'hedgerow import meetings.csv --dry-run',
    'hedgerow import meetings.csv --table meetings --create --member-columns host,guest',
    'zcat edges.ndjson.gz | hedgerow import - --table meetings',
  ],
  export: [
    'hedgerow export --table meetings --start 2024-01-01 --end 2024-01-31 --out january.csv',
    "hedgerow export --statement 'MATCH (e:meetings) WHERE 7 IN e.members RETURN *' --out seven.parquet",
    'hedgerow export --table meetings --out meetings.gexf',
  ],
  changes: [
    'hedgerow changes --table meetings --limit 10',
    'hedgerow changes --follow --from-lsn 4711 --url localhost:8000 > changes.ndjson',
  ],
  dump: ['hedgerow dump copy --data ./data'],
  load: ['hedgerow load copy --data ./new'],
  inspect: ['hedgerow inspect ./data --deep', 'hedgerow inspect ./data/log/* --limit 5'],
  demo: ['hedgerow demo --open', 'hedgerow demo --data demo --people 200 --no-serve'],
  backup: ['hedgerow backup --url localhost:8000 --compact-first', 'hedgerow backup --data ./data --to ./backups'],
  restore: ['hedgerow restore backups/hedgerow-20240103T100000Z-42.tar.gz --data ./restored'],
  verify: ['hedgerow verify ./data'],
  'check-proof': ['hedgerow check-proof answer.json --rules rules.json'],
  mcp: ['hedgerow mcp --data ./data', 'hedgerow mcp --url localhost:8000 --allow-writes'],
  'keys create': ['hedgerow keys create --role readonly --description dashboard --expires-days 90'],
  'keys list': ['hedgerow keys list --data ./data'],
  'keys revoke': ['hedgerow keys revoke key_0123456789abcdef'],
  'ha init': ['hedgerow ha init --log-dsn postgres://hedgerow@db:5432/hedgerow'],
  'ha status': ['hedgerow ha status --config hedgerow.toml', 'hedgerow ha status --json'],
  'config print': ['hedgerow config print --config hedgerow.toml'],
  completion: [
    'source <(hedgerow completion bash)    in ~/.bashrc',
    'source <(hedgerow completion zsh)     in ~/.zshrc, after compinit',
    'hedgerow completion fish | source     in ~/.config/fish/config.fish',
  ],
  help: ['hedgerow help import', 'hedgerow help keys create'],
  version: ['hedgerow version'],
};

/** Returns the examples for the end of a help text; empty when the command has none. */
export function exampleText(command: string): string {
  const examples = EXAMPLES[command];
  if (examples === undefined) return '';
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  return ['', title, ...examples.map((example) => `  ${example}`)].join('\n');
}

/** Explains the exit codes, which are the same for every command. */
export const EXIT_CODES = `
Exit codes:
  0    done, or a server shut down cleanly after SIGINT (Ctrl-C) or SIGTERM
  1    not done, or not all of it: something in a file, a directory, a server or the data is wrong; stderr says what
  2    wrong call: a command, an argument, a flag or a setting that is not accepted; nothing was done
  130  stopped by Ctrl-C (SIGINT) before it was done
  143  stopped by SIGTERM before it was done

hedgerow help COMMAND shows flags and examples of a command.`;
