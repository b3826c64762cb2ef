// The compiler that a page has in it: gzip, in base64.
export const unpack = (element) => {
  const packed = Uint8Array.from(atob(element.textContent.trim()),
    (c) => c.charCodeAt(0));
  element.remove();
  return new Response(new Blob([packed]).stream().pipeThrough(
    new DecompressionStream("gzip"))).arrayBuffer();
};
