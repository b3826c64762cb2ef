// The compiler, packed: a file beside the page, or in it in base64.
import { unlzma } from "./lzma.js";
import { join } from "./streams.js";

const compile = (packed) => WebAssembly.compile(join(unlzma(packed)));

export const fetchModule = async (url) => compile(
  new Uint8Array(await (await fetch(url)).arrayBuffer()));

export const moduleOf = (element) => {
  const packed = Uint8Array.from(atob(element.textContent.trim()),
    (c) => c.charCodeAt(0));
  element.remove();
  return compile(packed);
};
