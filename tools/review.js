// What a pull request does to nets: action.yml runs this.
//
//   review.js check NETC BASE PATTERN OPTIONS FORMAT COMMENT
//     checks the nets of the work tree, compares each with that of BASE (a
//     commit), and leaves the comment in a file, and in the job's summary
//   review.js post COMMENT
//     makes it the pull request's one comment: that of the last push is edited
//
// Nets, their names and what netc says of them are a stranger's: in Markdown
// they stand in code, and the job's log has them with escapes.
"use strict";
const { execFileSync, spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

// Programs are found in absolute folders: the current one is a stranger's.
process.env.PATH = (process.env.PATH || "").split(":")
  .filter(path.isAbsolute).join(":") || "/usr/bin:/bin";

const MARK = "<!-- netc: nets of this pull request -->\n";
const MOST = 60000; // GitHub takes 65,536 characters
const OF_ONE = 10000;

const run = (netc, ...args) => spawnSync(netc, args, { encoding: "utf8",
  maxBuffer: 1 << 28, timeout: 120000 });
// `use` reaches no file outside the repository, as it is now or was before.
const confine = (...roots) => roots.map((root) => `--confine=${root}`);
const root = () => git("rev-parse", "--show-toplevel").replace(/\n$/, "");

function fail(text) {
  console.log(`::error::${data(text)}`);
  process.exit(1);
}

// A workflow command ends at the line's end; properties at , and :
const data = (text) => text.replace(/%/g, "%25").replace(/\r/g, "%0D")
  .replace(/\n/g, "%0A");
const property = (text) => data(text).replace(/:/g, "%3A")
  .replace(/,/g, "%2C");

// Code, which no text inside it ends; on one line, so that no other begins.
// In code neither HTML, links nor mentions are read.
function code(text) {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
  const longest = Math.max(0, ...(line.match(/`+/g) || [])
    .map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const blank = /^`|`$/.test(line) || /^ .* $/.test(line) ? " " : "";
  return `${fence}${blank}${line}${blank}${fence}`;
}

// Lines of code: the fence is longer than any of theirs.
function block(kind, text) {
  const longest = Math.max(2, ...(text.match(/`+/g) || [])
    .map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const lines = text.replace(/[^\P{C}\n]/gu, "?").replace(/\n+$/, "");
  return `${fence}${kind}\n${lines}\n${fence}\n`;
}

function git(...args) {
  return execFileSync("git", args, { encoding: "utf8",
    maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}

// The nets of a commit, or of the work tree: files, no links. Names are bytes;
// one that is not UTF-8 is passed over.
function nets(pattern, commit) {
  const listed = commit ? git("ls-tree", "-r", "-z", commit) :
    git("ls-files", "-s", "-z");
  const pathspec = new Set(git("ls-files", "-z", ...(commit ?
    ["--with-tree", commit] : []), "--", ...pattern).split("\0"));
  return listed.split("\0").filter((line) => line.startsWith("100"))
    .map((line) => line.slice(line.indexOf("\t") + 1))
    .filter((name) => pathspec.has(name) && !name.includes("\uFFFD"))
    .filter((name) => commit || fs.existsSync(name));
}

// A name that begins with - is no option.
const file = (folder, name) => path.join(folder, name).replace(/^-/, "./-");

function diagnosed(netc, name, options) {
  const done = run(netc, "check", "--diagnostics=json", ...confine(root()),
    ...options, file("", name));
  const found = done.stderr.split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  return { status: done.status ?? done.signal, found };
}

// Defs for others to use: no net.
const isPart = (found) => found.length === 1 && found[0].slug === "no-input";

function annotate(name, { status, found }) {
  if (isPart(found))
    return true;
  for (const d of found) {
    const kind = d.severity === "error" ? "error" : "warning";
    const place = [`file=${property(d.file || name)}`, `line=${d.line || 1}`];
    if (d.col)
      place.push(`col=${d.col}`);
    console.log(`::${kind} ${place.join(",")}::${data(d.message)} [${d.slug}]`);
  }
  if (status !== 0 && status !== 1)
    console.log(`::error file=${property(name)}::netc ended with ${status}`);
  return status === 0;
}

function formatted(netc, name) {
  const done = run(netc, "fmt", "--check", ...confine(root()), file("", name));
  if (done.status !== 0)
    console.log(`::error file=${property(name)},line=1::not in canonical ` +
      "form: netc fmt -i writes it so");
  return done.status === 0;
}

// A section of the comment, or "" if nothing is to be said.
function compared(netc, folder, name, before, now) {
  const title = `#### ${code(name)}\n\n`;
  if (!now)
    return `${title}is gone.\n`;
  const old = file(folder, name), own = file("", name);
  const kept = confine(root(), folder);
  if (before && run(netc, "diff", ...kept, old, own).status === 0)
    return "";
  const made = before ? run(netc, "diff", "--exit-zero", "--markdown", ...kept,
    old, own) : run(netc, "--emit=md", ...kept, own);
  if (made.status !== 0 && before &&
      fs.readFileSync(old).equals(fs.readFileSync(own)))
    return ""; // it was so before
  if (made.status !== 0)
    return `${title}cannot be compared:\n\n` +
      block("text", made.stderr.replaceAll(`${folder}/`, "before: ")
        .split("\n").slice(0, 12).join("\n"));
  let text = escaped(made.stdout);
  if (text.length > OF_ONE) // its listing of layers, or table of them
    text = `${text.slice(0, before ? text.indexOf("\n```") :
      text.indexOf("\n\n| layer"))}\n\nLayers are too many to list.\n`;
  return `${title}${before ? "" : "is new. "}${text}`;
}

// Markdown of netc: a table of its own words and numbers, then code. Outside
// of code nothing of a net is left as it is.
function escaped(markdown) {
  let fence = null;
  return markdown.split("\n").map((line) => {
    const found = line.match(/^(`{3,})/);
    if (found && (fence === null || found[1] === fence && line === fence)) {
      fence = fence === null ? found[1] : null;
      return line;
    }
    return fence !== null ? line.replace(/\p{C}/gu, "?") :
      line.replace(/\p{C}/gu, "?").replace(/&/g, "&amp;")
        .replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/@/g, "&#64;")
        .replace(/\[/g, "&#91;").replace(/#(?=\d)/g, "&#35;")
        .replace(/:\/\//g, "&#58;//").replace(/www\./gi, "www&#46;");
  }).join("\n");
}

