#!/usr/bin/python3
"""Truth for tests/data/import/tflite, of a reader and a writer of its own.

/usr/bin/python3 tools/tflite_truth.py tests/data/import/tflite: makes
made.tflite, moves.tflite, values.tflite, words.tflite, states.tflite, sparse.tflite and
variables.tflite, then truth.csv and, where that can be,
NAME.x.npy and NAME.y.npy: an input and what PyTorch computes of it by the file's operators, in
float32; NAME.state1.npy and so on are what an SVDF or a variable has kept. In refused/: what netc leaves out.
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


def dense(value, dims, sparsity):
    """Stored values where their indices say, by a list of all indices."""
    levels, places = sparsity.tables(2), [[]]
    prior = [0]
    for level in levels:
        new, after = [], []
        for place, at in zip(places, prior):
            if level.get(0, 'b') == 0:
                size = level.get(1)
                steps = [(at * size + i, i) for i in range(size)]
            else:
                lists = [level.child(f).numbers(0, {1: 'i', 2: 'H', 3: 'B'}[
                    level.get(f - 1, 'b')]) for f in (3, 5)]
                steps = [(i, lists[1][i]) for i in range(*lists[0][at:at + 2])]
            new += [place + [i] for _, i in steps]
            after += [at for at, _ in steps]
        places, prior = new, after
    order, blocks = sparsity.numbers(0), sparsity.numbers(1)
    sizes = [level.get(1) for level in levels]
    out = np.zeros(dims, value.dtype)
    for place, at in zip(places, prior):
        index = [0] * len(dims)
        for axis, i, size in sorted(zip(order, place, sizes)):
            if axis < len(dims):
                index[axis] += i
            else:
                at_axis = blocks[axis - len(dims)]
                index[at_axis] = index[at_axis] * size + i
        out[tuple(index)] = value[at]
    return out


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
            value = np.frombuffer(data[at:at + count], kind)
            sparse = t.child(6)
            value = dense(value, dims, sparse) if sparse else value.reshape(dims)
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


def run_rnn(x, w, u, b):
    h, steps = torch.zeros(1, u.shape[1]), []
    for k in range(x.shape[1]):
        h = torch.tanh(x[:, k] @ w.T + h @ u.T + b)
        steps.append(h)
    return torch.stack(steps, 1)


def run_svdf(x, feature, time, bias, state, o):
    state = state.reshape(time.shape)
    state = torch.cat([state[:, 1:], feature @ x.reshape(-1, 1)], 1)
    y = (state * time).sum(1).reshape(-1, o.get(0)).sum(1)
    return ACTIVE[o.get(1, 'b')](y + bias)[None]


def strided(x, begin, end, stride, o):
    """x[...]: bits of masks are begin, end, ellipsis, new axis, shrink."""
    index = []
    for i, (b, e, s) in enumerate(zip(begin, end, stride)):
        bits = [o.get(k) >> i & 1 for k in range(5)]
        index.append(Ellipsis if bits[2] else None if bits[3] else
                     int(b) if bits[4] else
                     slice(None if bits[0] else int(b),
                           None if bits[1] else int(e), int(s)))
    return x[tuple(index)]


def blocks(x, by, deep):
    """Channels last: DCR of ONNX."""
    n, h, w, c = x.shape
    if deep:
        x = x.reshape(n, h // by, by, w // by, by, c)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(n, h // by, w // by, -1)
    x = x.reshape(n, h, w, by, by, c // by // by)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(n, h * by, w * by, -1)


def resize(x, size, mode):
    y = F.interpolate(x.permute(0, 3, 1, 2), [int(n) for n in size], mode=mode)
    return y.permute(0, 2, 3, 1)


def mirror(x, sides, symmetric):
    mode = 'symmetric' if symmetric else 'reflect'
    return torch.from_numpy(np.pad(x.numpy(), sides.int().tolist(), mode))


def local_norm(x, o):
    size = 2 * o.get(0) + 1
    y = F.local_response_norm(x.permute(0, 3, 1, 2), size,
                              o.get(2, 'f') * size, o.get(3, 'f'),
                              o.get(1, 'f'))
    return y.permute(0, 2, 3, 1)


def whole(value):
    return [int(n) for n in value.reshape(-1)]


def compute_moves(code, a, o, out):
    """Shapes and parts; a list: several outputs. None: not known here."""
    simple = {
        5: lambda: blocks(a[0], o.get(0), False),
        26: lambda: blocks(a[0], o.get(0), True),
        39: lambda: a[0].permute(whole(a[1])),
        45: lambda: strided(*a, o),
        49: lambda: list(a[1].chunk(o.get(0), whole(a[0])[0])),
        53: lambda: a[0],
        60: lambda: F.pad(a[0], [n for row in reversed(a[1].int().tolist())
                                 for n in row], value=float(a[2])),
        65: lambda: a[0][tuple(slice(b, None if n < 0 else b + n) for b, n in
                               zip(whole(a[1]), whole(a[2])))],
        69: lambda: a[0].repeat(whole(a[1])),
        77: lambda: torch.tensor(a[0].shape),
        83: lambda: torch.stack(a, o.get(1)),
        88: lambda: list(a[0].unbind(o.get(1))),
        100: lambda: mirror(a[0], a[1], o.get(0, 'b')),
        102: lambda: list(a[0].split(whole(a[1]), whole(a[2])[0])),
        130: lambda: a[0].expand(out),
    }
    return simple[code]() if code in simple else None


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
    if code == 35:
        return run_rnn(*a[:4])
    if code == 27:
        return run_svdf(*a, o)
    simple = {
        0: lambda: ACTIVE[o.get(0, 'b') if o else 0](a[0] + a[1]),
        2: lambda: torch.cat(a, o.get(0)), 14: lambda: torch.sigmoid(a[0]),
        18: lambda: a[0] * a[1], 21: lambda: F.relu6(a[0]),
        22: lambda: a[0].reshape(out), 25: lambda: a[0].softmax(-1),
        28: lambda: torch.tanh(a[0]),
        36: lambda: a[0].index_select(o.get(0) if o else 0, a[1].reshape(
            -1).long()).reshape(out),
        7: lambda: a[1][a[0].long()], 13: lambda: local_norm(a[0], o),
        6: lambda: a[0].float(), 114: lambda: a[0], 124: lambda: a[0],
        23: lambda: resize(a[0], a[1], 'bilinear'),
        97: lambda: resize(a[0], a[1], 'nearest'),
        66: lambda: torch.sin(a[0]), 73: lambda: torch.log(a[0]),
        76: lambda: torch.rsqrt(a[0]), 78: lambda: a[0] ** a[1],
        89: lambda: a[0].amin([int(n) for n in a[1].reshape(-1)],
                              keepdim=bool(o and o.get(0, 'b'))),
        92: lambda: a[0] ** 2, 99: lambda: (a[0] - a[1]) ** 2,
        101: lambda: a[0].abs(), 106: lambda: sum(a),
        108: lambda: torch.cos(a[0]), 152: lambda: a[0].clamp(0, 1),
        126: lambda: a[0] @ (a[1].mT if o and o.get(1, 'b') else a[1]),
        150: lambda: F.gelu(a[0], approximate='tanh' if o.get(0, 'b')
                            else 'none'),
        34: lambda: F.pad(a[0], [int(n) for row in reversed(a[1].tolist())
                                 for n in row]),
        40: lambda: a[0].mean([int(n) for n in a[1].reshape(-1)],
                              keepdim=bool(o and o.get(0, 'b'))),
        41: lambda: a[0] - a[1], 42: lambda: a[0] / a[1],
        11: lambda: F.normalize(a[0], dim=-1), 19: lambda: F.relu(a[0]),
        20: lambda: a[0].clamp(-1, 1), 43: lambda: a[0].reshape(out),
        47: lambda: a[0].exp(), 50: lambda: a[0].log_softmax(-1),
        55: lambda: torch.maximum(a[0], a[1]), 59: lambda: -a[0],
        57: lambda: torch.minimum(a[0], a[1]), 75: lambda: a[0].sqrt(),
        70: lambda: a[0].reshape(out), 111: lambda: F.elu(a[0]),
        74: lambda: a[0].sum(whole(a[1]), keepdim=bool(o.get(0, 'b'))),
        82: lambda: a[0].amax(whole(a[1]), keepdim=bool(o.get(0, 'b'))),
        98: lambda: F.leaky_relu(a[0], o.get(0, 'f')),
        54: lambda: torch.where(a[0] > 0, a[0], a[0] * a[1]),
        117: lambda: F.hardswish(a[0]),
    }
    return simple[code]() if code in simple else compute_moves(code, a, o, out)


# Which operands have parameters, by operator.
WEIGHTS = {3: (1, 2), 4: (1, 2), 7: (1,), 9: (1, 2), 27: (1, 2, 3),
           35: (1, 2, 3), 36: (0,), 44: tuple(range(1, 16)), 54: (1,),
           67: (1, 3), 126: (1,)}
# ADD, SUB, MUL, DIV and the like: one value a channel is a bias, or belongs to a norm.
JOINS = (0, 18, 41, 42, 55, 57)


def source(tensors, ops, index):
    """A constant, also if it is another one's values: -1 is none."""
    made = {out[0]: a[0] for code, a, out, _ in ops if code in (6, 53, 124)}
    while tensors[index][2] is None and index in made:
        index = made[index]
    return index if tensors[index][2] is not None else -1


