// The pages of the site: search, Copy, the playground of the home page.
"use strict";
const script = document.currentScript;
const root = script.dataset.root;
const all = (selector) => [...document.querySelectorAll(selector)];
document.documentElement.classList.add("js");

// Beside the page there is room for the list; on a phone it is folded.
for (const list of all(".frame > nav details"))
  list.open = matchMedia("(min-width: 60rem)").matches &&
    !document.body.matches(".wide");

// The keys reach all that scrolls.
const scrolls = new ResizeObserver((entries) => {
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
});
for (const box of all("pre, .table")) scrolls.observe(box);

// A command that downloads has the address of this site.
for (const code of all("#install code"))
  for (const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    walk.nextNode();)
    walk.currentNode.data = walk.currentNode.data.replace(
      /(?<=^|\s)download\//, new URL("download/", document.baseURI).href);

const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
};
for (const button of all(".copy"))
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("code").textContent;
    const done = await copy(text).then(() => true, () => false);
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });

// The playground is 0.6 MB: it is fetched when it comes into view.
const frames = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries)
    if (isIntersecting) {
      target.src = target.dataset.src;
      frames.unobserve(target);
    }
}, { rootMargin: "100px" });
addEventListener("load", () => {
  for (const frame of all("iframe[data-src]")) frames.observe(frame);
});

// A word of the index, with the sections that have it, found when asked for.
let index = null;
const parse = ([pages, words]) => {
  const sections = pages.flatMap(([address, title, heads]) =>
    heads.map(([anchor, heading]) => ({
      address: address + (anchor ? `#${anchor}` : ""), title, heading,
      head: ` ${heading || title}`.toLowerCase().replace(/[^a-z0-9]+/g, " ") })));
  return { sections, words: words.split("\n").map((line) => {
    const [word, places] = line.split(" ");
    let at = 0;
    return [word, places && places.match(/[a-z]*[A-Z]/g).map((digits) =>
      at += [...digits.toLowerCase()].reduce((sum, digit) =>
        sum * 26 + digit.charCodeAt() - 97, 0))];
  }) };
};
const load = () => index ??= new Promise((done, failed) => {
  window.netcIndex = (data) => done(parse(data));
  const part = document.createElement("script");
  part.src = `${root}words.js`;
  part.onerror = () => {
    index = null;
    failed(new Error("no index"));
  };
  document.head.append(part);
});

// Sections with all the words, each whole or as the beginning of one there. A
// word of the index without places is in so many that it only ranks.
const find = ({ sections, words }, query) => {
  const asked = query.toLowerCase().match(/[a-z0-9]+/g) || [];
  let scores = null;
  for (const one of asked) {
    const plain = one.replace(/(?<=..[^s])s$/, "");
    const here = new Map();
    const more = (place, score) => here.set(place, (here.get(place) || 0) + score);
    for (const [word, places] of words)
      if (word.startsWith(plain))
        for (const place of places || sections.keys())
          here.set(place, Math.max(here.get(place) || 0,
            !places ? 0.1 : word === plain ? 3 : 1));
    sections.forEach(({ head }, place) => {
      if (head.includes(` ${plain}`)) more(place, 8);
    });
    scores = scores ? new Map([...here].filter(([place]) => scores.has(place))
      .map(([place, score]) => [place, score + scores.get(place)])) : here;
  }
  // Between equals the heading with fewer words is nearer to the question.
  return [...scores || []].map(([place, score]) => ({ ...sections[place],
    score: score - sections[place].head.length / 100 -
      (sections[place].heading ? 0.5 : 0) }))
    .sort((a, b) => b.score - a.score).slice(0, 12);
};

const box = document.getElementById("search");
const found = document.getElementById("found");
const links = () => [...found.querySelectorAll("a")];
const close = () => { found.hidden = true; };
const show = async () => {
  const query = box.value.trim();
  if (!query) return close();
  const said = found.querySelector("p"), list = found.querySelector("ul");
  try {
    const results = find(await load(), query);
    // A later letter has its own answer.
    if (query !== box.value.trim()) return undefined;
    list.replaceChildren(...results.map(({ address, title, heading }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + address;
      link.textContent = heading || title;
      if (heading) {
        const page = document.createElement("span");
        page.textContent = title;
        link.append(" ", page);
      }
      item.append(link);
      return item;
    }));
    said.textContent = results.length ? `${results.length} results` :
      `Nothing found for “${query}”`;
  } catch {
    list.replaceChildren();
    said.textContent = "The index could not be loaded";
  }
  found.hidden = false;
  return undefined;
};
box.addEventListener("focus", () => load().catch(() => null));
box.addEventListener("input", show);
box.closest("search").addEventListener("keydown", (event) => {
  const at = links().indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && !found.hidden) {
    event.preventDefault();
    (at + step < 0 ? box : links()[at + step] || document.activeElement)
      .focus();
  } else if (event.key === "Enter" && at < 0) {
    event.preventDefault();
    show().then(() => links()[0] && links()[0].click());
  } else if (event.key === "Escape") {
    close();
    box.value = "";
    box.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName) &&
      !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    box.focus();
  }
});
