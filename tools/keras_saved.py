#!/usr/bin/env python3
"""Makes of what keras_saved.js wrote the other forms that Keras saves:
keras_saved.py FOLDER. Needs h5py (Debian's python3-h5py).

NAME/model.h5 as Keras 2's model.save has it, NAME/model.keras as Keras 3's,
with an optimizer's state and a seed; NAME/x.npy and y.npy; and files of HDF5
that netc refuses.
"""
import io
import json
import os
import re
import sys
import zipfile

import h5py
import numpy as np


def read(folder):
    """The model and its weights by name, in order."""
    model = json.load(open(f"{folder}/model.json"))
    (group,) = model["weightsManifest"]
    data = b"".join(open(f"{folder}/{p}", "rb").read() for p in group["paths"])
    weights, at = {}, 0
    for w in group["weights"]:
        count = int(np.prod(w["shape"], dtype=int))
        weights[w["name"]] = np.frombuffer(
            data, "<f4", count, at).reshape(w["shape"])
        at += 4 * count
    topology = model["modelTopology"]
    return {k: topology[k] for k in ("class_name", "config")}, weights


def leaves(model):
    for layer in model["config"]["layers"]:
        if "layers" in layer["config"]:
            yield from leaves(layer)
        else:
            yield layer["config"]["name"]


def own(name, weights):
    return [w for w in weights if w.split("/")[0] == name]


def save_2(path, model, weights, fixed=False, pieces=False):
    """Keras 2: attributes list a layer's weights, trained ones first."""
    with h5py.File(path, "w") as file:
        text = json.dumps(model)
        file.attrs["model_config"] = np.bytes_(text) if fixed else text
        file.attrs["keras_version"] = "2.15.0"
        group = file.create_group("model_weights")
        file.create_group("optimizer_weights")["iterations"] = np.int64(7)
        names = [layer["config"]["name"] for layer in model["config"]["layers"]]
        listed = np.array(names, "S")
        if pieces:
            group.attrs["layer_names0"] = listed[:2]
            group.attrs["layer_names1"] = listed[2:]
        else:
            group.attrs["layer_names"] = listed
        for layer in model["config"]["layers"]:
            name = layer["config"]["name"]
            inside = (leaves(layer) if "layers" in layer["config"] else [name])
            mine = [w for n in inside for w in own(n, weights)]
            mine.sort(key=lambda w: "moving_" in w)
            its = group.create_group(name)
            its.attrs["weight_names"] = np.array(
                [w + ":0" for w in mine], "S") if mine else np.array([])
            for w in mine:
                its[w + ":0"] = weights[w]


def snake(name):  # keras/src/utils/naming.py
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def parts(layer, weights):
    """What Keras calls the parts of a layer that has some, and their weights:
    LSTMs have a cell, wrappers a layer."""
    name, kind = layer["config"]["name"], layer["class_name"]
    mine = own(name, weights)
    if kind == "Bidirectional":
        half = len(mine) // 2
        return {"forward_layer/cell": mine[:half],
                "backward_layer/cell": mine[half:]}
    if kind in ("LSTM", "GRU", "SimpleRNN"):
        return {"cell": mine}
    return {"layer" if kind == "TimeDistributed" else "": mine}


def put_3(group, model, weights):
    used = {}
    for layer in model["config"]["layers"]:
        name = snake(layer["class_name"])
        used[name] = used.get(name, -1) + 1
        if used[name]:
            name += f"_{used[name]}"
        its = group.create_group("layers/" + name)
        if "layers" in layer["config"]:
            put_3(its, layer, weights)
            continue
        for part, mine in parts(layer, weights).items():
            held = its.create_group((part + "/vars").strip("/"))
            if not part:
                held.attrs["name"] = layer["config"]["name"]
            for i, w in enumerate(mine):
                held[str(i)] = weights[w]
        if layer["class_name"] == "Dropout":
            its["seed_generator/vars/0"] = np.array([1, 2], "u4")


def save_3(path, model, weights, packed, swapped=False):
    """Keras 3: config.json, and values by paths of classes' names."""
    inner = io.BytesIO()
    with h5py.File(inner, "w") as file:
        put_3(file, model, weights)
        if swapped:
            file["layers/dense/vars"].attrs["name"] = "e"
        file["optimizer/vars/0"] = np.int64(7)
        for i, w in enumerate(weights.values()):
            file[f"optimizer/vars/{i + 1}"] = w.ravel()[:2]
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w") as file:
        for name, data in (("metadata.json", '{"keras_version": "3.9.2"}'),
                           ("config.json", json.dumps(model)),
                           ("model.weights.h5", inner.getvalue())):
            file.writestr(zipfile.ZipInfo(name), data, kind)


def refused(folder):
    with h5py.File(f"{folder}/superblock3.h5", "w", libver="latest") as file:
        file.attrs["model_config"] = "{}"
    dense = {"class_name": "Sequential", "config": {"layers": [{
        "class_name": "Dense", "config": {
            "name": "d", "units": 8, "batch_input_shape": [None, 8]}}]}}
    values = np.ones((8, 8), "f4")
    for name, options in (("chunked", {"chunks": (4, 8)}),
                          ("gzip", {"compression": "gzip"})):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file.attrs["model_config"] = json.dumps(dense)
            group = file.create_group("model_weights")
            group.attrs["layer_names"] = np.array(["d"], "S")
            its = group.create_group("d")
            its.attrs["weight_names"] = np.array(["d/k:0", "d/b:0"], "S")
            its.create_dataset("d/k:0", data=values, **options)
            its["d/b:0"] = values[0]
    with h5py.File(f"{folder}/big_endian.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(dense)
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = np.array(["d"], "S")
        its = group.create_group("d")
        its.attrs["weight_names"] = np.array(["d/k:0", "d/b:0"], "S")
        its["d/k:0"] = values.astype(">f4")
        its["d/b:0"] = values[0].astype(">f4")
    chain = {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"name": name, "units": 8,
                                           "batch_input_shape": [None, 8]}}
        for name in "de"]}}
    save_3(f"{folder}/swapped.keras", chain, {
        f"{name}/{w}": values[0] if w == "b" else values
        for name in "de" for w in "kb"}, True, swapped=True)
    with h5py.File(f"{folder}/weights_2.h5", "w") as file:
        file.attrs["layer_names"] = np.array(["d"], "S")
        its = file.create_group("d")
        its.attrs["weight_names"] = np.array(["d/k:0"], "S")
        its["d/k:0"] = values
    with h5py.File(f"{folder}/weights_3.h5", "w") as file:
        file["layers/dense/vars/0"] = values
        file["optimizer/vars/0"] = values
    with h5py.File(f"{folder}/other.h5", "w") as file:
        file["temperatures"] = values


def main():
    folder = sys.argv[1]
    for name in ("picture", "words", "chain"):
        at = f"{folder}/{name}"
        model, weights = read(at)
        save_2(f"{at}/model.h5", model, weights, fixed=name == "chain",
               pieces=name == "words")
        save_3(f"{at}/model.keras", model, weights, name != "picture")
        values = json.load(open(f"{at}/values.json"))
        kind = "i4" if values["integer"] else "f4"
        np.save(f"{at}/x.npy", np.array(values["x"], kind).reshape(
            values["shape"]))
        np.save(f"{at}/y.npy", np.array(values["y"], "f4"))
        os.remove(f"{at}/values.json")
    refused(folder)


if __name__ == "__main__":
    main()