def measure(path):
    tensors, ops, inputs, outputs = load(path)
    seen = {source(tensors, ops, a[k]) for code, a, _, _ in ops
            for k in WEIGHTS.get(code, ()) if k < len(a) and a[k] >= 0}
    seen |= {i for code, a, _, _ in ops if code in JOINS
             for i in (source(tensors, ops, k) for k in a)
             if i >= 0 and 1 < tensors[i][2].size == tensors[i][2].shape[-1]}
    params = sum(tensors[i][2].size for i in seen - {-1})
    shapes = ['x'.join(map(str, tensors[i][0][1:])) for i in outputs]
    name = path[:-len('.tflite')]
    if len(inputs) == 1:
        dims, kind = tensors[inputs[0]][0], tensors[inputs[0]][1]
        chance = np.random.RandomState(1)
        x = (chance.randint(0, 20, dims).astype('<i4') if kind == '<i4'
             else chance.uniform(-1, 1, dims).astype('<f4'))
        values = {i: torch.from_numpy(t[2].copy())
                  for i, t in enumerate(tensors) if t[2] is not None}
        values[inputs[0]] = torch.from_numpy(x)
        for number, a in enumerate(a for code, a, _, _ in ops if code == 27):
            state = chance.uniform(-1, 1, tensors[a[2]][0]).astype('<f4')
            np.save('%s.state%d.npy' % (name, number + 1), state[None])
            values[a[4]] = torch.from_numpy(state)
        kept, handles = {}, {}
        for code, a, out, option in ops:
            if code == 142:
                at, size = option.vector(1)
                handles[out[0]] = option.data[at:at + size]
            if code == 143 and handles[a[0]] not in kept:
                state = chance.uniform(-1, 1, tensors[out[0]][0]).astype('<f4')
                kept[handles[a[0]]] = torch.from_numpy(state)
                np.save('%s.state%d.npy' % (name, len(kept)), state)
            if code == 143:
                values[out[0]] = kept[handles[a[0]]]
            if code == 144:
                kept[handles[a[0]]] = values[a[1]]
            if code in (129, 142, 143, 144):
                continue
            y = compute(code, [values.get(i) for i in a], option,
                        tensors[out[0]][0])
            values.update(zip(out, y if isinstance(y, list) else [y]))
        y = values[outputs[0]].numpy()
        assert list(y.shape) == tensors[outputs[0]][0], name
        np.save(name + '.x.npy', x)
        np.save(name + '.y.npy', y)
    return path.split('/')[-1], params, ' '.join(shapes), len(ops)


