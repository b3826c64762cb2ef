#!/usr/bin/python3
"""Truth for tests/data/import/tflite, of a reader and a writer of its own.

/usr/bin/python3 tools/tflite_truth.py tests/data/import/tflite: makes
made.tflite and words.tflite, then truth.csv and, where that can be, NAME.x.npy and NAME.y.npy: an
input and what PyTorch computes of it by the file's operators, in float32.
"""
import csv
import glob
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

TYPES = {0: '<f4', 1: '<f2', 2: '<i4', 3: '<u1', 4: '<i8', 7: '<i2', 9: '<i1'}
ACTIVE = {0: lambda x: x, 1: F.relu, 3: F.relu6, 4: torch.tanh}


class Table:
    """A table of a FlatBuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from('<i', data, at)[0]

    def place(self, field):
        size = struct.unpack_from('<H', self.data, self.fields)[0]
        if 4 + 2 * field >= size:
            return 0
        at = self.fields + 4 + 2 * field
        offset = struct.unpack_from('<H', self.data, at)[0]
        return offset and self.at + offset

    def get(self, field, form='i', usual=0):
        at = self.place(field)
        return struct.unpack_from('<' + form, self.data, at)[0] if at else usual

    def child(self, field):
        at = self.place(field)
        return Table(self.data, at + self.get(field, 'I')) if at else None

    def vector(self, field):
        at = self.place(field)
        if not at:
            return 0, 0
        at += self.get(field, 'I')
        return at + 4, struct.unpack_from('<I', self.data, at)[0]

    def numbers(self, field, form='i'):
        at, count = self.vector(field)
        return list(struct.unpack_from('<%d%s' % (count, form), self.data, at))

    def tables(self, field):
        at, count = self.vector(field)
        return [Table(self.data, p + struct.unpack_from('<I', self.data, p)[0])
                for p in range(at, at + 4 * count, 4)]


def real(value, steps):
    """What stored numbers stand for, if they have scales."""
    scales = np.array(steps.numbers(2, 'f') if steps else [])
    if scales.size == 0 or value.ndim == 0:
        return value
    axis = steps.get(6) if value.ndim > 1 else 0
    shape = [-1 if i == axis else 1 for i in range(value.ndim)]
    if scales.size == 1:
        shape = [1] * value.ndim
    zeros = np.array(steps.numbers(3, 'q') or [0])
    zeros = zeros.reshape(shape if zeros.size == scales.size else -1)
    return (scales.reshape(shape) * (value - zeros)).astype('<f4')


def load(path):
    data = open(path, 'rb').read()
    model = Table(data, struct.unpack_from('<I', data, 0)[0])
    codes = [max(c.get(0, 'b'), c.get(3)) for c in model.tables(1)]
    buffers, graph = model.tables(4), model.tables(2)[0]
    tensors = []
    for t in graph.tables(0):
        kind, dims = TYPES[t.get(1, 'b')], t.numbers(0)
        at, count = buffers[t.get(2, 'I')].vector(0)
        value = None
        if count:
            value = np.frombuffer(data[at:at + count], kind).reshape(dims)
            value = real(value, t.child(4))
        tensors.append([dims, kind, value])
    ops = [(codes[o.get(0, 'I')], o.numbers(1), o.numbers(2), o.child(4))
           for o in graph.tables(3)]
    return tensors, ops, graph.numbers(1), graph.numbers(2)


def same(size, kernel, step):
    pads = max((-(-size // step) - 1) * step + kernel - size, 0)
    return pads // 2, pads - pads // 2


def padded(x, option, kernel, steps, by=0.0):
    """Channels first, with the border of SAME."""
    x = x.permute(0, 3, 1, 2)
    if option.get(0, 'b') == 0:
        top = same(x.shape[2], kernel[0], steps[0])
        left = same(x.shape[3], kernel[1], steps[1])
        x = F.pad(x, left + top, value=by)
    return x


def convolve(x, w, bias, o, depthwise):
    steps = o.get(2), o.get(1)
    groups = x.shape[3] if depthwise else x.shape[3] // w.shape[3]
    w = w.permute(3, 0, 1, 2) if depthwise else w.permute(0, 3, 1, 2)
    y = F.conv2d(padded(x, o, w.shape[2:], steps), w, bias, steps,
                 groups=groups)
    return ACTIVE[o.get(4 if depthwise else 3, 'b')](y.permute(0, 2, 3, 1))


def deconvolve(shape, w, x, o):
    steps = o.get(2), o.get(1)
    y = F.conv_transpose2d(x.permute(0, 3, 1, 2), w.permute(3, 0, 1, 2),
                           stride=steps)
    for axis in 0, 1:
        cut = (y.shape[2 + axis] - int(shape[1 + axis])) // 2
        y = y.narrow(2 + axis, cut, int(shape[1 + axis]))
    return y.permute(0, 2, 3, 1)


def run_lstm(x, gates):
    """Gates i, f, c, o: matrices of the input, of the state, biases."""
    h = c = torch.zeros(1, gates[4].shape[1])
    steps = []
    for k in range(x.shape[1]):
        i, f, g, o = [x[:, k] @ gates[j].T + h @ gates[4 + j].T + gates[8 + j]
                      for j in range(4)]
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append(h)
    return torch.stack(steps, 1)


def compute(code, a, o, out):
    """What an operator gives of its operands; None: not known here."""
    if code in (3, 4):
        return convolve(a[0], a[1], a[2], o, code == 4)
    if code == 67:
        return deconvolve(a[0], a[1], a[2], o)
    if code in (1, 17):
        steps, kernel = (o.get(2), o.get(1)), (o.get(4), o.get(3))
        x = padded(a[0], o, kernel, steps, 0.0 if code == 1 else -np.inf)
        pool = F.avg_pool2d if code == 1 else F.max_pool2d
        return pool(x, kernel, steps).permute(0, 2, 3, 1)
    if code == 9:
        y = F.linear(a[0].reshape(-1, a[1].shape[1]), a[1],
                     a[2] if len(a) > 2 else None)
        return ACTIVE[o.get(0, 'b') if o else 0](y).reshape(out)
    if code == 44:
        return run_lstm(a[0], a[1:9] + a[12:16])
    simple = {
        0: lambda: ACTIVE[o.get(0, 'b') if o else 0](a[0] + a[1]),
        2: lambda: torch.cat(a, o.get(0)), 14: lambda: torch.sigmoid(a[0]),
        18: lambda: a[0] * a[1], 21: lambda: F.relu6(a[0]),
        22: lambda: a[0].reshape(out), 25: lambda: a[0].softmax(-1),
        28: lambda: torch.tanh(a[0]), 36: lambda: a[0][a[1].long()],
        34: lambda: F.pad(a[0], [int(n) for row in reversed(a[1].tolist())
                                 for n in row]),
        40: lambda: a[0].mean([int(n) for n in a[1].reshape(-1)],
                              keepdim=bool(o and o.get(0, 'b'))),
        41: lambda: a[0] - a[1],
        54: lambda: torch.where(a[0] > 0, a[0], a[0] * a[1]),
        117: lambda: F.hardswish(a[0]),
    }
    return simple[code]() if code in simple else None


# Which operands have parameters, by operator.
WEIGHTS = {3: (1, 2), 4: (1, 2), 9: (1, 2), 27: (1, 2, 3), 36: (0,),
           44: tuple(range(1, 16)), 54: (1,), 67: (1, 3)}


def measure(path):
    tensors, ops, inputs, outputs = load(path)
    seen = {a[k] for code, a, _, _ in ops for k in WEIGHTS.get(code, ())
            if k < len(a) and a[k] >= 0}
    params = sum(tensors[i][2].size for i in seen)
    shapes = ['x'.join(map(str, tensors[i][0][1:])) for i in outputs]
    name = path[:-len('.tflite')]
    if len(inputs) == 1 and all(code != 27 for code, _, _, _ in ops):
        dims, whole = tensors[inputs[0]][0], tensors[inputs[0]][1] == '<i4'
        chance = np.random.RandomState(1)
        x = (chance.randint(0, 20, dims).astype('<i4') if whole
             else chance.uniform(-1, 1, dims).astype('<f4'))
        values = {i: torch.from_numpy(t[2].copy())
                  for i, t in enumerate(tensors) if t[2] is not None}
        values[inputs[0]] = torch.from_numpy(x)
        for code, a, out, option in ops:
            values[out[0]] = compute(code, [values.get(i) for i in a], option,
                                     tensors[out[0]][0])
        y = values[outputs[0]].numpy()
        assert list(y.shape) == tensors[outputs[0]][0], name
        np.save(name + '.x.npy', x)
        np.save(name + '.y.npy', y)
    return path.split('/')[-1], params, ' '.join(shapes), len(ops)


# A writer: a table is {field: (form, value)}, a list is a vector.

def put(out, thing):
    while len(out) % 4:
        out.append(0)
    if isinstance(thing, bytes):
        at = len(out)
        out += struct.pack('<I', len(thing)) + thing + b'\0'
    elif isinstance(thing, list):
        at = len(out)
        out += struct.pack('<I', len(thing)) + bytes(4 * len(thing))
        for i, item in enumerate(thing):
            place = at + 4 + 4 * i
            if isinstance(item, int):
                struct.pack_into('<i', out, place, item)
            else:
                struct.pack_into('<I', out, place, put(out, item) - place)
    else:
        count = max(thing, default=-1) + 1
        fields = len(out)
        out += bytes(4 + 2 * count + 2 * (count % 2))
        at = len(out)
        out += struct.pack('<i', at - fields) + bytes(4 * count)
        struct.pack_into('<HH', out, fields, 4 + 2 * count, 4 + 4 * count)
        for field, (form, value) in thing.items():
            place = at + 4 + 4 * field
            struct.pack_into('<H', out, fields + 4 + 2 * field, place - at)
            if form == '*':
                struct.pack_into('<I', out, place, put(out, value) - place)
            else:
                struct.pack_into('<' + form, out, place, value)
    return at


class Made:
    """A model that is put together operator by operator."""

    def __init__(self):
        self.tensors, self.buffers, self.codes, self.ops = [], [{}], [], []
        self.chance = np.random.RandomState(2)

    def tensor(self, dims, value=None, kind=0):
        if value is not None:
            self.buffers.append({0: ('*', value.tobytes())})
        self.tensors.append({
            0: ('*', list(dims)), 1: ('b', kind),
            2: ('I', len(self.buffers) - 1 if value is not None else 0),
            3: ('*', b't%d' % len(self.tensors))})
        return len(self.tensors) - 1

    def weight(self, *dims):
        value = self.chance.uniform(-0.5, 0.5, dims).astype('<f4')
        return self.tensor(dims, value)

    def ints(self, values):
        value = np.array(values, '<i4')
        return self.tensor(value.shape, value, 2)

    def op(self, code, operands, dims, **options):
        if code not in self.codes:
            self.codes.append(code)
        out = self.tensor(dims)
        self.ops.append({
            0: ('I', self.codes.index(code)), 1: ('*', operands),
            2: ('*', [out]),
            4: ('*', {int(k[1:]): v for k, v in options.items()})})
        return out

    def save(self, path, inputs, outputs):
        codes = [{0: ('b', min(c, 127)), 3: ('i', c)} for c in self.codes]
        graph = {0: ('*', self.tensors), 1: ('*', inputs), 2: ('*', outputs),
                 3: ('*', self.ops)}
        out = bytearray(struct.pack('<I', 0) + b'TFL3')
        root = put(out, {0: ('i', 3), 1: ('*', codes), 2: ('*', [graph]),
                         4: ('*', self.buffers)})
        struct.pack_into('<I', out, 0, root)
        open(path, 'wb').write(out)


def make(path):
    m = Made()
    byte, word = (lambda n: ('b', n)), (lambda n: ('i', n))
    x = m.tensor([1, 9, 8, 3])
    y = m.op(34, [x, m.ints([[0, 0], [1, 0], [0, 2], [0, 0]])], [1, 10, 10, 3])
    y = m.op(3, [y, m.weight(6, 3, 2, 3), m.weight(6)], [1, 4, 9, 6],
             _0=byte(1), _1=word(1), _2=word(2), _3=byte(1))
    y = m.op(54, [y, m.weight(1, 1, 6)], [1, 4, 9, 6])
    z = m.op(4, [y, m.weight(1, 3, 3, 12), m.weight(12)], [1, 2, 5, 12],
             _0=byte(0), _1=word(2), _2=word(2), _3=word(2), _4=byte(3))
    z = m.op(67, [m.ints([1, 4, 9, 6]), m.weight(6, 3, 3, 12), z],
             [1, 4, 9, 6], _0=byte(0), _1=word(2), _2=word(2))
    y = m.op(0, [y, z], [1, 4, 9, 6], _0=byte(1))
    half = m.tensor([], np.array(0.5, '<f4'))
    y = m.op(18, [y, half], [1, 4, 9, 6])
    y = m.op(41, [y, m.weight(6)], [1, 4, 9, 6])
    z = m.op(17, [y], [1, 2, 5, 6], _0=byte(0), _1=word(2), _2=word(2),
             _3=word(2), _4=word(2))
    y = m.op(1, [y], [1, 2, 5, 6], _0=byte(1), _1=word(2), _2=word(2),
             _3=word(1), _4=word(2))
    y = m.op(2, [y, m.op(117, [z], [1, 2, 5, 6])], [1, 2, 5, 12], _0=word(3))
    z = m.op(9, [y, m.weight(7, 120)], [1, 7], _0=byte(4))
    y = m.op(40, [y, m.ints([1, 2])], [1, 12])
    y = m.op(2, [y, z], [1, 19], _0=word(1))
    y = m.op(9, [y, m.weight(4, 19), m.weight(4)], [1, 4])
    y = m.op(25, [y], [1, 4], _0=('f', 1))
    m.save(path, [x], [y])


def make_words(path):
    m = Made()
    x = m.tensor([1, 6], kind=2)
    y = m.op(36, [m.weight(20, 5), x], [1, 6, 5])
    y = m.op(9, [y, m.weight(3, 5), m.weight(3)], [1, 6, 3], _2=('b', 1))
    y = m.op(40, [y, m.ints([1])], [1, 3])
    m.save(path, [x], [m.op(14, [y], [1, 3])])


def main():
    folder = sys.argv[1]
    make(folder + '/made.tflite')
    make_words(folder + '/words.tflite')
    with open(folder + '/truth.csv', 'w', newline='') as out:
        rows = csv.writer(out, lineterminator='\n')
        rows.writerow(['file', 'params', 'outputs', 'operators'])
        for path in sorted(glob.glob(folder + '/*.tflite')):
            rows.writerow(measure(path))


main()
