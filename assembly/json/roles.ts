// Writes the role lists of a row as JSON: `,"roles":{"sender":[1],"recipient":[2,3]}`.

import { element, get } from '../memory/cells';
import { writeMark } from './marks';
import { writeInt } from './number';
import { copyText } from './text';

/*
 * The roles of a row plan follow its columns: {u32 text offset, u32 text bytes} per role, in the
 * order of the bits. The text is what stands before the members of the role: `,"roles":{"sender":[`
 * for the first one, `],"recipient":[` for each other one.
 */
const T_TEXT: usize = 0;
const T_BYTES: usize = 4;
const T_SIZE: usize = 8;

/** Maximum size in bytes of a member with the comma after it. */
const MEMBER_BYTES: u32 = 18;

/** Returns an upper bound on the size in bytes of the lists of a row, without their members. */
export function rolesBound(plan: usize, roles: usize, n: u32): u32 {
  let bytes: u32 = 2;
  for (let role: u32 = 0; role < n; role++) bytes += load<u32>(element(roles, role, T_SIZE) + T_BYTES);
  return bytes;
}

/** Returns an upper bound on the size in bytes of the members in the lists of a row. */
export function roleMembersBound(masks: usize, size: u32): u32 {
  if (!masks) return 0;
  let count: u32 = 0;
  for (let i: u32 = 0; i < size; i++) count += popcnt(<u32>get<u16>(masks, i));
  return count * MEMBER_BYTES;
}

/**
 * Writes the lists of a row: `masks` are those of its `size` members (u16, 0: none), `members`
 * their ids (i64), written as marks if `isNamed`. `roles` is the address of the n roles in the
 * plan. Returns the end.
 */
export function writeRoles(
  out: usize,
  plan: usize,
  roles: usize,
  n: u32,
  masks: usize,
  members: usize,
  size: u32,
  isNamed: u32,
): usize {
  let at = out;
  for (let role: u32 = 0; role < n; role++) {
    const text = element(roles, role, T_SIZE);
    at = copyText(at, plan + load<u32>(text + T_TEXT), load<u32>(text + T_BYTES));
    if (!masks) continue;
    const start = at;
    for (let i: u32 = 0; i < size; i++) {
      if (!((<u32>get<u16>(masks, i) >> role) & 1)) continue;
      at = isNamed ? writeMark(at, get<i64>(members, i)) : writeInt(at, get<i64>(members, i));
      store<u8>(at, 0x2c);
      at++;
    }
    if (at > start) at--;
  }
  store<u16>(at, 0x7d5d);
  return at + 2;
}
