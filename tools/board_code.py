#!/usr/bin/env python3
"""Writes memory/kernels.def: bytes of code and stack of each kernel, by core.

Usage: tools/board_code.py NETC >memory/kernels.def    (make board-code)

For each core, the runtime is compiled as examples/firmware does it (-Os,
NETRT_SMALL) and linked with picolibc once for each kernel, with garbage
collection. Sections that stay are those that the kernel needs, functions of
libm, libc and libgcc among them. A section that several kernels need is
counted once for all of them. Stack is read from the machine code: the deepest
path of calls, with all that a function takes from the stack pointer.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ARM = 'arm-none-eabi-'
RISCV = 'riscv64-unknown-elf-'
# In the order of the columns; the words are those of sema/model/cores.def.
CORES = [
    ('cortex-m0plus', ARM, '-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft'),
    ('cortex-m4', ARM,
     '-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard'),
    ('cortex-m7', ARM,
     '-mcpu=cortex-m7 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard'),
    ('cortex-m33', ARM,
     '-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard'),
    ('cortex-m55', ARM, '-mcpu=cortex-m55 -mthumb -mfloat-abi=hard'),
    ('rv32imc', RISCV, '-march=rv32imc -mabi=ilp32'),
    ('rv32imac', RISCV, '-march=rv32imac -mabi=ilp32'),
]
FLAGS = ('-Os -DNETRT_SMALL -DNETRT_RUN -ffunction-sections '
         '-fdata-sections --specs=picolibc.specs').split()
# No kernel is refused because a region of the linker's script is full.
ROOM = [f'-Wl,--defsym={name}' for name in
        ('__flash=0x10000', '__flash_size=0x400000', '__ram=0x20000000',
         '__ram_size=0x100000')]
ROOTS = ['netrt_open', 'netrt_run', 'netrt_input', 'netrt_copy_output',
         'memcpy']
TINY = 'net tiny\ninput 4\nrelu\n'


def run(*args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def kernels():
    """Constants of the operations by name, in the order of runtime/ops.def."""
    text = open('runtime/ops.def').read()
    text = text[text.index('#endif', text.index('define FAST')):]
    found = re.findall(r'^(?:OP|UNARY|FAST)\((\w+), (\w+),', text, re.M)
    return {name: constant for constant, name in found}


def sections(path):
    """Sections of a map that were not discarded: {(file, name): bytes}."""
    text = open(path).read()
    text = text[text.index('Linker script and memory map'):]
    found = {}
    for name, size, file in re.findall(
            r'^ (\.(?:text|rodata|srodata|data|sdata|bss|sbss|init|fini)\S*)'
            r'\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$', text, re.M):
        if int(size, 16):
            key = (os.path.basename(file), name)
            found[key] = found.get(key, 0) + int(size, 16)
    return found


def is_ram(section):
    return re.match(r'\.s?(data|bss)', section[1])


class Code:
    """The functions of an ELF file, by address: stack that each takes, calls.

    Static functions of several files may share a name.
    """

    def __init__(self, tool, elf):
        self.frame, self.calls, self.taken, self.jumps = {}, {}, {}, set()
        self.named = {}
        text = run(tool + 'objdump', '-d', '--no-show-raw-insn', elf)
        for address, name in re.findall(r'^([0-9a-f]+) <([^>]+)>:$', text,
                                        re.M):
            at = int(address, 16)
            self.named[name] = at
            self.frame[at], self.calls[at], self.taken[at] = 0, set(), set()
        at = None
        for line in text.splitlines():
            head = re.match(r'^([0-9a-f]+) <[^>]+>:$', line)
            if head:
                at = int(head.group(1), 16)
            elif at is not None and ':\t' in line:
                self.read(at, line.split(':\t', 1)[1])

    def read(self, at, code):
        self.frame[at] += frame_of(code)
        target = re.search(r'([0-9a-f]+) <[^>+]+>', code)
        word = re.match(r'\.word\s+0x([0-9a-f]+)', code)
        other = int(target.group(1), 16) if target else at
        if other != at and other in self.frame:
            called = re.match(r'(bl|b|blx|b\.w|b\.n|j|jal|call|tail|jalr)\b',
                              code)
            (self.calls if called else self.taken)[at].add(other)
        if word and int(word.group(1), 16) & ~1 in self.frame:
            self.taken[at].add(int(word.group(1), 16) & ~1)
        if re.match(r'(blx|bx)\s+r\d|jalr?\s+[ast]\d|jr\s+[ast]\d', code):
            self.jumps.add(at)

    def stack(self, name):
        return self.depth(self.named[name]) if name in self.named else 0

    def depth(self, at, above=()):
        """Stack of a function with all that it calls; a bound."""
        if at in above:
            return 0
        above = above + (at,)
        below = [self.depth(f, above) for f in self.calls[at]]
        # A function that it hands to another one is called from there.
        between = max([self.frame[f] for f in self.calls[at]
                       if f in self.jumps] + [0])
        below += [self.depth(f, above) + between for f in self.taken[at]]
        return self.frame[at] + max(below + [0])


def registers(names):
    count = 0
    for part in names.split(','):
        ends = re.findall(r'\d+', part)
        count += int(ends[1]) - int(ends[0]) + 1 if '-' in part else 1
    return count


def frame_of(code):
    """Bytes that an instruction takes from the stack pointer."""
    pushed = re.match(r'(v?)(?:push|stmdb\s+sp!,|stmfd\s+sp!,)\S*\s*\{(.*)\}',
                      code)
    if pushed:
        wide = pushed.group(1) and 'd' in pushed.group(2)
        return registers(pushed.group(2)) * (8 if wide else 4)
    for pattern in (r'subw?(?:\.w)?\s+sp, (?:sp, )?#(\d+)',
                    r'strd?(?:\.w)?\s+.*\[sp, #-(\d+)\]!',
                    r'addi?\s+sp,sp,-(\d+)'):
        taken = re.match(pattern, code)
        if taken:
            return int(taken.group(1))
    return 0


class Core:
    def __init__(self, netc, word, tool, options, names, folder):
        self.word, self.flags = word, options.split() + FLAGS
        self.tool, self.folder = tool, folder
        self.objects = []
        for source in sorted(glob.glob('runtime/*.c')):
            to = f'{folder}/{os.path.basename(source)[:-2]}.o'
            run(tool + 'gcc', *self.flags, '-Iruntime', '-c', source, '-o', to)
            self.objects.append(to)
        self.base = self.link(ROOTS)
        base = dict(self.base)
        self.kernels = {k: self.link(ROOTS + ['netrt_' + k]) for k in names}
        self.add_run(netc)
        all_ = self.link(ROOTS + ['netrt_kernels'])
        code = Code(tool, f'{folder}/a.elf')
        tiny = Code(tool, f'{folder}/tiny.o')
        run_frame = tiny.frame[tiny.named['tiny_run']]
        self.ends = run_frame + max(code.stack(f) for f in ROOTS)
        self.run = run_frame + code.stack('netrt_run')
        self.stack = {k: code.stack('netrt_reference_' + k) for k in names}
        # Of all kernels: picolibc's errno.
        self.state = self.ram(self.base) - self.ram(base) + self.ram(all_)

    def link(self, roots):
        wanted = [f'-Wl,-u,{root}' for root in roots]
        run(self.tool + 'gcc', *self.flags, '-nostartfiles', '-Wl,-e,netrt_run',
            '-Wl,--gc-sections', f'-Wl,-Map={self.folder}/a.map', *ROOM, *wanted,
            *self.objects, '-lm', '-o', f'{self.folder}/a.elf')
        return sections(f'{self.folder}/a.map')

    def add_run(self, netc):
        """The function that netc writes for a net, and its static struct."""
        tiny = f'{self.folder}/tiny'
        with open(tiny + '.net', 'w') as file:
            file.write(TINY)
        run(netc, tiny + '.net', '-o', tiny + '.h', '-o', tiny + '.c')
        run(self.tool + 'gcc', *self.flags, '-Iruntime', '-c', tiny + '.c', '-o',
            tiny + '.o')
        for line in run(self.tool + 'size', '-A', tiny + '.o').splitlines():
            cells = line.split()
            if re.match(r'\.(text\.tiny_run|s?bss\.net)', line):
                self.base['tiny.o', cells[0]] = int(cells[1])

    def groups(self):
        """Bytes of code by the kernels that need it; base is counted apart."""
        users, sizes = {}, {}
        for kernel, found in self.kernels.items():
            for section, size in found.items():
                if section not in self.base and not is_ram(section):
                    users.setdefault(section, []).append(kernel)
                    sizes[section] = max(size, sizes.get(section, 0))
        total = {}
        for section, by in users.items():
            by = tuple(by)
            total[by] = total.get(by, 0) + sizes[section]
        return total

    def ram(self, found):
        return sum(size for s, size in found.items() if is_ram(s))

    def base_code(self):
        return sum(size for s, size in self.base.items() if not is_ram(s))


def put_row(name, words, columns):
    """A row, in lines of at most 80 columns."""
    cells = ' '.join(words) + ', ' + ', '.join(str(c) for c in columns) + ')'
    line = f'{name}('
    for cell in cells.split(' '):
        if len(line) + len(cell) >= 80:
            print(line.rstrip())
            line = ' ' * (len(name) + 1)
        line += cell + ' '
    print(line.rstrip())


HEAD = '''/*
 * Kernels: bytes of code and stack, measured. Made by `make board-code`
 * (tools/board_code.py) with %s
 * and %s,
 * -Os, NETRT_SMALL and picolibc. The columns are the measured cores of
 * sema/model/cores.def, in that order.
 *
 * RUNTIME(code, state, ends, run): what every net needs, a row for each core:
 * code, the bytes of RAM of its struct netrt, stack of the functions that
 * open a net and copy values, and stack above a kernel's own.
 * SHARED(kernels, bytes..): code that these kernels, each a K(constant), need,
 * libm, libc and libgcc included; it is linked once.
 * STACK(constant, bytes..): stack of a kernel and all that it calls, at most.
 */
#ifndef RUNTIME
#define RUNTIME(...)
#endif
#ifndef SHARED
#define SHARED(...)
#endif
#ifndef STACK
#define STACK(...)
#endif
'''


def main():
    netc = os.path.abspath(sys.argv[1])
    names = kernels()
    measured = []
    for word, tool, options in CORES:
        with tempfile.TemporaryDirectory() as folder:
            measured.append(Core(netc, word, tool, options, names, folder))
        print(word, file=sys.stderr)
    print(HEAD % tuple(run(t + 'gcc', '--version').splitlines()[0]
                       for t in (ARM, RISCV)))
    for core in measured:
        print(f'RUNTIME({core.base_code()}, {core.state}, {core.ends}'
              f', {core.run}) /* {core.word} */')
    print()
    groups = [core.groups() for core in measured]
    order = {k: i for i, k in enumerate(names)}
    every = sorted({by for g in groups for by in g},
                   key=lambda by: (len(by), [order[k] for k in by]))
    for by in every:
        put_row('SHARED', [f'K({names[k]})' for k in by],
                [g.get(by, 0) for g in groups])
    print()
    for name in names:
        put_row('STACK', [names[name]],
                [core.stack[name] for core in measured])
    print('\n#undef RUNTIME\n#undef SHARED\n#undef STACK')


if __name__ == '__main__':
    main()
