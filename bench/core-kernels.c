/* The C peers of bench/core-kernels.ts: `kernels kernel file budgetMs` prints the best ns of a run and its result.
 * The file holds u32 rows, incidences, queries; then i64 times[rows], u32 counts[rows], i64 members[incidences],
 * i64 queries[2 * queries] (windows for seek and range, nodes for lookup and both). Scalar code, left to gcc -O3. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

static u32 rows, n, queries;
static i64 *times, *members, *query;
static u32 *counts, *starts;
static u8 *out, *records;
static i64 *nodes;
static u32 node_count, *offsets, *list;
static u16 *postings;

static u32 encode(u8 *to) {
  u8 *o = to;
  const i64 *m = members;
  for (u32 row = 0; row < rows; row++) {
    u8 *record = o, *control = o + 24;
    u32 k = counts[row], head = k;
    u64 id = row + 1;
    memcpy(record + 4, &head, 4);
    memcpy(record + 8, &times[row], 8);
    memcpy(record + 16, &id, 8);
    o = control + ((k + 3) >> 2);
    memset(control, 0, (k + 3) >> 2);
    i64 before = 0;
    for (u32 i = 0; i < k; i++) {
      i64 member = *m++;
      u64 v = i ? (u64)(member - before) : (u64)((member << 1) ^ (member >> 63));
      u32 code = (v > 0xff) + (v > 0xffff) + (v > 0xffffffff);
      before = member;
      memcpy(o, &v, 8);
      o += 1u << code;
      control[i >> 2] |= (u8)(code << ((i & 3) << 1));
    }
    u32 size = (u32)(o - record);
    memcpy(record, &size, 4);
  }
  return (u32)(o - to);
}

static u32 decode(void) {
  const u8 *r = records;
  u32 sum = 0;
  i64 *to = (i64 *)out;
  for (u32 row = 0; row < rows; row++) {
    u32 size, k = r[4];
    memcpy(&size, r, 4);
    const u8 *control = r + 24, *data = control + ((k + 3) >> 2);
    i64 before = 0;
    for (u32 i = 0; i < k; i++) {
      u32 code = (control[i >> 2] >> ((i & 3) << 1)) & 3;
      u64 v;
      memcpy(&v, data, 8);
      v &= ~0ull >> (64 - (8u << code));
      data += 1u << code;
      before = i ? before + (i64)v : (i64)(v >> 1) ^ -(i64)(v & 1);
      to[i] = before;
    }
    sum += (u32)to[k - 1];
    r += size;
  }
  return sum;
}

static u32 seek(i64 time) {
  u32 base = 0, length = rows;
  while (length > 1) {
    u32 half = length >> 1;
    base += times[base + half - 1] < time ? half : 0;
    length -= half;
  }
  return base + (length && times[base] < time);
}

static u32 range(i64 from, i64 to) {
  u32 first = seek(from), end = seek(to + 1);
  for (u32 row = first; row < end; row++) list[row - first] = row;
  return end - first;
}

/* Dictionary and posting lists, by counting (set-up, not timed). */
static int by_node(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}
static u32 ordinal(i64 node) {
  u32 base = 0, length = node_count;
  while (length > 1) {
    u32 half = length >> 1;
    base += nodes[base + half - 1] < node ? half : 0;
    length -= half;
  }
  base += nodes[base] < node;
  return base < node_count && nodes[base] == node ? base : ~0u;
}
static void index_nodes(void) {
  nodes = malloc(8ul * n);
  memcpy(nodes, members, 8ul * n);
  qsort(nodes, n, 8, by_node);
  for (u32 i = 0; i < n; i++)
    if (!i || nodes[i] != nodes[node_count - 1]) nodes[node_count++] = nodes[i];
  offsets = calloc(node_count + 2, 4);
  postings = malloc(2ul * n);
  for (u32 i = 0; i < n; i++) offsets[ordinal(members[i]) + 2]++;
  for (u32 i = 2; i < node_count + 2; i++) offsets[i] += offsets[i - 1];
  for (u32 row = 0, at = 0; row < rows; row++)
    for (u32 i = 0; i < counts[row]; i++, at++) postings[offsets[ordinal(members[at]) + 1]++] = (u16)row;
}

static u32 lookup(i64 node) {
  u32 at = ordinal(node);
  if (at == ~0u) return 0;
  u32 count = offsets[at + 1] - offsets[at];
  const u16 *from = postings + offsets[at];
  for (u32 i = 0; i < count; i++) list[i] = from[i];
  return count;
}

static u32 both(i64 left, i64 right) {
  u32 x = ordinal(left), y = ordinal(right);
  if (x == ~0u || y == ~0u) return 0;
  u32 na = offsets[x + 1] - offsets[x], nb = offsets[y + 1] - offsets[y], i = 0, j = 0, k = 0;
  const u16 *a = postings + offsets[x], *b = postings + offsets[y];
  while (i < na && j < nb) {
    u16 p = a[i], q = b[j];
    list[k] = p;
    k += p == q;
    i += p <= q;
    j += q <= p;
  }
  return k;
}

