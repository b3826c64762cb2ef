#!/usr/bin/python3
"""Fits memory/devices/times.def on published runs, and says how well it does.

usage: tools/calibrate.py NETC [--check]

NETC says of each row of tests/data/published/throughput.csv how long products,
attention, memory and links take at the card's peaks (JSON, training.time.parts);
what the row took is a sum of these times four numbers of the card, which are
fitted so that squares of relative errors are least and no number is negative.
Then one size of model is left out and asked of the others' fit, and one card of
the fit of the other cards. --check: does times.def have these numbers, and are
what was left out met by 8 % (median) and 20 % (nine in ten)?
"""
import csv
import json
import subprocess
import sys

from fitting import errors, fit, spread

ROWS = 'tests/data/published/throughput.csv'
NET = 'tests/data/published/mpt.net'
TABLE = 'memory/devices/times.def'
# Multiprocessors and clock in GHz at which the maker's peaks hold.
CARDS = {'a100-40': (108, 1.41), 'a100-80': (108, 1.41), 'h100': (132, 1.83)}
PARTS = ('product', 'attention', 'memory', 'sent')


def options(row):
    o = [f'-D{name}={row[name]}' for name in
         ('layers', 'width', 'heads', 'context')]
    o += ['--batch', row['microbatch'], '--accumulate', row['accumulate'],
          '--zero', '3', '--data-parallel', row['gpus'], '--gpu', row['card']]
    if row['precision'] == 'amp_bf16':
        o += ['--gradient-dtype', 'f32']
    if row['sharding'] == 'SHARD_GRAD_OP':
        o += ['--gather', 'no_reshard']
    if row['checkpointed'] == '1':
        o += ['--checkpoint', row['layers']]
    return o


def read(netc):
    """Rows with their parts, each a share of what was measured."""
    with open(ROWS) as file:
        rows = list(csv.DictReader(l for l in file if l[0] != '#'))
    for row in rows:
        made = subprocess.run([netc, NET, *options(row), '--emit', 'json=-'],
                              capture_output=True, check=True)
        time = json.loads(made.stdout)['training']['time']
        samples = int(row['microbatch']) * int(row['accumulate'])
        seconds = (samples * int(row['context'])
                   / float(row['tokens_per_second']))
        assert time['bound_seconds'] < seconds
        row['parts'] = [time['parts'][f'{p}_seconds'] / seconds for p in PARTS]
    return rows


def said(what, found):
    half, most, worst = (100 * x for x in spread(found))
    print(f'{what:30} {len(found):4}  {half:6.1f} % {most:6.1f} % '
          f'{worst:6.1f} %')


def left_out(rows):
    """By size of model, each with its own card's others; and by card."""
    models, cards = {}, {}
    for card in CARDS:
        own = [r for r in rows if r['card'] == card]
        models[card] = []
        for model in sorted({r['model'] for r in own}):
            others = fit([r for r in own if r['model'] != model], 5000)
            models[card] += errors([r for r in own if r['model'] == model],
                                   others)
        cards[card] = errors(own, fit([r for r in rows if r['card'] != card], 5000))
    return models, cards


def main():
    rows = read(sys.argv[1])
    lines, fitted = [], []
    for card, of in CARDS.items():
        own = [r for r in rows if r['card'] == card]
        times = [round(x, 2) for x in fit(own, 5000)]
        fitted += errors(own, times)
        lines.append(f'TIME("{card}", {of[0]}, {of[1]}, '
                     + ', '.join(f'{x:.2f}' for x in times) + ')')
    models, cards = left_out(rows)
    print('\n'.join(lines) + '\n')
    print(f'{"error":30} rows    median  9 in 10    worst')
    said('of the fit itself', fitted)
    for what, found in (('size of model', models), ('card', cards)):
        for card in CARDS:
            said(f'{what} left out, {card}', found[card])
        said(f'{what} left out', sum(found.values(), []))
    if '--check' not in sys.argv:
        return
    with open(TABLE) as file:
        table = [l.strip() for l in file if l.startswith('TIME(')]
    if table != lines:
        sys.exit(f'calibrate: {TABLE} has other numbers')
    for found in (models, cards):
        half, most, _ = spread(sum(found.values(), []))
        if half > 0.08 or most > 0.20:
            sys.exit('calibrate: what was left out is missed by too much')


main()
