// The code of a wasm as streams: opcodes, and by their kinds the operands. LZMA
// makes of it 20 KB less. The sizes of functions are left out, as each ends with
// its last block. What an instruction consists of is written once, for both
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

const BLOCK = 2, IF = 4, END = 0x0b;

// Both ways: `take(stream)` moves a byte between a stream and the wasm, and
// gives it; `begin` and `end` are called around a function without its size.
const walk = (take, begin, end) => {
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
    begin();
    for (let locals = number(REST); locals > 0; locals--) {
      number(REST);
      bytes(1);
    }
    for (let depth = 1; depth > 0;) {
      const op = take(CODES);
      if (op >= BLOCK && op <= IF) depth++;
      if (op === END) depth--;
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
    end();
  }
};

// A number at a place, and the place behind it; and the bytes of a number.
const read = (bytes, at) => {
  let value = 0, shift = 0, byte;
  do {
    byte = bytes[at++];
    value |= (byte & 127) << shift;
    shift += 7;
  } while (byte > 127);
  return [value, at];
};
const written = (value) =>
  value > 127 ? [value & 127 | 128, ...written(value >> 7)] : [value];

// The places of the code section's content.
const findCode = (wasm) => {
  for (let at = 8; at < wasm.length;) {
    const [size, first] = read(wasm, at + 1);
    if (wasm[at] === CODE) return [first, first + size];
    at = first + size;
  }
  throw new Error("there is no code");
};

// The lengths of all parts, what stands before the code, its streams, the rest.
export const split = (wasm) => {
  const [first, end] = findCode(wasm);
  const streams = Array.from({ length: STREAMS }, () => []);
  let at = first, size, start;
  walk((stream) => {
    streams[stream].push(wasm[at]);
    return wasm[at++];
  }, () => {
    [size, start] = read(wasm, at);
    at = start;
  }, () => {
    if (at !== start + size) throw new Error("an instruction is not known");
  });
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
  const wasm = new Uint8Array(2 * at); // with room for sizes
  wasm.set(packed.subarray(places[0], places[1]));
  at = lengths[0];
  const [, ...streams] = places;
  let start;
  walk((stream) => (wasm[at++] = packed[streams[stream]++]),
    () => (start = at), () => {
      const size = written(at - start);
      wasm.copyWithin(start + size.length, start, at);
      wasm.set(size, start);
      at += size.length;
    });
  const rest = packed.subarray(streams[STREAMS]);
  wasm.set(rest, at);
  return wasm.subarray(0, at + rest.length);
};
