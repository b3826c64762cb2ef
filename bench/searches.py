#!/usr/bin/env python3
"""Reports that search, over the zoo: the worst five, in seconds of the CPU.

usage: bench/searches.py NETC
"""
import glob
import os
import sys

KINDS = [[], ["--checkpoint", "auto", "--gpu", "a100-80"], ["--pipeline", "8"]]


def seconds(command):
    """User and system time of a command whose output is thrown away."""
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0)
            for fd in (1, 2)]
    process = os.posix_spawn(command[0], command, os.environ,
                             file_actions=null)
    _, _, used = os.wait4(process, 0)
    return used.ru_utime + used.ru_stime


for options in KINDS:
    taken = sorted(((seconds([sys.argv[1], net] + options), net)
                    for net in glob.glob("examples/zoo/*.net")), reverse=True)
    worst = ", ".join(f"{os.path.basename(net)[:-4]} {time:.3f}"
                      for time, net in taken[:5])
    print(f"{' '.join(options) or 'report'}: all "
          f"{sum(time for time, _ in taken):.2f} s; {worst}")
