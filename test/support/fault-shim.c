/*
 * Makes system calls of a server under test fail, for tests of what it does then. Loaded by LD_PRELOAD; LMDB writes from
 * native code, so faults must come from below it.
 *
 * The file that TUFFET_FAULTS names says which calls fail; it is read at every call, so a test may change it at any time:
 *
 *     KINDS ERRNO EVERY PATH
 *
 * KINDS is a list, joined by commas:
 *   write   writing to a file fails;
 *   short   writing pages (pwrite, writev, pwritev) takes only a part of the bytes, which LMDB makes EIO of;
 *   meta    writing to a descriptor that syncs with every write fails (LMDB's meta pages);
 *   sync    fsync and fdatasync fail.
 * Every EVERYth such call on a file whose path has PATH in it fails. Each failure is noted as a line in
 * TUFFET_FAULTS.log. Single writes of LMDB's pages are cut short rather than refused because lmdb-js 3.5.6 overruns a buffer
 * when it words the error of the latter: use `write` there only from a quiet moment on, and for all writes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_uint calls;

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (real == NULL) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t plain_write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  return real(fd, bytes, count);
}

static int read_control(const char *file, char *kinds, int *error, unsigned *every, char *path) {
  char text[512];
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  return sscanf(text, "%63s %d %u %255s", kinds, error, every, path) == 4 && *every > 0;
}

static void note(const char *file, const char *kind, const char *path) {
  char name[512], line[700];
  snprintf(name, sizeof name, "%s.log", file);
  int length = snprintf(line, sizeof line, "%s %s\n", kind, path);
  int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (plain_write(fd, line, length) < 0) { /* The test misses a line; nothing can be done here. */ }
  close(fd);
}

/* Whether this call shall fail; errno is set then. */
static int fails(int fd, const char *kind) {
  const char *file = getenv("TUFFET_FAULTS");
  char kinds[64], path[256], link[64], target[512];
  int error;
  unsigned every;
  if (file == NULL || !read_control(file, kinds, &error, &every, path)) return 0;
  if (fcntl(fd, F_GETFL) & O_DSYNC) {
    if (strcmp(kind, "short") == 0) return 0;
    if (strcmp(kind, "write") == 0) kind = "meta";
  }
  if (strstr(kinds, kind) == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = 0;
  if (strstr(target, path) == NULL) return 0;
  if ((atomic_fetch_add(&calls, 1) + 1) % every != 0) return 0;
  note(file, kind, target);
  errno = error;
  return 1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  return fails(fd, "write") ? -1 : plain_write(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
  if (fails(fd, "write")) return -1;
  return real(fd, bytes, fails(fd, "short") ? count / 2 : count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  if (fails(fd, "write")) return -1;
  return real(fd, bytes, fails(fd, "short") ? count / 2 : count, at);
}

ssize_t writev(int fd, const struct iovec *list, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  if (fails(fd, "write")) return -1;
  return real(fd, list, fails(fd, "short") ? count / 2 : count);
}

ssize_t pwritev(int fd, const struct iovec *list, int count, off_t at) {
  REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
  if (fails(fd, "write")) return -1;
  return real(fd, list, fails(fd, "short") ? count / 2 : count, at);
}

ssize_t pwritev64(int fd, const struct iovec *list, int count, off64_t at) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  if (fails(fd, "write")) return -1;
  return real(fd, list, fails(fd, "short") ? count / 2 : count, at);
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  return fails(fd, "sync") ? -1 : real(fd);
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return fails(fd, "sync") ? -1 : real(fd);
}
