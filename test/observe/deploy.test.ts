import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createObserver } from '../../src/observe/service-observer.ts';
import { metricNames } from './exposition.ts';
import { SILENT_SERVICE_LOG } from './silent.ts';

const DEPLOY = 'src/observe/deploy';

interface Compose {
  services: Record<
    string,
    { volumes?: string[]; secrets?: string[]; depends_on?: unknown; ports?: string[]; build?: string; image: string }
  >;
  volumes: Record<string, unknown>;
  secrets: Record<string, { environment: string }>;
}

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}

const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as Compose;
const prometheus = parse(readFileSync(`${DEPLOY}/prometheus.yml`, 'utf8'));
const rules = parse(readFileSync(`${DEPLOY}/rules.yml`, 'utf8'));
const dashboard = JSON.parse(readFileSync(`${DEPLOY}/grafana/dashboards/hedgerow.json`, 'utf8'));
const panels = dashboard.panels as Panel[];
const dockerfile = readFileSync('Dockerfile', 'utf8').split('\n');

/** Returns the names of all metrics, once every kind of event has happened. */
async function exposedNames(): Promise<Set<string>> {
  const observer = createObserver({ log: SILENT_SERVICE_LOG, audit: undefined, version: '1.2.3' });
  observer.attach({
    gatherFigures: async () => ({
      chargedBytes: 0,
      pinnedBytes: 0,
      nodes: 6,
      nodeKeyBytes: 7,
      records: 0,
      tables: 0,
      corruptTables: 0,
      indexes: 0,
      segments: 0,
      residentBytes: 0,
      memtableBytes: 0,
      walPending: 0,
      walBytes: 0,
      snapshotsOpen: 0,
      compactions: 0,
      compactionsRunning: 0,
      compactionsQueued: 0,
      durability: 'fsync',
      logFailed: false,
    }),
  });
  const { text } = await observer.metrics();
  observer.close();
  return metricNames(text);
}

/** Returns the metrics in an expression, which are recognized by the prefix of their name. */
function namesIn(expression: string): string[] {
  return expression.match(/\b(?:hedgerow|process|nodejs)_\w+/g) ?? [];
}

describe('the dashboard', () => {
  const expressions = panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => expr));

  it('uses only metrics that the service has', async () => {
    const exposed = await exposedNames();
    const asked = new Set(expressions.flatMap(namesIn));
    expect(asked.size).toBeGreaterThan(25);
    expect([...asked].filter((name) => !exposed.has(name))).toEqual([]);
    const variables = dashboard.templating.list as { definition?: string }[];
    expect(variables.flatMap(({ definition = '' }) => namesIn(definition))).toEqual(['hedgerow_build_info']);
  });

  it('shows every metric of the service', async () => {
    const asked = new Set(expressions.flatMap(namesIn).map(familyOf));
    const own = [...(await exposedNames())].filter((name) => name.startsWith('hedgerow_')).map(familyOf);
    expect([...new Set(own)].filter((name) => !asked.has(name))).toEqual([]);
  });

  it('has well-formed expressions', () => {
    const odd = expressions.filter((expression) => {
      const bare = expression.replace(/"[^"]*"/g, '');
      return ['()', '[]', '{}'].some(([open, close]) => bare.split(open!).length !== bare.split(close!).length);
    });
    expect(odd).toEqual([]);
  });

  it('places panels side by side without overlap', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

function familyOf(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, '');
}

describe('Prometheus', () => {
  it('scrapes the service of compose.yaml with the key of its secret file', () => {
    const [job] = prometheus.scrape_configs;
    const [target] = job.static_configs[0].targets as string[];
    expect(Object.keys(compose.services)).toContain(target!.split(':')[0]);
    const [secret] = compose.services.prometheus!.secrets!;
    expect(job.authorization).toEqual({ type: 'Bearer', credentials_file: `/run/secrets/${secret}` });
    expect(Object.keys(compose.secrets)).toEqual([secret]);
    expect(job.metrics_path).toBe('/metrics');
  });

  it('has alerts that use only metrics of the service', async () => {
    const exposed = await exposedNames();
    const alerts = rules.groups[0].rules as { alert: string; expr: string; annotations: { summary: string } }[];
    expect(alerts.length).toBeGreaterThan(5);
    const asked = alerts.flatMap(({ expr }) => namesIn(expr));
    expect(asked.filter((name) => !exposed.has(name))).toEqual([]);
    const labels = (code: RegExp) => alerts.flatMap(({ expr }) => [...expr.matchAll(code)].map((match) => match[1]));
    expect(labels(/code="(\w+)"/g)).toEqual(['overloaded']);
    expect(prometheus.rule_files).toEqual(['rules.yml']);
  });
});

