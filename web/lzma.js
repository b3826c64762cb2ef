// Decodes LZMA, as `xz --format=lzma` writes it and the specification in the LZMA
// SDK (7-zip.org/sdk.html) has it. The file says its size: the mark of its end is
// not needed.
const STATES = 12;
const MATCH = 0, REP = MATCH + (STATES << 4), REP_G0 = REP + STATES,
  REP_G1 = REP_G0 + STATES, REP_G2 = REP_G1 + STATES,
  REP_LONG = REP_G2 + STATES, SLOT = REP_LONG + (STATES << 4),
  SPECIAL = SLOT + (4 << 6), ALIGN = SPECIAL + 115, LENGTH = ALIGN + 16,
  REP_LENGTH = LENGTH + 514, LITERAL = REP_LENGTH + 514;

// As much as is there: what ends early gives zeros.
export const unlzma = (from) => {
  const view = new DataView(from.buffer, from.byteOffset);
  const lc = from[0] % 9, lp = (from[0] / 9 | 0) % 5, pb = from[0] / 45 | 0;
  const to = new Uint8Array(view.getUint32(5, true));
  const odds = new Uint16Array(LITERAL + (0x300 << lc + lp)).fill(1024);
  let range = 0xffffffff, code = view.getUint32(14), at = 18;

  const shift = () => {
    range = range << 8 >>> 0;
    code = (code << 8 | from[at++]) >>> 0;
  };
  const bit = (i) => {
    const odd = odds[i], bound = (range >>> 11) * odd;
    const one = code >= bound ? 1 : 0;
    if (one) {
      range -= bound;
      code -= bound;
      odds[i] = odd - (odd >> 5);
    } else {
      range = bound;
      odds[i] = odd + (2048 - odd >> 5);
    }
    if (range < 0x1000000) shift();
    return one;
  };
  const direct = (bits) => {
    let value = 0;
    for (; bits > 0; bits--) {
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code -= range;
      value = value << 1 | one;
      if (range < 0x1000000) shift();
    }
    return value;
  };
  const tree = (base, bits) => {
    let node = 1;
    for (let i = 0; i < bits; i++) node = node << 1 | bit(base + node);
    return node - (1 << bits);
  };
  const reversed = (base, bits) => {
    let node = 1, value = 0;
    for (let i = 0; i < bits; i++) {
      const b = bit(base + node);
      node = node << 1 | b;
      value |= b << i;
    }
    return value;
  };
  const length = (base, pos) => 2 + (!bit(base) ? tree(base + 2 + (pos << 3), 3)
    : !bit(base + 1) ? 8 + tree(base + 130 + (pos << 3), 3)
      : 16 + tree(base + 258, 8));
  const distance = (bytes) => {
    const slot = tree(SLOT + (Math.min(bytes - 2, 3) << 6), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1, high = (2 | slot & 1) << bits;
    return slot < 14 ? high + reversed(SPECIAL + high - slot, bits)
      : high + (direct(bits - 4) << 4) + reversed(ALIGN, 4);
  };
  // A byte, which after a match is not the one that would have gone on.
  const literal = (n, state, same) => {
    const base = LITERAL + 0x300 * (((n & (1 << lp) - 1) << lc) +
      ((n ? to[n - 1] : 0) >> 8 - lc));
    let node = 1;
    for (let alike = state >= 7; node < 256;) {
      const wanted = same >> 7 & 1;
      const b = bit(base + node + (alike ? 1 + wanted << 8 : 0));
      node = node << 1 | b;
      alike = alike && b === wanted;
      same <<= 1;
    }
    return node;
  };

  let state = 0, far = [0, 0, 0, 0]; // the last distances
  for (let n = 0; n < to.length && at <= from.length + 4;) {
    const pos = n & (1 << pb) - 1;
    if (!bit(MATCH + (state << 4) + pos)) {
      to[n] = literal(n, state, to[n - far[0] - 1]);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      n++;
      continue;
    }
    let bytes = 1;
    const after = state < 7 ? 0 : 3;
    if (!bit(REP + state)) {
      bytes = length(LENGTH, pos);
      far = [distance(bytes), far[0], far[1], far[2]];
      state = 7 + after;
    } else {
      const which = !bit(REP_G0 + state) ? 0 : !bit(REP_G1 + state) ? 1
        : 2 + bit(REP_G2 + state);
      if (which === 0 && !bit(REP_LONG + (state << 4) + pos)) {
        state = after ? 11 : 9;
      } else {
        far.unshift(...far.splice(which, 1));
        bytes = length(REP_LENGTH, pos);
        state = 8 + after;
      }
    }
    for (const end = Math.min(n + bytes, to.length); n < end; n++)
      to[n] = to[n - far[0] - 1];
  }
  return to;
};
