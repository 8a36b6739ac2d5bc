"""A machine's clock that is set while processes run, as far as they can see it.

A library is loaded before all others (LD_PRELOAD) into the relay and what it starts. It adds to what
the clock says as much as stands in a file; the monotonic clock is as it is. It is compiled here, by
the C compiler that the tests need anyway.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const long long *ahead;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("RELAY_TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *shared = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED)
        ahead = shared;
    close(fd);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        now->tv_sec += *ahead;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec t;
    int failed = clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}
"""


class SetClock:
    """The clock of the processes that are given `environment`."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ahead"
        self._library = folder / "clock.so"
        self._file.write_bytes(bytes(8))
        source = folder / "clock.c"
        source.write_text(SOURCE)
        command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(self._library), str(source)]
        subprocess.run(command, check=True)

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "RELAY_TEST_CLOCK": str(self._file)}

    def set_ahead(self, hours: float) -> None:
        """From now on it is so far ahead of the machine's; behind it, if negative."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("q", round(hours * 3600)))