static u32 reconcile(void) {
  u32 dead_count = rows / 8, kept = 0, j = 0;
  u32 *dead = (u32 *)out;
  for (u32 row = 0; row < rows; row++) list[row] = row;
  for (u32 i = 0; i < rows; i++) {
    u32 row = list[i];
    while (j < dead_count && dead[j] < row) j++;
    list[kept] = row;
    kept += !(j < dead_count && dead[j] == row);
  }
  return kept;
}

#define RUNS 4
static u8 *run_start[RUNS], *run_end[RUNS];
static void deal_runs(void) {
  for (u32 r = 0; r < RUNS; r++) run_start[r] = run_end[r] = malloc(64ul * rows + 64ul * n);
  for (u32 row = 0; row < rows; row++) {
    u32 size = starts[row + 1] - starts[row];
    memcpy(run_end[row % RUNS], records + starts[row], size);
    run_end[row % RUNS] += size;
  }
}
static u32 merge(void) {
  const u8 *head[RUNS];
  const u8 **to = (const u8 **)out;
  u32 count = 0, live = 0;
  for (u32 r = 0; r < RUNS; r++) live += (head[r] = run_start[r]) < run_end[r];
  while (live) {
    u32 best = 0;
    i64 least = INT64_MAX, least_id = INT64_MAX, time, id;
    for (u32 r = 0; r < RUNS; r++) {
      if (head[r] >= run_end[r]) continue;
      memcpy(&time, head[r] + 8, 8);
      memcpy(&id, head[r] + 16, 8);
      if (time < least || (time == least && id < least_id)) best = r, least = time, least_id = id;
    }
    u32 size;
    memcpy(&size, head[best], 4);
    to[count++] = head[best];
    head[best] += size;
    live -= head[best] >= run_end[best];
  }
  return count;
}

static u8 *number(u8 *o, i64 value) {
  u8 digits[20], *d = digits + 20;
  u64 v = value < 0 ? *o++ = '-', -(u64)value : (u64)value;
  do *--d = (u8)('0' + v % 10);
  while (v /= 10);
  memcpy(o, d, digits + 20 - d);
  return o + (digits + 20 - d);
}
#define TEXT(text) (memcpy(o, text, sizeof text - 1), o += sizeof text - 1)
static u32 json(void) {
  u8 *o = out;
  const i64 *m = members;
  for (u32 row = 0; row < rows; row++) {
    if (row) *o++ = ',';
    TEXT("{\"id\":");
    o = number(o, row + 1);
    TEXT(",\"event_ts\":");
    o = number(o, times[row]);
    TEXT(",\"members\":[");
    for (u32 i = 0; i < counts[row]; i++) {
      if (i) *o++ = ',';
      o = number(o, *m++);
    }
    TEXT("],\"weight\":null,\"mean_dist_m\":null,\"formation\":null}");
  }
  return (u32)(o - out);
}

static u32 run(const char *kernel) {
  u32 sum = 0;
  if (!strcmp(kernel, "encode")) return encode(out);
  if (!strcmp(kernel, "decode")) return decode();
  if (!strcmp(kernel, "reconcile")) return reconcile();
  if (!strcmp(kernel, "merge")) return merge();
  if (!strcmp(kernel, "json")) return json();
  for (u32 i = 0; i < queries; i++) {
    i64 a = query[2 * i], b = query[2 * i + 1];
    if (kernel[0] == 's') sum += seek(a);
    else if (kernel[0] == 'r') sum += range(a, b);
    else if (kernel[0] == 'l') sum += lookup(a);
    else sum += both(a, b);
  }
  return sum + (list[0] == ~0u);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  FILE *file = fopen(argv[2], "rb");
  u32 head[3];
  if (!file || fread(head, 4, 3, file) != 3) return 2;
  rows = head[0], n = head[1], queries = head[2];
  times = malloc(8ul * rows), counts = malloc(4ul * rows), members = malloc(8ul * n), query = malloc(16ul * queries + 8);
  if (fread(times, 8, rows, file) != rows || fread(counts, 4, rows, file) != rows) return 2;
  if (fread(members, 8, n, file) != n || fread(query, 16, queries, file) != queries) return 2;
  out = calloc(1, 256ul * rows + 64ul * n), records = calloc(1, 64ul * rows + 64ul * n), list = calloc(rows + 64, 4);
  starts = malloc(4ul * rows + 4);
  encode(records);
  starts[0] = 0;
  for (u32 row = 0, at = 0, size; row < rows; row++) memcpy(&size, records + at, 4), starts[row + 1] = at += size;
  index_nodes();
  deal_runs();
  if (!strcmp(argv[1], "reconcile")) for (u32 i = 0; i < rows / 8; i++) ((u32 *)out)[i] = i * 8 + 3;
  double best = 1e30, start = now(), budget = atof(argv[3]) * 1e6;
  volatile u32 result = 0;
  while (now() - start < budget) {
    double t = now();
    result = run(argv[1]);
    t = now() - t;
    if (t < best) best = t;
  }
  printf("%.1f %u\n", best, result);
  return 0;
}
