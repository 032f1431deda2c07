// Exports the core's leaf functions under their own names, so that leaf.test.ts and
// bench/core-leaf.ts can compile them alone.
export { crc32c } from '../../assembly/codec/crc32c';
export { filterBuild, filterBytes, filtersProbe, filterTest } from '../../assembly/fmi/filter';
export {
  difference32,
  intersect16,
  intersect32,
  lowerBound16,
  lowerBound32,
  union32,
  widen16,
} from '../../assembly/fmi/sets';
export { writeFloat, writeInt } from '../../assembly/json/number';
export { textNeed, writeText } from '../../assembly/json/text';
export { psiLower, psiOrder, psiUpper } from '../../assembly/psi/order';
