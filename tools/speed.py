#!/usr/bin/python3
"""Fits memory/serving/speeds.def on published runs, and says how well it does.

usage: tools/speed.py NETC [--check]

NETC says of each row of tests/data/published/speed.csv how long its parts take
at the card's peaks (JSON, serving.time.parts). Decoding a token takes a sum of
the bytes of weights and of the KV cache, each times a number, and of the layers
times microseconds; a prompt one of products and attention scores. The numbers
are fitted for each architecture (compute capability) so that squares of
relative errors are least and no number is negative. Then one card, and one
model, is left out and asked of the others' fit. What speeds.def calls an error
is the larger median of both. --check: does speeds.def have these numbers, is no
run faster than the bound, and are rows that are not fitted met?
"""
import csv
import json
import re
import subprocess
import sys

from fitting import errors, fit, spread

ROWS = 'tests/data/published/speed.csv'
TABLE = 'memory/serving/speeds.def'
GPUS = 'sema/model/gpus.def'
NET = 'examples/zoo/llama.net'
DECODE = ('weight_seconds', 'cache_seconds', 'layer_count')
PREFILL = ('product_seconds', 'score_seconds')
# The arguments of llama.net: keys of the models' config.json, and tied words.
KEYS = ('num_hidden_layers', 'hidden_size', 'num_attention_heads',
        'num_key_value_heads', 'intermediate_size', 'vocab_size', 'head_dim')
MODELS = {
    'llama-2-7b': (32, 4096, 32, 32, 11008, 32000, 128, False),
    'llama-3-8b': (32, 4096, 32, 8, 14336, 128256, 128, False),
    'llama-3-70b': (80, 8192, 64, 8, 28672, 128256, 128, False),
    'llama-3.2-1b': (16, 2048, 32, 8, 8192, 128256, 64, True),
    'llama-3.2-3b': (28, 3072, 24, 8, 8192, 128256, 128, True),
    'mistral-7b': (32, 4096, 32, 8, 14336, 32768, 128, False),
    'ministral-8b': (36, 4096, 32, 8, 12288, 131072, 128, False),
    'qwen2.5-3b': (36, 2048, 16, 2, 11008, 151936, 128, True),
    'qwen2.5-7b': (28, 3584, 28, 4, 18944, 152064, 128, False),
    'qwen3-4b': (36, 2560, 32, 8, 9728, 151936, 128, True),
    'qwen3-8b': (36, 4096, 32, 8, 12288, 151936, 128, False),
    'falcon3-7b': (28, 3072, 12, 4, 23040, 131072, 256, False),
    'granite-3.1-8b': (40, 4096, 32, 8, 12800, 49155, 128, True),
}


def asked(netc, card, model, weights, context):
    """serving.time of one run."""
    values = MODELS[model]
    options = [f'-D{k}={v}' for k, v in zip(KEYS, values)]
    if values[-1]:
        options.append('-Dtie_word_embeddings=true')
    if weights != 'f16':
        options += ['--weight-dtype', weights]
    made = subprocess.run(
        [netc, NET, *options, '--dtype', 'f16', '--predict', '--gpu', card,
         '--runtime', 'llama.cpp', '--context', str(context),
         '--emit', 'json=-'], capture_output=True, check=True)
    return json.loads(made.stdout)['serving']['time']


def read(netc):
    """Rows with their parts, as shares of what was measured."""
    with open(GPUS) as file:
        gpus = dict(re.findall(
            r'GPU\(\s*"([^"]*)",\s*(?:"[^"]*"\s*)+,\s*"[a-z]+",\s*(\d+)',
            file.read()))
    with open(ROWS) as file:
        rows = list(csv.DictReader(l for l in file if l[0] != '#'))
    for row in rows:
        key = row['card'], row['model'], row['weights'], int(row['context'])
        said = asked(netc, *key)
        row['capability'] = gpus[row['card']]
        decodes = row['what'] == 'decode'
        row['seconds'] = (1 if decodes else key[3]) / float(
            row['tokens_per_second'])
        row['bound'] = said['bound_seconds'] if decodes else 0
        row['parts'] = [(said['parts'][p] or 0) / row['seconds']
                        for p in (DECODE if decodes else PREFILL)]
        if decodes:
            row['parts'][2] *= 1e-6
    return rows


def left_out(rows, by):
    """Errors of each group, by the fit of the others."""
    found = []
    groups = sorted({row[by] for row in rows})
    for group in groups if len(groups) > 1 else []:
        times = fit([r for r in rows if r[by] != group], 20000)
        found += errors([r for r in rows if r[by] == group], times)
    return found


def said(what, found):
    if found:
        half, most, worst = (100 * x for x in spread(found))
        print(f'{what:34} {len(found):4}  {half:5.1f} %  {most:5.1f} %  '
              f'{worst:6.1f} %')


def fitted(rows, capability):
    """The numbers of an architecture, and a row of speeds.def."""
    numbers, medians, counts = [], [], []
    for what, zeros in (('decode', 3), ('prefill', 2)):
        own = [r for r in rows if r['what'] == what and r['fitted'] == 'yes'
               and r['capability'] == capability]
        counts += [len(own), len({r['as'] for r in own})]
        numbers.append([round(x, 2) for x in fit(own, 20000)] if own else [0] * zeros)
        if not own:
            medians.append(0)
            continue
        cards, models = left_out(own, 'as'), left_out(own, 'model')
        name = f'{int(capability) / 10} {what}'
        said(f'{name}: the fit itself', errors(own, numbers[-1]))
        said(f'{name}: card left out', cards)
        said(f'{name}: model left out', models)
        medians.append(round(1000 * max(
            spread(left)[0] for left in (cards, models) if left)))
    line = ', '.join([capability] + [f'{x:.2f}' for x in sum(numbers, [])] +
                     [str(x) for x in (*counts[:2], *medians)])
    return dict(zip(('decode', 'prefill'), numbers)), f'SPEED({line})'


def main():
    rows = read(sys.argv[1])
    print(f'{"error":34} runs   median  9 in 10     worst')
    found = {c: fitted(rows, c) for c in sorted(
        {r['capability'] for r in rows if r['fitted'] == 'yes'}, key=int)}
    print()
    missed = []
    for row in rows:
        if row['fitted'] == 'no' and row['source'] != 'dai':
            error = errors([row], found[row['capability']][0][row['what']])[0]
            missed.append(error)
            print(f"not fitted: {row['as']} {row['model']} {row['weights']} "
                  f"{row['what']} {row['context']}: {100 * error:.1f} %")
    print()
    lines = [line for _, line in found.values()]
    print('\n'.join(lines))
    fast = [r for r in rows if r['bound'] > r['seconds']]
    for row in fast:
        print(f"faster than the bound: {row['as']} {row['model']} "
              f"{row['weights']} {row['context']}")
    if '--check' not in sys.argv:
        return
    with open(TABLE) as file:
        table = [l.strip() for l in file if l.startswith('SPEED(')]
    if table != lines:
        sys.exit(f'speed: {TABLE} has other numbers')
    if fast:
        sys.exit('speed: a run is faster than the bound')
    if spread(missed)[0] > 0.15:
        sys.exit('speed: runs that are not fitted are missed by too much')


main()
