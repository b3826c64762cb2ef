// The text survives a reload: this browser keeps it, and gives it to no one.
const KEY = "netc";
const storage = () => {
  try {
    return localStorage;
  } catch {
    return null; // forbidden by the browser
  }
};

export const keep = (state) => {
  try {
    storage()?.setItem(KEY, JSON.stringify(state));
  } catch { /* it is full: the link still has the text */ }
};

// {text, name, ..., link}, or null. `link`: the address that this page wrote.
export const kept = () => {
  try {
    const found = JSON.parse(storage()?.getItem(KEY) ?? "null");
    return typeof found?.text === "string" ? found : null;
  } catch {
    return null;
  }
};
