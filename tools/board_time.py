#!/usr/bin/env python3
"""Writes memory/instructions.def: instructions of a product, by core.

Usage: tools/board_time.py NETC >memory/instructions.def    (make board-time)

Nets of one layer are compiled as examples/firmware does it, for the cores of
tools/board_code.py, and run in QEMU, whose -icount counts instructions. Shapes
are those that a kernel computes with the fewest instructions, so that no net
takes fewer. QEMU has no machine for some cores; their code runs on a core that
has all of their instructions.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from board_code import ARM, CORES, FLAGS, run

# Machine, Hz of its clock, script of the linker.
MPS2 = ('arm', 'mps2-an500', 25e6, 'cortex-m/mps2-an500.ld')
MPS3 = ('arm', 'mps3-an547', 32e6, 'cortex-m/mps2-an500.ld')
VIRT = ('riscv32', 'virt', 1e9, 'riscv/virt.ld')
MACHINES = {'cortex-m0plus': MPS2, 'cortex-m4': MPS2, 'cortex-m7': MPS2,
            'cortex-m33': MPS3, 'cortex-m55': MPS3, 'rv32imc': VIRT,
            'rv32imac': VIRT}
# Kinds of layers with products: memory/firmware.c.
PROBES = {
    'conv': ['input 10x10x32\nconv 32 3x3', 'input 6x6x64\nconv 64 1x1',
             'input 6x6x128\nconv 64 3x3'],
    # At most 9 values of the input for an output, and more.
    'depthwise_9': ['input 9x9x32\nconv 32 3x3 groups=32',
                    'input 15x9x32\nconv 32 9x1 groups=32'],
    'depthwise': ['input 9x9x32\nconv 32 5x5 groups=32',
                  'input 12x12x16\nconv 16 7x7 groups=16'],
    'linear': ['input 512\nfc 128', 'input 2048\nfc 32'],
}
MAIN = r"""
#include <stdint.h>
#include <stdio.h>
#include "probe.h"
#if PROBE_INPUT_0_BYTES == PROBE_INPUT_0_COUNT
typedef int8_t number;
#else
typedef float number;
#endif
static number in[PROBE_INPUT_0_COUNT], out[PROBE_OUTPUT_0_COUNT];
#ifdef __riscv
static uint32_t now(void) {
  uint32_t count;
  __asm__ volatile("csrr %0, minstret" : "=r"(count));
  return count;
}
#else /* SysTick counts down: Armv7-M, B3.3 */
#define SYSTICK ((volatile uint32_t *)0xe000e010)
static uint32_t now(void) {
  if (SYSTICK[0] != 5) {
    SYSTICK[1] = 0xffffff;
    SYSTICK[2] = 0;
    SYSTICK[0] = 5;
    return 0;
  }
  return 0xffffff - SYSTICK[2];
}
#endif
int main(void) {
  for (int i = 0; i < PROBE_INPUT_0_COUNT; i++)
    in[i] = (number)(i % 17 + 1);
  uint32_t first = now();
  int status = probe_run(in, out);
  uint32_t last = now();
  printf("status %d ticks %lu\n", status, (unsigned long)(last - first));
  return status;
}
"""


class Runner:
    def __init__(self, netc, word, tool, options, folder):
        arch, self.machine, self.clock, script = MACHINES[word]
        self.netc, self.tool, self.folder = netc, tool, folder
        self.emulator = f'qemu-system-{arch}'
        self.flags = options.split() + FLAGS
        if arch != 'arm':
            self.flags.append('-mcmodel=medany')
        self.link = ['--oslib=semihost', '--crt0=hosted',
                     f'-Texamples/{script}', '-Wl,-z,noexecstack']
        self.objects = [self.compile(s) for s in sorted(glob.glob('runtime/*.c'))]

    def compile(self, source):
        to = f'{self.folder}/{os.path.basename(source)}.o'
        flags = [f + '_zicsr' if f.startswith('-march') and 'main' in source
                 else f for f in self.flags]
        run(self.tool + 'gcc', *flags, '-Iruntime', f'-I{self.folder}',
            '-c', source, '-o', to)
        return to

    def instructions(self, text):
        """Instructions of a net, and its products."""
        at = f'{self.folder}/probe'
        with open(at + '.net', 'w') as file:
            file.write('net probe\n' + text)
        with open(at + '_main.c', 'w') as file:
            file.write(MAIN)
        figures = run(self.netc, at + '.net', '--emit=json')
        macs = json.loads(figures)['totals']['mac_count']
        run(self.netc, at + '.net', '--header=deploy', '--prefix=probe', '-o',
            at + '.h', '-o', at + '.c')
        run(self.netc, 'weights', at + '.net', '--random', '1', '--fold',
            '--prefix=probe', '-o', at + '_weights.S')
        parts = [self.compile(at + end)
                 for end in ('.c', '_main.c', '_weights.S')]
        run(self.tool + 'gcc', *self.flags, *self.objects, *parts,
            '-Wl,--gc-sections', *self.link, '-lm', '-o', at + '.elf')
        said = run('timeout', '60', self.emulator, '-icount', 'shift=0', '-M',
                   self.machine, '-display', 'none', '-monitor', 'none',
                   '-serial', 'none', '-chardev', 'stdio,id=host',
                   '-semihosting-config',
                   'enable=on,target=native,chardev=host',
                   *(['-bios', 'none'] if 'riscv' in self.emulator else []),
                   '-kernel', at + '.elf')
        status, ticks = map(int, re.findall(r'\d+', said))
        if status:
            sys.exit(f'{text}: status {status}')
        return ticks * 1e9 / self.clock, macs

    def least(self, kind, dtype):
        """Hundredths of an instruction for each product, rounded down."""
        ends = f'\ninfer dtype={dtype}\n'
        found = [self.instructions(text + ends) for text in PROBES[kind]]
        return min(int(100 * count / macs) for count, macs in found)


def main(netc):
    versions = {tool: run(tool + 'gcc', '--version').splitlines()[0]
                for tool in dict.fromkeys(tool for _, tool, _ in CORES)}
    rows = {(kind, dtype): [] for kind in PROBES for dtype in ('f32', 'i8')}
    for word, tool, options in CORES:
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(netc, word, tool, options, folder)
            for kind, dtype in rows:
                rows[kind, dtype].append(runner.least(kind, dtype))
    print(f"""/*
 * Instructions: hundredths of an instruction for each product of a layer,
 * counted in QEMU. Made by `make board-time` (tools/board_time.py) with
 * {(chr(10) + ' * ').join(versions.values())}
 * at -Os with NETRT_SMALL. The columns are those of memory/kernels.def: the
 * measured cores of sema/model/cores.def. Layers that suit the kernels best
 * were measured, so that others take more.
 */
#ifndef INSTRUCTIONS
#define INSTRUCTIONS(...)
#endif
""")
    for (kind, dtype), counts in rows.items():
        constant = 'ELEMENT_' + dtype.upper()
        row = f'INSTRUCTIONS({kind.upper()}, {constant}, {counts[0]}'
        for count in counts[1:]: # a line has 80 columns
            last = row.rsplit('\n', 1)[-1]
            row += f',\n             {count}' if len(last) > 72 else f', {count}'
        print(row + ')')
    print('\n#undef INSTRUCTIONS')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