describe('compose.yaml', () => {
  it('mounts files and volumes that exist', () => {
    const sources = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes.map((v) => v.split(':')[0]!));
    const paths = sources.filter((source) => source.startsWith('.'));
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
    expect(sources.filter((source) => !source.startsWith('.')).sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it('gives Grafana a data source and the folder of its dashboards', () => {
    const provisioning = `${DEPLOY}/grafana/provisioning`;
    const [source] = parse(readFileSync(`${provisioning}/datasources/prometheus.yml`, 'utf8')).datasources;
    expect(Object.keys(compose.services)).toContain(new URL(source.url).hostname);
    const [provider] = parse(readFileSync(`${provisioning}/dashboards/hedgerow.yml`, 'utf8')).providers;
    const mount = compose.services.grafana!.volumes!.find((volume) => volume.includes(`:${provider.options.path}:`));
    expect(readdirSync(mount!.split(':')[0]!)).toEqual(['hedgerow.json']);
  });

  it('opens ports to this machine only and pins every foreign image', () => {
    const services = Object.values(compose.services);
    for (const { ports = [] } of services) expect(ports.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
    // Versions of PostgreSQL have two numbers.
    const pinned = /^postgres:\d+\.\d+$|:v?\d+\.\d+\.\d+$/;
    expect(services.filter(({ build, image }) => build === undefined && !pinned.test(image))).toEqual([]);
  });
});

describe('the Dockerfile', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');

  it('copies only files that exist and that .dockerignore allows', () => {
    const sources = dockerfile
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(sources).toContain('package-lock.json');
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
    const isLetIn = (source: string) => ignored.includes(`!${source}`) || ignored.includes(`!${source.split('/')[0]}`);
    expect(sources.filter((source) => !isLetIn(source))).toEqual([]);
  });

  it('copies from the build stage the folders that the build makes', () => {
    const taken = dockerfile
      .filter((line) => line.startsWith('COPY --from=build'))
      .map((line) => line.split(/\s+/)[2]!.replace('/app/', ''));
    expect(taken).toEqual(['build', 'dist']);
    const { bin, files } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(files).toEqual(expect.arrayContaining(taken));
    expect(dockerfile).toContain(`ENTRYPOINT ["node", "${bin.hedgerow.replace('./', '')}"]`);
  });

  it('runs as an unprivileged user and checks the probe that needs no key', () => {
    const at = (start: string) => dockerfile.findIndex((line) => line.startsWith(start));
    expect(dockerfile[at('USER')]).toBe('USER node');
    expect(at('USER')).toBeGreaterThan(at('RUN mkdir /data'));
    expect(at('ENTRYPOINT')).toBeGreaterThan(at('USER'));
    expect(dockerfile[at('HEALTHCHECK') + 1]).toContain('/health/live');
  });

  it('reports a service as healthy only if it answers with success', async () => {
    const script = dockerfile.flatMap((line) => /"-e", "([^"]*)"/.exec(line)?.slice(1) ?? [])[0]!;
    let status = 200;
    const server = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const probe = () =>
      new Promise<number | null>((resolve) => {
        const env = { ...process.env, HEDGEROW_PORT: String(port) };
        spawn(process.execPath, ['-e', script], { env, stdio: 'ignore' }).on('exit', resolve);
      });
    const codes = [await probe()];
    status = 503;
    codes.push(await probe());
    await new Promise((resolve) => server.close(resolve));
    codes.push(await probe());
    expect(codes).toEqual([0, 1, 1]);
  });
});

it('the package contains all files for deployment', () => {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(files).toContain(DEPLOY);
  const kept = (readdirSync(DEPLOY, { recursive: true }) as string[]).filter((path) => /\.\w+$/.test(path));
  for (const path of kept) expect(readFileSync(join(DEPLOY, path), 'utf8').length).toBeGreaterThan(0);
});
