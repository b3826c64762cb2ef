#!/usr/bin/env python3
"""docs/notebook.ipynb, run as its reader would: notebook.py NOTEBOOK HTML.

make check-python runs this in a venv with the wheel. The page that nbconvert
makes of it is left for a look; its pictures must be whole there.
"""
import base64
import importlib.util
import os
import re
import sys
import xml.etree.ElementTree as xml


def main():
    notebook, page = sys.argv[1:]
    if not all(importlib.util.find_spec(name)
               for name in ("nbconvert", "ipykernel")):
        print("notebook: python3-nbconvert or python3-ipykernel is missing")
        sys.exit(1 if os.environ.get("CI") else 0)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    # The kernel may be another Python: Debian's.
    import netc
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.dirname(netc.__file__))
    import nbformat
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors import ExecutePreprocessor
    book = nbformat.read(notebook, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), \
        "what cells print is not kept: it would grow old"
    ExecutePreprocessor(timeout=60, kernel_name="python3").preprocess(
        book, {"metadata": {"path": os.path.dirname(page)}})
    outputs = [output for cell in book.cells
               for output in cell.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]
    text = HTMLExporter().from_notebook_node(book)[0]
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    assert len(pictures) == 4, len(pictures)
    for picture in pictures:
        svg = xml.fromstring(base64.b64decode(picture))
        assert svg.get("viewBox") and len(list(svg.iter())) > 30
    printed = "".join(o.get("text", "") for o in outputs)
    for words in ("3,504,872 parameters", "cell:2:1: error: unknown layer",
                  "largest batch:"):
        assert words in printed, f"{words!r} in {printed}"
    assert text.count("<table") == 2
    print(f"notebook: {len(book.cells)} cells, {len(pictures)} pictures: "
          f"{page}")


if __name__ == "__main__":
    main()
