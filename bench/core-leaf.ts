// stub
export async function runCoreLeaf(_: { tiny: boolean }): Promise<{ oursNs: number }[]> { return []; }
