// `hedgerow serve`: runs the service until it is told to stop.

import { type App, type Opened, startApp } from '../app.ts';
import { loadSettings, type SettingFlags } from './config/load.ts';
import { reportFailure, type World } from './world.ts';

/** Resolves with the exit code once the service has stopped. */
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
  world.stdout.write(`hedgerow: listening on ${app.url}\n`);
  try {
    await Promise.race([stopped, app.ready.then((opened) => showFirstKey(opened, world))]);
  } catch (error) {
    await app.close('start failed');
    return reportFailure(world, error);
  }
  await app.close(await stopped);
  forgetHangup();
  return 0;
}

/** On standard output, where the address stands too: log lines are kept and sent elsewhere, and must never hold a key. */
function showFirstKey({ firstKey }: Opened, world: World): void {
  if (firstKey === undefined) return;
  world.stdout.write(`hedgerow: first admin key, shown this once only: ${firstKey}\n`);
}
