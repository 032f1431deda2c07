// Runs the host vectors in C: core.plain.wasm through wabt's wasm2c, compiled with any C compiler. No runtime, no engine.
//
// The test writes `steps.c` from vectors.json (one statement per step) and builds:
//   wasm2c build/core.plain.wasm -n core -o core.c
//   cc host.c core.c wasm-rt-impl.c -lm

#include <stdio.h>
#include <string.h>

#include "core.h"

// Older releases of wabt name things Z_coreZ_hg_..., newer ones w2c_core_hg_...
#ifdef WABT_NEW_NAMES
#define CORE(name) w2c_core_##name
typedef w2c_core Instance;
#define instantiate(instance) wasm2c_core_instantiate(instance)
#else
#define CORE(name) Z_coreZ_##name
typedef Z_core_instance_t Instance;
#define instantiate(instance) (Z_core_init_module(), Z_core_instantiate(instance))
#endif

static Instance instance;
static Instance *const core = &instance;
static const char *section = "start";
static int failures = 0;
static int steps = 0;

// Linear memory may move when it grows, so its address is read at every use.
static uint8_t *at(u32 address) { return (uint8_t *)CORE(memory)(core)->data + address; }

static u32 region(u32 bytes) { return CORE(hg_memory_alloc)(core, bytes); }

static void put_bytes(u32 address, const char *bytes, size_t length) { memcpy(at(address), bytes, length); }
static void put_words(u32 address, const u32 *words, size_t count) { memcpy(at(address), words, 4 * count); }
static void put_numbers(u32 address, const double *numbers, size_t count) { memcpy(at(address), numbers, 8 * count); }

static void is(const char *name, double result, double expected) {
  steps++;
  // u32 results and negative statuses compare as 32 bits.
  if (result == expected || (u32)(int64_t)result == (u32)(int64_t)expected) return;
  failures++;
  printf("%s: %s gave %.17g, not %.17g\n", section, name, result, expected);
}

static void holds(u32 address, const char *bytes, size_t length, const char *name) {
  steps++;
  if (memcmp(at(address), bytes, length) == 0) return;
  failures++;
  printf("%s: %s holds other bytes\n", section, name);
}

static void run(void) {
#include "steps.c"
}

int main(void) {
  wasm_rt_init();
  instantiate(core);
  run();
  printf("%d checks, %d failures\n", steps, failures);
  return failures == 0 ? 0 : 1;
}
