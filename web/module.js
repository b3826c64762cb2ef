// A module of the compiler with the nets that it needs, packed.
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

// {module, nets}; `packed`: bytes, or base64.
export const compile = async (packed) => {
  const { wasm, nets } = unpack(typeof packed === "string"
    ? Uint8Array.from(atob(packed.trim()), (c) => c.charCodeAt(0))
    : new Uint8Array(packed));
  return { module: await WebAssembly.compile(wasm), nets };
};
