// `hedgerow serve`: runs the service until a signal stops it.

import { type App, type Opened, startApp } from '../app.ts';
import { transportLine } from '../http/index.ts';
import { loadSettings, type SettingFlags } from './config/load.ts';
import { reportFailure, type World } from './world.ts';

/** Resolves with the exit code after the service has stopped. */
export async function serve(flags: SettingFlags, world: World): Promise<number> {
  let app: App;
  try {
    app = await startApp(loadSettings(flags, world));
  } catch (error) {
    return reportFailure(world, error);
  }
  const stopped = new Promise<string>((resolve) => {
    world.onInterrupt(resolve);
  });
  const forgetHangup = world.onHangup(() => app.reopenLogs());
  try {
    await Promise.race([stopped, app.ready.then((opened) => showAddress(app, opened, world))]);
  } catch (error) {
    // Reports why the start failed, not the errors of closing afterwards.
    await app.close('start failed').catch(() => undefined);
    return reportFailure(world, error);
  }
  try {
    await app.close(await stopped);
  } catch (error) {
    return reportFailure(world, error);
  }
  forgetHangup();
  return 0;
}

/**
 * Prints the address after the directory has been locked and opened; until then the readiness probe
 * and all routes that need the database answer 503. Prints the first key to standard output,
 * because log lines are stored and sent elsewhere and must never contain a key.
 */
function showAddress({ url, transport }: App, { firstKey }: Opened, world: World): void {
  world.stdout.write(`hedgerow: listening on ${url}\nhedgerow: ${transportLine(transport)}\n`);
  if (firstKey === undefined) return;
  world.stdout.write(`hedgerow: first admin key, shown this once only: ${firstKey}\n`);
}
