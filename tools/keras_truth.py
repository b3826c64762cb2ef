#!/usr/bin/env python3
"""Makes tests/data/import/keras with Keras 3: keras_truth.py [FOLDER].

Needs `keras` with any backend. Writes NAME.json, as model.to_json() gives it,
NAME_2.json, the same in the form of Keras 2, and truth.tsv: each file's
parameters that are trained, and all of them.
"""
import json
import math
import os
import sys

import keras
from keras import layers as L
from keras import ops

APPLICATIONS = """ResNet50 MobileNetV2 EfficientNetB0 ConvNeXtTiny InceptionV3
 Xception""".split()


def cnn():
    """Every layer with a window, at odd sizes and strides."""
    x = i = L.Input((37, 29, 3), name="picture")
    x = L.Rescaling(1 / 255)(x)
    x = L.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    x = L.ZeroPadding2D(((1, 0), (0, 2)))(x)
    x = L.Conv2D(12, (3, 5), dilation_rate=2, groups=4, use_bias=False)(x)
    x = L.BatchNormalization(scale=False)(x)
    x = L.LeakyReLU(negative_slope=0.2)(x)
    x = L.DepthwiseConv2D(3, depth_multiplier=2, padding="same")(x)
    x = L.SeparableConv2D(10, 3, padding="same", activation="swish")(x)
    x = L.MaxPooling2D(2, padding="same")(x)
    x = L.Conv2DTranspose(6, 4, strides=2, padding="same")(x)
    x = L.Conv2DTranspose(6, 2, strides=3)(x)
    x = L.Cropping2D(((1, 2), (3, 3)))(x)
    x = L.PReLU(shared_axes=[1, 2])(x)
    x = L.AveragePooling2D((3, 2), strides=2, padding="same")(x)
    x = L.UpSampling2D((2, 3), interpolation="bilinear")(x)
    x = L.GroupNormalization(3)(x)
    x = L.SpatialDropout2D(0.25)(x)
    x = L.PReLU()(x)
    return keras.Model(i, L.Dense(5, activation="softmax")(L.Flatten()(x)))


def volume():
    x = i = L.Input((9, 16, 16, 2))
    x = L.Conv3D(4, 3, strides=(1, 2, 2), padding="same")(x)
    x = L.LayerNormalization()(x)
    x = L.ELU()(x)
    x = L.MaxPooling3D((1, 2, 2))(x)
    x = L.Conv3DTranspose(3, 2, strides=2)(x)
    x = L.ZeroPadding3D(1)(x)
    x = L.AveragePooling3D(3)(x)
    return keras.Model(i, L.GlobalMaxPooling3D()(x))


def words():
    """Sequences: recurrent layers both ways, and one dimension."""
    x = L.Embedding(1000, 24)(i := L.Input((30,), dtype="int32", name="ids"))
    x = L.SpatialDropout1D(0.1)(x)
    x = L.Bidirectional(L.LSTM(16, return_sequences=True))(x)
    x = L.Conv1D(20, 3, padding="causal", dilation_rate=2)(x)
    x = L.MaxPooling1D(2)(x)
    x = L.Bidirectional(L.GRU(8, return_sequences=True, reset_after=False),
                        merge_mode="sum")(x)
    x = L.GRU(12, return_sequences=True)(x)
    x = L.TimeDistributed(L.Dense(6, activation="tanh"))(x)
    x = L.SimpleRNN(7, return_sequences=True, use_bias=False)(x)
    x = L.LSTM(5)(x)
    x = L.RepeatVector(4)(x)
    x = L.Permute((2, 1))(x)
    x = L.Reshape((2, -1))(x)
    return keras.Model(i, L.Dense(3)(L.Flatten()(x)))


def joins():
    """What joins, of two inputs with two outputs, and operations."""
    a, b = L.Input((8, 8, 4), name="left"), L.Input((8, 8, 4), name="right")
    x = L.Add()([a, b])
    y = L.Multiply()([a, L.Subtract()([a, b])])
    z = L.Average()([x, y, b])
    z = L.Maximum()([z, L.Minimum()([x, y])])
    z = z * 2.0 + 1.0
    z = 1.0 - ops.relu(z) / 3.0
    s = ops.mean(z, axis=[1, 2], keepdims=True)
    z = z * L.Conv2D(4, 1, activation="sigmoid")(s)
    c = L.Concatenate(axis=1)([z, x])
    c = ops.transpose(c, (0, 2, 1, 3))
    c = ops.reshape(c, (-1, 16, 32))
    d = L.Dot((2, 2))([c, c])
    d = ops.softmax(d)[:, :5]
    v = L.GlobalAveragePooling2D(name="pooled")(y)
    return keras.Model([a, b], [L.Dense(2, name="first")(v),
                                L.Dense(6, name="second")(d)])


