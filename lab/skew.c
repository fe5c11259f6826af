/* Another time of day for one process: CLOCK_REALTIME off by DROVER_LAB_SKEW_S seconds. Preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) {
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  }
  int failed = real(id, at);
  const char *skew = getenv("DROVER_LAB_SKEW_S");
  if (!failed && id == CLOCK_REALTIME && skew) {
    at->tv_sec += atol(skew);
  }
  return failed;
}
