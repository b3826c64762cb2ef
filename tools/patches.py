#!/usr/bin/env python3
"""What the first stages of a chain of convolutions take patch by patch.

  tools/patches.py build/netc examples/zoo/mobilenet_v2.net

The other way to run them than row by row (docs/microcontrollers.md): a grid of
patches of the map at a split, each computed from the part of the input that it
needs. Bytes are of int8. The input and the map at the split are whole, what
lies between them is one patch large; of the rest, a window may write over rows
that it no longer reads; splits that save nothing are left out. Multiply-accumulates of what patches share are counted
once for each.
"""
import json
import subprocess
import sys

WINDOWS = ('conv', 'dwconv', 'pool', 'avgpool')


def read(netc, path, *options):
    run = subprocess.run([netc, path, '--emit=json', '--dtype', 'i8', *options],
                         check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


class Step:
    """A layer that makes a map: ins, height, width, channels, window, MACs."""

    def __init__(self, layer, ins):
        self.name, self.ins = layer['name'], ins
        self.size = layer['out'][0]
        self.bytes = self.size[0] * self.size[1] * self.size[2]
        self.macs = layer['mac_count']
        given = layer['attributes']
        self.kernel = given.get('kernel', [1])[0]
        self.stride = given.get('stride', [1])[0]
        self.before = self.kernel // 2 if given.get('pad') == 'same' else 0

    def reads(self, span, limit):
        """Rows or columns [first, last) that [first, last) are made of."""
        first = span[0] * self.stride - self.before
        last = (span[1] - 1) * self.stride - self.before + self.kernel
        return max(first, 0), min(last, limit)


def steps_of(net):
    """Layers that make a map; others are parts of the one before."""
    steps, made = [], {}
    for layer in net['layers']:
        ins = [made[i] for i in layer['inputs']]
        if len(layer['out'][0]) != 3:
            break
        if layer['op'] in WINDOWS or layer['op'] in ('input', 'add', 'gap'):
            made[layer['index']] = len(steps)
            steps.append(Step(layer, ins))
        else:
            made[layer['index']] = ins[0]
    return steps


def last_reads(steps):
    last = list(range(len(steps)))
    for i, step in enumerate(steps):
        for k in step.ins:
            last[k] = i
    return last


def apart(step, source):
    """Bytes that a map and what it is made of take together."""
    made, read = (s.bytes // s.size[0] for s in (step, source))
    below = above = 0
    for i in range(step.size[0]):
        low, high = step.reads((i, i + 1), source.size[0])
        below = max(below, (i + 1) * made - low * read)
        above = max(above, high * read - i * made)
    return min(max(below + source.bytes, step.bytes),
               max(above + step.bytes, source.bytes),
               step.bytes + source.bytes)


def rest(steps, split):
    """The most that is alive after the split."""
    last, most = last_reads(steps), 0
    for i in range(split + 1, len(steps)):
        step = steps[i]
        held = sum(s.bytes for k, s in enumerate(steps)
                   if split <= k < i and last[k] >= i and k not in step.ins)
        ins = [steps[k] for k in step.ins]
        if len(ins) == 1 and last[step.ins[0]] == i:
            need = apart(step, ins[0])
        else:  # a sum is written over one of its values
            need = sum(s.bytes for s in ins)
            need += 0 if len(ins) == 2 else step.bytes
        most = max(most, held + need)
    return most


def spans_of(steps, split, span, axis):
    """What each map must have, of rows (0) or columns (1)."""
    need = [None] * (split + 1)
    need[split] = span
    for i in range(split, 0, -1):
        for k in steps[i].ins if need[i] else []:
            first, end = steps[i].reads(need[i], steps[k].size[axis])
            need[k] = (min(first, need[k][0]), max(end, need[k][1])) \
                if need[k] else (first, end)
    return need


def patch(steps, split, rows, columns):
    """Bytes between input and split at the fullest moment, and MACs."""
    last, most, macs = last_reads(steps[:split + 1]), 0, 0
    area = [(r[1] - r[0]) * (c[1] - c[0]) for r, c in zip(rows, columns)]
    for i in range(1, split + 1):
        step = steps[i]
        macs += step.macs * area[i] // (step.size[0] * step.size[1])
        live = sum(area[k] * steps[k].size[2] for k in range(1, i)
                   if last[k] >= i)
        if i < split and len(step.ins) == 1:
            live += area[i] * step.size[2]
        most = max(most, live)
    return most, macs


def patches(steps, split, grid):
    """The arena with a grid of patches, and all MACs to the split."""
    height, width = steps[split].size[:2]
    cut = [[(n * i // grid, n * (i + 1) // grid) for i in range(grid)]
           for n in (height, width)]
    most = macs = 0
    for row in cut[0]:
        for column in cut[1]:
            need, more = patch(steps, split,
                               spans_of(steps, split, row, 0),
                               spans_of(steps, split, column, 1))
            most, macs = max(most, need), macs + more
    first = steps[0].bytes + steps[split].bytes + most
    return max(first, rest(steps, split)), macs


def main():
    netc, path = sys.argv[1:]
    whole = read(netc, path)
    steps = steps_of(whole)
    total = whole['totals']['mac_count']
    last = last_reads(steps)
    print('| to | map | 2x2 patches | MACs | 3x3 | MACs | 4x4 | MACs |')
    print('|---|---|--:|--:|--:|--:|--:|--:|')
    for split in range(2, len(steps)):
        step = steps[split]
        if any(last[k] > split for k in range(split)) or step.size[0] < 7:
            continue
        row = [step.name, 'x'.join(map(str, step.size))]
        once = sum(s.macs for s in steps[1:split + 1])
        grids = [patches(steps, split, grid) for grid in (2, 3, 4)]
        if min(grids)[0] >= whole['inference']['arena']['bytes']:
            continue
        for arena, macs in grids:
            row += [f'{arena:,}', f'+{100 * (macs - once) / total:.1f} %']
        print('|', ' | '.join(row), '|')
    by_rows = read(netc, path, '--patches', 'auto')['inference']
    print(f"\nwhole maps: {whole['inference']['arena']['bytes']:,}; row by row "
          f"to {by_rows['patches']['last_layer']}: "
          f"{by_rows['arena']['bytes']:,}, +0.0 %")


if __name__ == '__main__':
    main()