def shared():
    """A tower and a layer that are used twice, the tower frozen."""
    t = L.Input((20,))
    tower = keras.Model(t, L.Dense(8, activation="relu")(
        L.Dense(16, activation="relu")(t)), name="tower")
    tower.trainable = False
    a, b = L.Input((20,), name="a"), L.Input((20,), name="b")
    head = L.Dense(8, name="head")
    x = L.Subtract()([head(tower(a)), head(tower(b))])
    return keras.Model([a, b], L.Dense(1, activation="sigmoid")(ops.abs(x)))


def attention():
    x = i = L.Input((24, 32))
    for _ in range(3):
        y = L.LayerNormalization()(x)
        y = L.MultiHeadAttention(4, 8, dropout=0.1)(y, y)
        x = x + y
        y = L.LayerNormalization()(x)
        y = L.Dense(64, activation="gelu")(y)
        x = L.Add()([x, L.Dense(32)(L.Dropout(0.1)(y))])
    other = L.Input((10, 32), name="other")
    x = L.MultiHeadAttention(2, 16, use_bias=False)(x, other)
    return keras.Model([i, other], L.GlobalAveragePooling1D()(x))


def video():
    """A convolutional net on every frame, then a recurrent one."""
    frame = keras.Sequential([
        L.Input((32, 32, 3)), L.Conv2D(8, 3, strides=2, activation="relu"),
        L.BatchNormalization(), L.MaxPooling2D(2), L.GlobalAveragePooling2D()])
    return keras.Sequential([
        L.Input((6, 32, 32, 3)), L.TimeDistributed(frame), L.LSTM(10),
        L.Dropout(0.5), L.Dense(4, activation="softmax")])


def skip():
    """The input is read again and again."""
    i = L.Input((16, 16, 3))
    y = L.Conv2D(3, 1)(i)
    x = L.Concatenate()([L.Add()([i, y]), y, L.Multiply()([i, y])])
    for filters in 8, 12, 16:
        x = L.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = L.Concatenate()([i, x])
    return keras.Model(i, L.Conv2D(2, 1)(L.Concatenate()([x, i])))


def first():
    """Channels first."""
    keras.config.set_image_data_format("channels_first")
    m = keras.Sequential([
        L.Input((3, 40, 24)), L.Conv2D(6, 3, strides=2, padding="same"),
        L.BatchNormalization(axis=1), L.ReLU(6.0), L.MaxPooling2D(2),
        L.Conv2D(7, 3), L.GlobalAveragePooling2D(), L.Dense(3)])
    keras.config.set_image_data_format("channels_last")
    return m


def cells():
    """As NASNet: a cell takes what the two before it make."""
    def fit(x, filters):
        x = L.Conv2D(filters, 1, use_bias=False)(L.ReLU()(x))
        return L.BatchNormalization()(x)

    def separable(x, filters, kernel):
        x = L.SeparableConv2D(filters, kernel, padding="same",
                              use_bias=False)(L.ReLU()(x))
        return L.BatchNormalization()(x)

    def cell(before, now, filters):
        p, h = fit(before, filters), fit(now, filters)
        parts = [
            p,
            L.Add()([separable(h, filters, 5), separable(p, filters, 3)]),
            L.Add()([separable(p, filters, 5), separable(p, filters, 3)]),
            L.Add()([L.AveragePooling2D(3, 1, "same")(h), p]),
            L.Add()([separable(h, filters, 3), h])]
        return L.Concatenate()(parts), now

    i = L.Input((32, 32, 3))
    x = before = L.Conv2D(8, 3, padding="same")(i)
    for filters in 4, 8, 12:
        for _ in range(4):
            x, before = cell(before, x, filters)
        x = L.MaxPooling2D(2)(x)
        before = L.MaxPooling2D(2)(before)
    return keras.Model(i, L.Dense(5)(L.GlobalAveragePooling2D()(L.ReLU()(x))))