# A writer: a table is {field: (form, value)}, a list is a vector.

class Packed:
    """A vector of smaller integers."""

    def __init__(self, form, values):
        self.bytes = struct.pack('<%d%s' % (len(values), form), *values)
        self.count = len(values)


def put(out, thing):
    while len(out) % 4:
        out.append(0)
    if isinstance(thing, bytes):
        at = len(out)
        out += struct.pack('<I', len(thing)) + thing + b'\0'
    elif isinstance(thing, Packed):
        at = len(out)
        out += struct.pack('<I', thing.count) + thing.bytes
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

    def sparse(self, mask, order, blocks=(), block=1, bytes=4):
        """A weight that is 0 where the mask is; its last axis is listed."""
        value = self.chance.uniform(0.1, 0.5, mask.shape).astype('<f4') * mask
        out = self.tensor(value.shape)
        rows = value.transpose(order[:value.ndim]).reshape(
            -1, mask.shape[order[value.ndim - 1]] // block, block)
        kept = rows.any(2)
        segments = np.concatenate([[0], kept.sum(1).cumsum()]).tolist()
        indices = np.nonzero(kept)[1].tolist()
        form, number = {4: ('i', 1), 2: ('H', 2), 1: ('B', 3)}[bytes]
        pack = lambda v: {0: ('*', v if bytes == 4 else Packed(form, v))}
        levels = [{0: ('b', 0), 1: ('i', mask.shape[i])}
                  for i in order[:value.ndim - 1]]
        levels.append({0: ('b', 1), 2: ('b', number), 3: ('*', pack(segments)),
                       4: ('b', number), 5: ('*', pack(indices))})
        if block > 1:
            levels.append({0: ('b', 0), 1: ('i', block)})
        self.buffers.append({0: ('*', rows[kept].astype('<f4').tobytes())})
        self.tensors[out][2] = ('I', len(self.buffers) - 1)
        self.tensors[out][6] = ('*', {0: ('*', list(order)), 1: ('*', list(blocks)),
                                      2: ('*', levels)})
        return out

    def ints(self, values):
        value = np.array(values, '<i4')
        return self.tensor(value.shape, value, 2)

    def half(self, *dims):
        """Weights in 16 bits, and the operator that makes them 32."""
        value = self.chance.uniform(-0.5, 0.5, dims).astype('<f2')
        return self.op(6, [self.tensor(dims, value, 1)], list(dims))

    def state(self, *dims):
        out = self.tensor(dims)
        self.tensors[-1][5] = ('b', 1)
        return out

    def several(self, code, operands, dims, **options):
        if code not in self.codes:
            self.codes.append(code)
        outs = [self.tensor(d) for d in dims]
        self.ops.append({
            0: ('I', self.codes.index(code)), 1: ('*', operands),
            2: ('*', outs),
            4: ('*', {int(k[1:]): v for k, v in options.items()})})
        return outs

    def op(self, code, operands, dims, **options):
        return self.several(code, operands, [dims], **options)[0]

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


def make_sparse(path):
    m = Made()
    byte, word = (lambda n: ('b', n)), (lambda n: ('i', n))
    keep = lambda *dims: m.chance.uniform(0, 1, dims) < 0.4
    x = m.tensor([1, 4, 4, 3])
    w = m.sparse(keep(6, 1, 1, 3), [0, 1, 2, 3])
    y = m.op(3, [x, m.op(124, [w], [6, 1, 1, 3]), m.weight(6)], [1, 4, 4, 6],
             _0=byte(1), _1=word(1), _2=word(1))
    w = m.sparse(keep(8, 24).repeat(4, 1), [0, 1, 2], [1], 4, 2)
    y = m.op(9, [y, w], [1, 8])
    w = m.sparse(keep(5, 8), [1, 0], bytes=1)
    y = m.op(9, [y, w, m.weight(5)], [1, 5])
    m.save(path, [x], [y])


def make_moves(path):
    m = Made()
    byte, word, real = (lambda n: ('b', n)), (lambda n: ('i', n)), (
        lambda n: ('f', n))
    x = m.tensor([1, 4, 6, 8])
    y = m.op(5, [x], [1, 8, 12, 2], _0=word(2))
    y = m.op(100, [y, m.ints([[0, 0], [1, 1], [1, 0], [0, 0]])],
             [1, 10, 13, 2], _0=byte(1))
    y = m.op(100, [y, m.ints([[0, 0], [0, 2], [1, 0], [0, 0]])],
             [1, 12, 14, 2], _0=byte(0))
    y = m.op(26, [y], [1, 6, 7, 8], _0=word(2))
    y = m.op(3, [y, m.half(6, 1, 1, 8), m.half(6)], [1, 6, 7, 6],
             _0=byte(1), _1=word(1), _2=word(1))
    y = m.op(34, [y, m.ints([[0, 0], [0, 0], [0, 0], [1, 1]])], [1, 6, 7, 8])
    y = m.op(60, [y, m.ints([[0, 0], [0, 0], [0, 1], [0, 0]]),
                  m.tensor([], np.array(0, '<f4'))], [1, 6, 8, 8])
    y = m.op(13, [y], [1, 6, 8, 8], _0=word(2), _1=real(1), _2=real(2e-5),
             _3=real(0.75))
    y = m.op(45, [y, m.ints([0, 1, 0]), m.ints([0, 9, -1]), m.ints([1, 1, 1])],
             [1, 5, 7, 8], _0=word(1), _1=word(1))
    y = m.op(65, [y, m.ints([0, 1, 0, 3]), m.ints([1, 3, -1, 4])],
             [1, 3, 7, 4])
    # The sizes of a deconvolution as a converter computes them.
    sizes = m.op(77, [y], [4])
    rows = m.op(45, [sizes, m.ints([1]), m.ints([2]), m.ints([1])], [],
                _4=word(1))
    two = m.tensor([], np.array(2, '<i4'), 2)
    rows = m.op(18, [rows, two], [])
    shape = m.op(83, [m.tensor([], np.array(1, '<i4'), 2), rows,
                      m.tensor([], np.array(14, '<i4'), 2),
                      m.tensor([], np.array(4, '<i4'), 2)], [4])
    y = m.op(67, [shape, m.weight(4, 2, 2, 4), y], [1, 6, 14, 4], _0=byte(1),
             _1=word(2), _2=word(2))
    y = m.op(39, [y, m.ints([0, 2, 1, 3])], [1, 14, 6, 4])
    y = m.op(97, [y, m.ints([28, 12])], [1, 28, 12, 4], _1=byte(1))
    y = m.op(23, [y, m.ints([8, 6])], [1, 8, 6, 4], _3=byte(1))
    a, b = m.several(49, [m.ints(3), y], [[1, 8, 6, 2]] * 2, _0=word(2))
    c, d = m.several(102, [a, m.ints([2, 6]), m.ints([1])],
                     [[1, 2, 6, 2], [1, 6, 6, 2]], _0=word(2))
    e, f = m.several(88, [c], [[1, 6, 2]] * 2, _0=word(2), _1=word(1))
    e = m.op(92, [m.op(66, [e], [1, 6, 2])], [1, 6, 2])
    f = m.op(150, [f], [1, 6, 2], _0=byte(1))
    g = m.op(106, [e, f, m.weight(1, 6, 2)], [1, 6, 2])
    h = m.op(99, [g, m.op(36, [d, m.ints(3)], [1, 6, 2], _0=word(1))],
             [1, 6, 2])
    g = m.op(83, [g, h], [1, 2, 6, 2], _0=word(2), _1=word(1))
    g = m.op(83, [g, g], [1, 2, 6, 2, 2], _0=word(2), _1=word(3))
    g = m.op(22, [g], [1, 8, 6])
    b = m.op(89, [b, m.ints([3])], [1, 8, 6])
    z = m.op(126, [g, b], [1, 8, 8], _1=byte(1))
    z = m.op(126, [z, m.op(69, [b, m.ints([1, 1, 2])], [1, 8, 12])],
             [1, 8, 12])
    z = m.op(126, [z, m.weight(12, 5)], [1, 8, 5])
    z = m.op(126, [z, m.weight(4, 5)], [1, 8, 4], _1=byte(1))
    z = m.op(108, [m.op(152, [z], [1, 8, 4])], [1, 8, 4])
    z = m.op(76, [m.op(73, [m.op(0, [z, m.tensor([], np.array(1.5, '<f4'))],
                                 [1, 8, 4])], [1, 8, 4])], [1, 8, 4])
    z = m.op(78, [z, m.tensor([], np.array(1.5, '<f4'))], [1, 8, 4])
    w = m.op(40, [z, m.ints([1])], [1, 1, 4], _0=byte(1))
    w = m.op(130, [w, m.ints([1, 8, 4])], [1, 8, 4])
    z = m.op(2, [z, w, m.weight(1, 8, 1)], [1, 8, 9], _0=word(2))
    z = m.op(35, [z, m.weight(3, 9), m.weight(3, 3), m.weight(3),
                  m.state(1, 3)], [1, 8, 3], _1=byte(4))
    m.save(path, [x], [z])


def make_values(path):
    m = Made()
    x = m.tensor([1, 5, 4])
    number = lambda n: m.tensor([], np.array(n, '<f4'))
    y = m.op(20, [m.op(18, [x, number(3)], [1, 5, 4])], [1, 5, 4])
    y = m.op(98, [y], [1, 5, 4], _0=('f', 0.2))
    y = m.op(55, [y, m.weight(4)], [1, 5, 4])
    y = m.op(57, [m.op(111, [y], [1, 5, 4]), number(0.8)], [1, 5, 4])
    z = m.op(47, [m.op(59, [m.op(101, [y], [1, 5, 4])], [1, 5, 4])], [1, 5, 4])
    y = m.op(42, [m.op(28, [y], [1, 5, 4]), z], [1, 5, 4])
    w = m.op(70, [m.op(82, [y, m.ints([2])], [1, 5], _0=('b', 0)),
                  m.ints(2)], [1, 5, 1])
    y = m.op(41, [y, m.op(53, [w], [1, 5, 1])], [1, 5, 4])
    y = m.op(50, [m.op(11, [y], [1, 5, 4])], [1, 5, 4])
    y = m.op(75, [m.op(101, [m.op(74, [y, m.ints([1])], [1, 1, 4],
                                  _0=('b', 1))], [1, 1, 4])], [1, 1, 4])
    y = m.op(21, [m.op(19, [m.op(43, [y], [1, 4])], [1, 4])], [1, 4])
    m.save(path, [x], [y])


def make_states(path):
    m = Made()
    x = m.tensor([1, 5])
    for size, filters, rank in (5, 6, 2), (3, 4, 1):
        x = m.op(27, [x, m.weight(filters, size), m.weight(filters, 4),
                      m.weight(filters // rank), m.state(1, filters * 4)],
                 [1, filters // rank], _0=('i', rank), _1=('b', rank == 2))
    m.save(path, [0], [x])


def make_variables(path):
    """Rows of the runs before, a number that is summed up, and a step that an
    exporter unrolled."""
    m = Made()
    word = lambda n: ('i', n)
    x = m.tensor([1, 2, 3])
    m.several(129, [], [], _0=word(1))
    rows, total = (m.op(142, [], [], _1=('*', name)) for name in (b'rows',
                                                                  b'total'))
    y = m.op(143, [rows], [1, 4, 3])
    y = m.op(2, [y, x], [1, 6, 3], _0=word(1))
    last = m.op(45, [y, m.ints([0, 2, 0]), m.ints([1, 6, 3]),
                     m.ints([1, 1, 1])], [1, 4, 3])
    m.several(144, [rows, last], [])
    y = m.op(70, [y, m.ints(2)], [1, 6, 1, 3])
    y = m.op(3, [y, m.weight(4, 6, 1, 3), m.weight(4)], [1, 1, 1, 4],
             _0=('b', 1), _1=word(1), _2=word(1))
    y = m.op(22, [y, m.ints([1, 1, 4])], [1, 1, 4])
    y = m.op(39, [y, m.ints([1, 0, 2])], [1, 1, 4])
    y = m.op(88, [y], [1, 4], _0=word(1), _1=word(0))
    y = m.op(0, [y, m.op(143, [total], [1, 4])], [1, 4])
    m.several(144, [total, y], [])
    # It is read again after it was assigned.
    y = m.op(18, [m.op(28, [y], [1, 4]), m.op(143, [total], [1, 4])], [1, 4])
    y = m.op(83, [y], [1, 1, 4], _0=word(1), _1=word(0))
    m.save(path, [x], [m.op(22, [y, m.ints([1, 4])], [1, 4])])


def make_words(path):
    m = Made()
    x = m.tensor([1, 6], kind=2)
    y = m.op(36, [m.weight(20, 5), x], [1, 6, 5])
    y = m.op(0, [y, m.op(7, [x, m.weight(20, 5)], [1, 6, 5])], [1, 6, 5])
    y = m.op(9, [y, m.weight(3, 5), m.weight(3)], [1, 6, 3], _2=('b', 1))
    y = m.op(40, [y, m.ints([1])], [1, 3])
    m.save(path, [x], [m.op(14, [y], [1, 3])])


def make_refused(folder):
    """A picture's classes by pixel, and sums that netc lacks."""
    for name, code, axis, dims in (('argmax', 56, 3, [1, 4, 4]),
                                   ('cumsum', 128, 1, [1, 4, 4, 5])):
        m = Made()
        x = m.tensor([1, 4, 4, 3])
        y = m.op(3, [x, m.weight(5, 1, 1, 3), m.weight(5)], [1, 4, 4, 5],
                 _0=('b', 1), _1=('i', 1), _2=('i', 1))
        y = m.op(53, [m.op(code, [y, m.ints(axis)], dims)], dims)
        m.save('%s/%s.tflite' % (folder, name), [x], [y])


def main():
    folder = sys.argv[1]
    make(folder + '/made.tflite')
    make_moves(folder + '/moves.tflite')
    make_values(folder + '/values.tflite')
    make_words(folder + '/words.tflite')
    make_states(folder + '/states.tflite')
    make_sparse(folder + '/sparse.tflite')
    make_variables(folder + '/variables.tflite')
    make_refused(folder + '/refused')
    with open(folder + '/truth.csv', 'w', newline='') as out:
        rows = csv.writer(out, lineterminator='\n')
        rows.writerow(['file', 'params', 'outputs', 'operators'])
        for path in sorted(glob.glob(folder + '/*.tflite')):
            rows.writerow(measure(path))


main()
