// The fragment of a link: #text= is a source, percent-encoded; #s= the same,
// deflated and in base64url. Others are settings. A link is anybody's: what
// is wrong with it is left out, and what it inflates to is limited.
export const MOST_BYTES = 1 << 20;
const SETTINGS = ["batch", "optimizer", "gpu", "dtype", "precision",
  "weight_dtype", "context", "like", "checkpoint", "accumulate", "offload"];

const to64 = (bytes) => {
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_")
    .replace(/=+$/, "");
};
const from64 = (word) => Uint8Array.from(
  atob(word.replaceAll("-", "+").replaceAll("_", "/")),
  (c) => c.charCodeAt(0));

const through = async (bytes, stream, most) => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const pieces = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      reader.cancel().catch(() => {});
      throw new Error("the link's source is larger than 1 MB");
    }
    pieces.push(value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
};

export const pack = async (text) => to64(await through(
  new TextEncoder().encode(text), new CompressionStream("deflate-raw"),
  Infinity));
export const unpack = async (word) => new TextDecoder().decode(await through(
  from64(word), new DecompressionStream("deflate-raw"), MOST_BYTES));

// {text, name, settings, define, input, predict, tab, error}; no text: none was
// given.
export const read = async (fragment) => {
  const found = { settings: {}, define: {}, input: {} };
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const key = at < 0 ? part : part.slice(0, at);
    try {
      const value = at < 0 ? "" : part.slice(at + 1);
      if (key === "s") {
        found.text = await unpack(value);
        continue;
      }
      const plain = decodeURIComponent(value);
      const name = decodeURIComponent(key.slice(2));
      if (key === "text" && plain.length <= MOST_BYTES) found.text = plain;
      else if (key === "text") throw new Error("the link is larger than 1 MB");
      else if (key === "zoo") found.zoo = plain;
      else if (key === "tab") found.tab = plain;
      else if (key === "predict") found.predict = plain !== "off";
      else if (key === "name" && /^[\w.-]{1,80}\.net$/.test(plain))
        found.name = plain;
      else if (SETTINGS.includes(key)) found.settings[key] = plain;
      else if (key.startsWith("D.")) found.define[name] = plain;
      else if (key.startsWith("I.")) found.input[name] = plain;
    } catch (e) {
      found.error = `This link is damaged: ${e.message}`;
    }
  }
  return found;
};

// `zoo`: the text is that of an example, whose name suffices.
export const write = async (state, zoo) => {
  const parts = [zoo ? `zoo=${zoo}` : `s=${await pack(state.text)}`];
  const add = (key, value) => parts.push(
    `${key}=${encodeURIComponent(value)}`);
  if (!zoo && state.name !== "untitled.net") add("name", state.name);
  for (const [k, v] of Object.entries(state.settings)) add(k, v);
  for (const [k, v] of Object.entries(state.define))
    add(`D.${encodeURIComponent(k)}`, v);
  for (const [k, v] of Object.entries(state.input))
    add(`I.${encodeURIComponent(k)}`, v);
  if (state.predict !== undefined)
    add("predict", state.predict ? "on" : "off");
  if (state.tab) add("tab", state.tab);
  return "#" + parts.join("&");
};
