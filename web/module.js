// The compiler, packed: a file beside the page, or in it in base64.
import { Decoder, InputBuffer, OutputBuffer } from "lzma1/decoder";
import { join } from "./streams.js";

export const unpack = (packed) => {
  const streams = new OutputBuffer(3 * packed.length);
  new Decoder().decompress(new InputBuffer(packed), streams);
  return join(streams.toArray());
};

const compile = (packed) => WebAssembly.compile(unpack(packed));

export const fetchModule = async (url) => compile(
  new Uint8Array(await (await fetch(url)).arrayBuffer()));

export const moduleOf = (element) => {
  const packed = Uint8Array.from(atob(element.textContent.trim()),
    (c) => c.charCodeAt(0));
  element.remove();
  return compile(packed);
};
