import type { World } from '../world.ts';
export interface DemoFlags {
  seed?: string;
}
export async function demoCommand(_f: DemoFlags, _w: World): Promise<number> {
  return 0;
}
