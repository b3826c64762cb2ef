// A module of the compiler with the nets that it needs, packed: a file beside
// the page, or in it in base64.
import { Decoder, InputBuffer, OutputBuffer } from "lzma1/decoder";
import { join } from "./streams.js";

export const unpack = (packed) => {
  const streams = new OutputBuffer(3 * packed.length);
  new Decoder().decompress(new InputBuffer(packed), streams);
  const bytes = streams.toArray();
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset)
    .getUint32(0, true);
  return { nets: JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))),
    wasm: join(bytes.slice(end)) };
};

// {module, nets}
export const openModule = async (name) => {
  const here = document.getElementById(name);
  const packed = here ? Uint8Array.from(atob(here.textContent.trim()),
    (c) => c.charCodeAt(0))
    : new Uint8Array(await (await fetch(`${name}.lzma`)).arrayBuffer());
  if (here) here.remove();
  const { wasm, nets } = unpack(packed);
  return { module: await WebAssembly.compile(wasm), nets };
};