function check([netc, base, pattern, options, format, comment]) {
  const words = (text) => text.split(/\s+/).filter(Boolean);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "netc-base-"));
  try {
    git("rev-parse", "--verify", "--quiet", `${base}^{commit}`);
  } catch {
    fail(`there is no commit ${base}: give actions/checkout fetch-depth: 2`);
  }
  execFileSync("tar", ["-x", "-C", folder], { input: execFileSync("git",
    ["archive", base], { maxBuffer: 1 << 30 }) });
  const now = nets(words(pattern));
  const before = nets(words(pattern), base);
  const parts = new Set();
  let well = true;
  for (const name of now) {
    const told = diagnosed(netc, name, words(options));
    if (isPart(told.found))
      parts.add(name);
    well = annotate(name, told) && well;
    if (format === "true")
      well = formatted(netc, name) && well;
  }
  const all = [...new Set([...now, ...before])].sort()
    .filter((name) => !parts.has(name));
  const sections = all.map((name) => compared(netc, folder, name,
    before.includes(name), now.includes(name))).filter(Boolean);
  fs.rmSync(folder, { recursive: true });
  let body = "", left = 0;
  for (const section of sections)
    if (body.length + section.length < MOST)
      body += `${section}\n`;
    else
      left += 1;
  if (left)
    body += `And ${left} more: \`netc diff\` compares them.\n`;
  const text = `${MARK}### What changes in nets\n\n` +
    (body || "Nothing that is counted.\n");
  fs.writeFileSync(comment, text);
  fs.writeFileSync(`${comment}.changed`, sections.length ? "yes" : "");
  if (process.env.GITHUB_STEP_SUMMARY && sections.length)
    fs.appendFileSync(process.env.GITHUB_STEP_SUMMARY, text);
  console.log(`${now.length} nets, of which ${sections.length} change`);
  process.exit(well ? 0 : 1);
}

async function call(method, address, body) {
  const answer = await fetch(`${process.env.GITHUB_API_URL}${address}`, {
    method, headers: { accept: "application/vnd.github+json",
      authorization: `Bearer ${process.env.GITHUB_TOKEN}`,
      "user-agent": "netc", "x-github-api-version": "2022-11-28" },
    body: body && JSON.stringify(body) });
  if (!answer.ok)
    fail(`${method} ${address}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

// The comment of an earlier push: with the mark, and by the token's own user,
// since anybody can write the mark.
async function earlier(issue) {
  for (let page = 1; ; page++) {
    const some = await call("GET",
      `${issue}/comments?per_page=100&page=${page}`);
    const own = some.find((comment) => comment.body.startsWith(MARK.trim()) &&
      comment.user.type === "Bot" &&
      comment.user.login === process.env.NETC_AUTHOR);
    if (own || some.length < 100)
      return own;
  }
}

async function post([comment]) {
  const event = JSON.parse(fs.readFileSync(process.env.GITHUB_EVENT_PATH,
    "utf8"));
  const from = event.pull_request.head.repo?.full_name;
  if (from !== process.env.GITHUB_REPOSITORY) {
    console.log("from a fork: the comment is in the job's summary alone");
    return;
  }
  const repository = `/repos/${process.env.GITHUB_REPOSITORY}`;
  const issue = `${repository}/issues/${event.pull_request.number}`;
  const body = fs.readFileSync(comment, "utf8");
  const changed = fs.readFileSync(`${comment}.changed`, "utf8") !== "";
  const last = await earlier(issue);
  if (last && last.body.trim() !== body.trim())
    await call("PATCH", `${repository}/issues/comments/${last.id}`, { body });
  else if (!last && changed)
    await call("POST", `${issue}/comments`, { body });
}

const [command, ...rest] = process.argv.slice(2);
if (command === "check" && rest.length === 6)
  check(rest);
else if (command === "post" && rest.length === 1)
  post(rest);
else
  fail("usage: review.js check NETC BASE PATTERN OPTIONS FORMAT COMMENT, or " +
    "review.js post COMMENT");
