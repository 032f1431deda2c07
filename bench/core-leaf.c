/* The C peers of bench/core-leaf.ts: `leaf kernel file units budgetMs` prints the best ns per unit.
 * The file holds u32 na, u32 nb, u32 bytes of a, then a and b. Scalar code, left to gcc -O3 to vectorise. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

static u32 crc_table[16][256];
static void crc_fill(void) {
  for (u32 i = 0; i < 256; i++) {
    u32 c = i;
    for (int b = 0; b < 8; b++) c = (c >> 1) ^ (0x82f63b78u & (0u - (c & 1)));
    crc_table[0][i] = c;
  }
  for (int t = 1; t < 16; t++)
    for (u32 i = 0; i < 256; i++) crc_table[t][i] = (crc_table[t - 1][i] >> 8) ^ crc_table[0][crc_table[t - 1][i] & 255];
}
static u32 crc(const u8 *p, u32 n) {
  u32 c = ~0u;
  for (; n >= 16; p += 16, n -= 16) {
    u32 w[4], x = 0;
    memcpy(w, p, 16);
    w[0] ^= c;
    for (int i = 0; i < 4; i++)
      for (int b = 0; b < 4; b++) x ^= crc_table[15 - i * 4 - b][(w[i] >> (8 * b)) & 255];
    c = x;
  }
  while (n--) c = (c >> 8) ^ crc_table[0][(c ^ *p++) & 255];
  return ~c;
}

#define MERGE(name, T, emit_less, emit_equal, emit_greater)                              \
  static u32 name(const T *a, u32 na, const T *b, u32 nb, T *out) {                      \
    u32 i = 0, j = 0, k = 0;                                                             \
    while (i < na && j < nb) {                                                           \
      T x = a[i], y = b[j];                                                              \
      out[k] = x < y ? x : emit_greater ? y : x;                                         \
      k += (x < y && emit_less) | (x == y && emit_equal) | (x > y && emit_greater);      \
      i += x <= y;                                                                       \
      j += y <= x;                                                                       \
    }                                                                                    \
    if (emit_less) while (i < na) out[k++] = a[i++];                                     \
    if (emit_greater) while (j < nb) out[k++] = b[j++];                                  \
    return k;                                                                            \
  }
MERGE(common16, u16, 0, 1, 0)
MERGE(common32, u32, 0, 1, 0)
MERGE(missing32, u32, 1, 0, 0)
MERGE(either32, u32, 1, 1, 1)

static u32 gallop32(const u32 *a, u32 na, const u32 *b, u32 nb, u32 *out) {
  u32 k = 0, low = 0;
  for (u32 i = 0; i < na; i++) {
    u32 step = 1;
    while (low + step < nb && b[low + step] < a[i]) low += step, step <<= 1;
    u32 n = (low + step < nb ? low + step : nb) - low;
    while (n > 1) {
      u32 half = n >> 1;
      low += b[low + half - 1] < a[i] ? half : 0;
      n -= half;
    }
    low += n == 1 && b[low] < a[i];
    if (low >= nb) break;
    out[k] = a[i];
    k += b[low] == a[i];
  }
  return k;
}

static u64 mix(u64 z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int holds(const u8 *filter, u32 bytes, u64 node) {
  u64 h = mix(node), pos = h * 0x9e3779b97f4a7c15u;
  const u64 *block = (const u64 *)(filter + ((((h >> 32) * (bytes >> 6)) >> 32) << 6));
  for (int k = 0; k < 7; k++, pos <<= 9)
    if (!((block[pos >> 61] >> ((pos >> 55) & 63)) & 1)) return 0;
  return 1;
}

static u32 write_text(const u8 *p, u32 n, u8 *out) {
  u8 *o = out;
  *o++ = '"';
  for (u32 i = 0; i < n; i++) {
    u8 c = p[i];
    if (c >= 0x20 && c != '"' && c != '\\') *o++ = c;
    else if (c == '"' || c == '\\') *o++ = '\\', *o++ = c;
    else if (c == '\n') *o++ = '\\', *o++ = 'n';
    else o += sprintf((char *)o, "\\u%04x", c);
  }
  *o++ = '"';
  return (u32)(o - out);
}

static void radix(u64 *keys, u32 *rows, u32 n, u64 *keys2, u32 *rows2) {
  static u32 h[8][256];
  memset(h, 0, sizeof h);
  for (u32 i = 0; i < n; i++) {
    int64_t raw = (int64_t)keys[i];
    u64 x = keys[i] ^ ((u64)(raw >> 63) | 1ull << 63);
    keys[i] = x;
    for (int d = 0; d < 8; d++) h[d][(x >> (8 * d)) & 255]++;
  }
  u64 *fk = keys, *tk = keys2;
  u32 *fr = rows, *tr = rows2;
  for (int d = 0; d < 8; d++) {
    u32 sum = 0, skip = 0;
    for (int i = 0; i < 256; i++) {
      u32 c = h[d][i];
      skip |= c == n;
      h[d][i] = sum;
      sum += c;
    }
    if (skip) continue;
    for (u32 i = 0; i < n; i++) {
      u32 at = h[d][(fk[i] >> (8 * d)) & 255]++;
      tk[at] = fk[i];
      tr[at] = fr[i];
    }
    u64 *k = fk; fk = tk; tk = k;
    u32 *r = fr; fr = tr; tr = r;
  }
  if (fr != rows) memcpy(rows, fr, 4ul * n);
  for (u32 i = 0; i < n; i++) keys[i] = fk[i] ^ (~(u64)((int64_t)fk[i] >> 63) | 1ull << 63);
}

static u32 run(const char *kernel, const u8 *a, u32 na, const u8 *b, u32 nb, u8 *out) {
  u32 sum = 0;
  if (!strcmp(kernel, "crc")) return crc(a, na);
  if (!strcmp(kernel, "common16")) return common16((u16 *)a, na, (u16 *)b, nb, (u16 *)out);
  if (!strcmp(kernel, "common32")) return common32((u32 *)a, na, (u32 *)b, nb, (u32 *)out);
  if (!strcmp(kernel, "gallop32")) return gallop32((u32 *)a, na, (u32 *)b, nb, (u32 *)out);
  if (!strcmp(kernel, "missing32")) return missing32((u32 *)a, na, (u32 *)b, nb, (u32 *)out);
  if (!strcmp(kernel, "either32")) return either32((u32 *)a, na, (u32 *)b, nb, (u32 *)out);
  if (!strcmp(kernel, "text")) return write_text(a, na, out);
  if (!strcmp(kernel, "widen"))
    for (u32 i = 0; i < na; i++) ((u32 *)out)[i] = ((u16 *)a)[i];
  if (!strcmp(kernel, "probe"))
    for (u32 i = 0; i < nb; i++) sum += holds(a, na, ((u64 *)b)[i]);
  if (!strcmp(kernel, "int"))
    for (u32 i = 0; i < na; i++) sum += sprintf((char *)out, "%lld", ((long long *)a)[i]);
  if (!strcmp(kernel, "float"))
    for (u32 i = 0; i < na; i++) sum += sprintf((char *)out, "%.17g", ((double *)a)[i]);
  if (!strcmp(kernel, "order")) {
    u32 *rows = (u32 *)(out + 8ul * na);
    memcpy(out, a, 8ul * na);
    for (u32 i = 0; i < na; i++) rows[i] = i;
    radix((u64 *)out, rows, na, (u64 *)(out + 12ul * na + (na & 1) * 4), (u32 *)(out + 20ul * na + (na & 1) * 4));
  }
  return sum + out[0];
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  FILE *file = fopen(argv[2], "rb");
  u32 head[3];
  if (!file || fread(head, 4, 3, file) != 3) return 2;
  u8 *a = aligned_alloc(64, 16 << 20), *b = aligned_alloc(64, 16 << 20), *out = aligned_alloc(64, 64 << 20);
  if (fread(a, 1, head[2], file) != head[2]) return 2;
  if (fread(b, 1, 16 << 20, file) == 0 && head[1] > 0) return 2;
  memset(out, 1, 64 << 20);
  crc_fill();
  volatile u32 sink = 0;
  int repeats = (int)ceil(5000 / atof(argv[3]));
  double best = 1e30, start = now(), budget = atof(argv[4]) * 1e6;
  while (now() - start < budget) {
    double t = now();
    for (int i = 0; i < repeats; i++) sink += run(argv[1], a, head[0], b, head[1], out);
    t = (now() - t) / repeats;
    if (t < best) best = t;
  }
  printf("%.4f\n", best / atof(argv[3]));
  return 0;
}
