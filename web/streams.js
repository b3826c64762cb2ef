// The code of a wasm as streams: opcodes, and by their kinds the operands. LZMA
// makes of it 20 KB less. What an instruction consists of is written once, for both
// directions.
const CODE = 10; // the section

const CODES = 0, LOCAL = 1, OFFSET = 2, CONSTANT = 3, CALL = 4, REST = 5,
  STREAMS = 6, NONE = 7;
const OF = new Uint8Array(256).fill(NONE); // by opcode: its operand's stream
OF.fill(LOCAL, 0x20, 0x23);
OF.fill(OFFSET, 0x28, 0x3f);
OF.fill(CONSTANT, 0x41, 0x43);
OF[0x10] = CALL;
for (const op of [0x02, 0x03, 0x04, 0x0c, 0x0d]) OF[op] = CODES; // of blocks
for (const op of [0x23, 0x24, 0x3f, 0x40]) OF[op] = REST;

// Both ways: `take(stream)` moves a byte between a stream and the wasm, and
// gives it; `at()` is the place in the wasm.
const walk = (take, at) => {
  const number = (stream) => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = take(stream);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const bytes = (count) => {
    for (; count > 0; count--) take(REST);
  };
  for (let functions = number(REST); functions > 0; functions--) {
    const size = number(REST), end = at() + size;
    for (let locals = number(REST); locals > 0; locals--) {
      number(REST);
      bytes(1);
    }
    while (at() < end) {
      const op = take(CODES);
      if (OF[op] === OFFSET) number(CODES); // its alignment
      if (OF[op] !== NONE) number(OF[op]);
      else if (op === 0x0e) for (let n = number(REST); n >= 0; n--) number(REST);
      else if (op === 0x11) { // call_indirect
        number(REST);
        number(REST);
      } else if (op === 0x43) bytes(4);
      else if (op === 0x44) bytes(8);
      else if (op === 0xfc) {
        const more = number(REST); // 10: memory.copy, 11: memory.fill
        bytes(more === 10 ? 2 : more === 11 ? 1 : 0);
      }
    }
  }
};

// The places of the code section's content.
const findCode = (wasm) => {
  for (let at = 8; at < wasm.length;) {
    const kind = wasm[at++];
    let size = 0, shift = 0, byte;
    do {
      byte = wasm[at++];
      size |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    if (kind === CODE) return [at, at + size];
    at += size;
  }
  throw new Error("there is no code");
};

// The lengths of all parts, what stands before the code, its streams, the rest.
export const split = (wasm) => {
  const [first, end] = findCode(wasm);
  const streams = Array.from({ length: STREAMS }, () => []);
  let at = first;
  walk((stream) => {
    streams[stream].push(wasm[at]);
    return wasm[at++];
  }, () => at);
  if (at !== end) throw new Error("an instruction is not known");
  const parts = [wasm.subarray(0, first), ...streams, wasm.subarray(end)];
  return Uint8Array.from([
    ...new Uint8Array(Uint32Array.from(parts, (p) => p.length).buffer),
    ...parts.flatMap((p) => [...p])]);
};

export const join = (packed) => {
  const lengths = new Uint32Array(packed.buffer, packed.byteOffset, STREAMS + 2);
  const places = [];
  let at = 4 * lengths.length;
  for (const length of lengths) {
    places.push(at);
    at += length;
  }
  const wasm = new Uint8Array(at - 4 * lengths.length);
  wasm.set(packed.subarray(places[0], places[1]));
  at = lengths[0];
  const [, ...streams] = places;
  walk((stream) => (wasm[at++] = packed[streams[stream]++]), () => at);
  wasm.set(packed.subarray(streams[STREAMS]), at);
  return wasm;
};