def dual():
    """As DPN: a path that is added to beside one that grows."""
    def norm(x):
        return L.ReLU()(L.BatchNormalization()(x))

    def block(x, filters, stride):
        x = L.Conv2D(filters, 1, use_bias=False)(norm(x))
        return L.Conv2D(filters * 2 + 4, 3, strides=stride, padding="same",
                        use_bias=False)(norm(x))

    x = L.Conv2D(16, 3, padding="same")(i := L.Input((32, 32, 3)))
    for filters, count, stride in (8, 3, 1), (16, 5, 2), (32, 4, 2):
        kept = filters * 2
        first = L.Conv2D(kept + 8, 1, strides=stride)(norm(x))
        y = block(x, filters, stride)
        added = first[..., :kept] + y[..., :kept]
        grown = L.Concatenate()([first[..., kept:], y[..., kept:]])
        for _ in range(count - 1):
            y = block(L.Concatenate()([added, grown]), filters, 1)
            added = added + y[..., :kept]
            grown = L.Concatenate()([grown, y[..., kept:]])
        x = L.Concatenate()([added, grown])
    return keras.Model(i, L.Dense(5)(L.GlobalAveragePooling2D()(norm(x))))


def states():
    """Masks, and states that layers give beside their outputs."""
    x = L.Embedding(100, 16, mask_zero=True)(
        i := L.Input((12,), dtype="int32"))
    x, h, _ = L.LSTM(8, return_sequences=True, return_state=True)(x)
    y, g = L.GRU(6, return_state=True, reset_after=False)(x)
    return keras.Model(i, L.Dense(3)(L.Concatenate()([h, y, g])))


def nowcast():
    x = L.ConvLSTM2D(8, 3, padding="same", return_sequences=True)(
        i := L.Input((6, 16, 16, 1)))
    x = L.BatchNormalization()(x)
    x = L.ConvLSTM2D(4, (5, 3), padding="same", use_bias=False)(x)
    return keras.Model(i, L.Conv2D(1, 1, activation="sigmoid")(x))


SMALL = [cnn, volume, words, joins, shared, attention, video, skip, first,
         cells, dual, states, nowcast]


def old_tensor(value):
    return value["config"]["keras_history"]


def old_node(node):
    tensors = [old_tensor(v) for a in node["args"]
               for v in (a if isinstance(a, list) else [a])]
    return [t + [{}] for t in tensors]


def old_form(value, top=True):
    """Keras 2 has no modules; tensors are lists, operations functions."""
    if isinstance(value, list):
        return [old_form(v, False) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: old_form(v, False) for k, v in value.items()
           if k not in ("module", "registered_name", "build_config",
                        "inbound_nodes", "compile_config")}
    if "batch_shape" in out:
        out["batch_input_shape"] = out.pop("batch_shape")
    if "inbound_nodes" in value:
        out["inbound_nodes"] = [old_node(n)
                                for n in value["inbound_nodes"]]
        for node, new in zip(out["inbound_nodes"], value["inbound_nodes"]):
            for key, arg in new["kwargs"].items():
                tensor = isinstance(arg, dict) and "keras_history" in str(arg)
                if arg is not None:
                    node[0][3][key] = old_tensor(arg) if tensor else arg
    if "input_layers" in out:
        for key in "input_layers", "output_layers":
            if out[key] and isinstance(out[key][0], str):
                out[key] = [out[key]]
    return out


def count(variables):
    return sum(math.prod(v.shape) for v in variables)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "tests/data/import/keras"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/truth.tsv", "w") as truth:
        truth.write("file\ttrained\tall\n")
        for make in SMALL + APPLICATIONS:
            keras.backend.clear_session()
            name = make if isinstance(make, str) else make.__name__
            model = (getattr(keras.applications, make)(weights=None)
                     if isinstance(make, str) else make())
            text = model.to_json()
            forms = {name: text}
            if ".src.ops." not in text:
                forms[name + "_2"] = json.dumps(old_form(json.loads(text)))
            for form, text in forms.items():
                if isinstance(make, str) and form == name and \
                        name not in ("EfficientNetB0", "ConvNeXtTiny"):
                    continue
                with open(f"{folder}/{form}.json", "w") as file:
                    file.write(text + "\n")
                truth.write(f"{form}\t{count(model.trainable_weights)}\t"
                            f"{model.count_params()}\n")


if __name__ == "__main__":
    main()
