// tools/review.js and action.yml: make check-review. Nets with hostile names
// in a repository of its own, and a small fake of GitHub's API.
// review.js NETC FOLDER
"use strict";
const assert = require("assert");
const { execFileSync, spawn, spawnSync } = require("child_process");
const fs = require("fs");
const http = require("http");
const path = require("path");

const [netc, folder] = process.argv.slice(2);
const root = path.dirname(__dirname);
const review = path.join(root, "tools/review.js");
const tree = path.join(folder, "tree");
fs.rmSync(folder, { recursive: true, force: true });
fs.mkdirSync(tree, { recursive: true });

const net = (classes) =>
  `input 24x24x3\nconv 8 3x3 pad bn relu\ngap\nfc ${classes}\n`;
const hostile = "a`b``|<img src=x>@everyone [x](http:evil) #1\n## big.net";
const git = (...args) => execFileSync("git", ["-C", tree, "-c", "user.name=t",
  "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false", ...args],
{ encoding: "utf8" });
const put = (name, text) => {
  fs.mkdirSync(path.dirname(path.join(tree, name)), { recursive: true });
  fs.writeFileSync(path.join(tree, name), text);
};
const commit = () => { git("add", "-A"); git("commit", "-q", "-m", "nets"); };

const summary = path.join(folder, "summary.md");
const comment = path.join(folder, "comment.md");
function check(options = "", format = "true", base = "HEAD^1") {
  fs.rmSync(summary, { force: true });
  const done = spawnSync("node", [review, "check", netc, base, "*.net",
    options, format, comment], { cwd: tree, encoding: "utf8",
    env: { ...process.env, GITHUB_STEP_SUMMARY: summary } });
  assert.strictEqual(done.stderr, "");
  return done;
}

// What a browser would have of it, as far as pandoc reads GitHub's Markdown.
function page() {
  return execFileSync("pandoc", ["-f", "gfm", "-t", "html", comment],
    { encoding: "utf8" });
}

const PLAIN = new RegExp("^</?(h[34]|p|code|pre|table|thead|tbody|tr|th|td|" +
  "strong|span|a|colgroup|col|div)$");

function harmless() {
  const html = page().replace(/<!--.*?-->/g, "");
  for (const tag of html.match(/<\/?[a-z0-9]+/g) || [])
    assert.ok(PLAIN.test(tag), `${tag} in ${html}`);
  assert.ok(!/<a [^>]*href="(?!#cb)/.test(html), html);
  const outside = html.replace(/<code.*?<\/code>/gs, "");
  assert.ok(!outside.includes("@"), outside);
  assert.ok(!/#\d/.test(outside.replace(/&#\d+;|href="#cb[^"]*"/g, "")),
    outside);
  return html;
}

function changes_are_told() {
  git("init", "-q");
  put("same.net", net(10));
  put("sub/changed.net", net(10));
  put("gone.net", net(10));
  put("user.net", 'use "part.net"\ninput 24x24x3\nhead 10\n');
  put("part.net", "def head(n) { gap; fc n }\n");
  put(hostile, net(10));
  commit();
  put("sub/changed.net", net(20));
  put("-new.net", net(5));
  put("part.net", "def head(n) { gap; fc n; fc n }\n");
  put(hostile, net(30));
  fs.rmSync(path.join(tree, "gone.net"));
  fs.symlinkSync("/etc/passwd", path.join(tree, "link.net"));
  commit();
  const done = check("", "false");
  assert.match(done.stdout, /nets, of which [0-9]+ change/);
  const text = fs.readFileSync(comment, "utf8");
  assert.strictEqual(fs.readFileSync(summary, "utf8"), text);
  assert.match(text, /#### `sub\/changed.net`\n\n\| \| before \| after/);
  assert.match(text, /\| parameters \| 322 \| 412 \| \+90 \|/);
  assert.match(text, /#### `gone.net`\n\nis gone/);
  assert.match(text, /#### `-new.net`\n\nis new/);
  assert.match(text, /#### `user.net`/); // part.net is another one
  assert.ok(!text.includes("same.net") && !text.includes("link.net") &&
    !text.includes("part.net"));
  assert.ok(harmless().includes("&lt;img src=x&gt;@everyone"));
  return done;
}

function texts_are_escaped() {
  put("sub/changed.net", `error "x%\n::error::y"\n${net(20)}`);
  put("bad.net", "input 24x24x3\n" +
    'error "</code>```\u202E@all <b> [a](http://x) #1"\n');
  put("evil,file=x::y%0A.net", "input 4\nfx 2\n");
  put("warned.net", `${net(10)}warn "%0A::set-output name=x::<i>@all"\n`);
  commit();
  const done = check("-Werror");
  assert.strictEqual(done.status, 1);
  for (const line of done.stdout.trim().split("\n"))
    assert.match(line, new RegExp("^(::error file=[^:,]*(,line=\\d+)?" +
      "(,col=\\d+)?::[^\r]*|\\d+ nets, of which \\d+ change)$"));
  assert.match(done.stdout,
    /^::error file=evil%2Cfile=x%3A%3Ay%250A.net,line=2/m);
  assert.match(done.stdout, /file=warned.net,line=5,col=1::%250A::set-output/);
  assert.ok(!fs.readFileSync(comment, "utf8").includes("\u202E"));
  harmless();
}

function forms_are_checked() {
  put("loose.net", "input   4\nfc 2\n");
  commit();
  assert.match(check().stdout,
    /::error file=loose.net,line=1::not in canonical form/);
  assert.ok(!check("", "false").stdout.includes("canonical"));
  const deep = check("", "true", "HEAD~99");
  assert.strictEqual(deep.status, 1);
  assert.match(deep.stdout,
    /^::error::there is no commit HEAD~99: .*fetch-depth/);
}

// Whatever is outside the repository is not read; what is inside, is.
function use_is_confined() {
  fs.writeFileSync(path.join(folder, "secret.ini"), "[token]\nhunter2\n");
  fs.writeFileSync(path.join(folder, "lib.net"), "def hunter2(n) { fc n }\n");
  put("lib/head.net", "def head(n) { gap; fc n }\n");
  put("nets/inside.net", 'use "../lib/head.net"\ninput 24x24x3\nhead 10\n');
  put("nets/ini.net", `use "../../secret.ini"\n${net(10)}`);
  put("nets/lib.net", `use "../../lib.net"\n${net(10)}`);
  commit();
  put("lib/head.net", "def head(n) { gap; fc n; fc n }\n");
  put("nets/ini.net", `use "../../secret.ini"\n${net(20)}`);
  put("nets/lib.net", `use "../../lib.net"\n${net(20)}`);
  commit();
  const done = check("", "false");
  const text = fs.readFileSync(comment, "utf8");
  assert.ok(!(done.stdout + text).includes("hunter2"), done.stdout + text);
  assert.match(done.stdout,
    /ini.net,line=1,col=5::[^\n]*outside the folders that --confine/);
  assert.match(done.stdout,
    /lib.net,line=1,col=5::[^\n]*outside the folders that --confine/);
  assert.match(text, /#### `nets\/inside.net`\n\n\| \| before \| after/);
  for (const name of ["nets/ini.net", "nets/lib.net", "nets/inside.net",
    "lib/head.net"])
    fs.rmSync(path.join(tree, name));
  commit();
}

// Programs that a pull request brings along, where PATH has relative folders.
function no_program_of_the_tree_runs() {
  const ran = path.join(folder, "ran");
  const planted = ["git", "tar", "node", "netc"];
  for (const name of planted) {
    put(name, `#!/bin/sh\necho ${name} >>${ran}\n`);
    fs.chmodSync(path.join(tree, name), 0o755);
  }
  const done = spawnSync(process.execPath, [review, "check", netc, "HEAD^1", "*.net", "",
    "false", comment], { cwd: tree, encoding: "utf8",
    env: { ...process.env, PATH: `::.:${process.env.PATH}:` } });
  assert.match(done.stdout, /nets, of which [0-9]+ change/);
  assert.ok(!fs.existsSync(ran), "a program of the tree has run");
  for (const name of planted)
    fs.rmSync(path.join(tree, name));
}

// GitHub's API: as much as is called.
const api = { comments: [], calls: [], next: 1000 };
const server = http.createServer((request, response) => {
  let text = "";
  request.on("data", (part) => { text += part; });
  request.on("end", () => {
    const url = new URL(request.url, "http://x");
    const answer = (status, value) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    api.calls.push(`${request.method} ${url.pathname}`);
    if (request.headers.authorization !== "Bearer secret")
      return answer(401, { message: "Bad credentials" });
    const own = url.pathname.match(/^\/repos\/o\/r\/issues\/comments\/(\d+)$/);
    if (request.method === "GET" &&
        url.pathname === "/repos/o/r/issues/7/comments") {
      const size = Number(url.searchParams.get("per_page"));
      const from = (Number(url.searchParams.get("page")) - 1) * size;
      return answer(200, api.comments.slice(from, from + size));
    }
    if (request.method === "POST" &&
        url.pathname === "/repos/o/r/issues/7/comments") {
      api.comments.push({ id: api.next++, body: JSON.parse(text).body,
        user: { login: "github-actions[bot]", type: "Bot" } });
      return answer(201, api.comments.at(-1));
    }
    if (request.method === "PATCH" && own) {
      const found = api.comments.find((one) => one.id === Number(own[1]));
      found.body = JSON.parse(text).body;
      return answer(200, found);
    }
    return answer(404, { message: "Not Found" });
  });
});

function post(port, head, token = "secret") {
  const event = path.join(folder, "event.json");
  fs.writeFileSync(event, JSON.stringify({ pull_request: { number: 7,
    head: { repo: head && { full_name: head } } } }));
  api.calls = [];
  return new Promise((resolve) => {
    const child = spawn("node", [review, "post", comment], {
      env: { ...process.env, GITHUB_API_URL: `http://127.0.0.1:${port}`,
        GITHUB_REPOSITORY: "o/r", GITHUB_EVENT_PATH: event,
        GITHUB_TOKEN: token, NETC_AUTHOR: "github-actions[bot]" } });
    let said = "";
    child.stdout.on("data", (part) => { said += part; });
    child.on("exit", (status) => resolve({ status, said }));
  });
}

async function one_comment_is_edited(port) {
  const mark = fs.readFileSync(comment, "utf8").split("\n")[0];
  // A page and a half of others, and one who wrote the mark himself.
  for (let i = 0; i < 150; i++)
    api.comments.push({ id: i, user: { login: "someone", type: "User" },
      body: i === 3 ? `${mark}\nmine` : "hello" });
  check("", "false");
  assert.strictEqual((await post(port, "o/r")).status, 0);
  assert.strictEqual(api.comments.length, 151);
  const written = api.comments[150];
  assert.strictEqual(written.body, fs.readFileSync(comment, "utf8"));
  put("loose.net", net(77)); // the next push
  commit();
  check("", "false");
  assert.strictEqual((await post(port, "o/r")).status, 0);
  assert.strictEqual(api.comments.length, 151);
  assert.match(written.body, /loose.net/);
  assert.strictEqual(api.comments[3].body, `${mark}\nmine`);
  await post(port, "o/r"); // nothing is new
  assert.ok(!api.calls.some((one) => one.startsWith("PATCH")));
  put("README", "no net\n");
  commit();
  check("", "false");
  await post(port, "o/r");
  assert.match(written.body, /Nothing that is counted/);
  api.comments.pop(); // and where there is none, none is made for that
  await post(port, "o/r");
  assert.strictEqual(api.comments.length, 150);
  assert.deepStrictEqual(api.calls, Array(2).fill(
    "GET /repos/o/r/issues/7/comments"));
}

async function forks_call_nothing(port) {
  for (const head of ["stranger/r", null]) {
    const done = await post(port, head);
    assert.strictEqual(done.status, 0);
    assert.match(done.said, /from a fork/);
    assert.deepStrictEqual(api.calls, []);
  }
  const refused = await post(port, "o/r", "wrong");
  assert.strictEqual(refused.status, 1);
  assert.match(refused.said, /^::error::GET .*: 401/);
  // The token is given to one step, and the action only runs where it is safe.
  const steps = fs.readFileSync(path.join(root, "action.yml"), "utf8")
    .split(/^ {4}- name: /m).slice(1);
  assert.deepStrictEqual(steps.map((step) => step.includes("inputs.token }}")),
    [false, false, false, true]);
  const scripts = steps.map((step) => step.split(/ {6}run: [|>]-?\n/)[1]
    .replace(/^ {8}/gm, ""));
  for (const script of scripts) // no text of a pull request becomes a script
    assert.ok(!script.includes("${{"), script);
  for (const [event, status] of [["pull_request", 0], ["push", 0],
    ["pull_request_target", 1], ["workflow_run", 1], ["issue_comment", 1]])
    assert.strictEqual(spawnSync("bash", ["-e", "-c", scripts[0]],
      { env: { ...process.env, EVENT: event } }).status, status, event);
  if (spawnSync("shellcheck", ["--version"]).status === 0)
    for (const script of scripts)
      assert.strictEqual(spawnSync("shellcheck", ["-s", "bash", "-"],
        { input: script, encoding: "utf8" }).stdout, "");
}

// .pre-commit-hooks.yaml, as pre-commit takes it.
function hooks_run() {
  if (spawnSync("pre-commit", ["--version"]).status !== 0) {
    assert.ok(!process.env.CI, "pre-commit is missing");
    return "pre-commit is not installed";
  }
  const hooks = path.join(folder, "hooks");
  fs.mkdirSync(hooks);
  fs.copyFileSync(path.join(root, ".pre-commit-hooks.yaml"),
    path.join(hooks, ".pre-commit-hooks.yaml"));
  const inside = (...args) => execFileSync("git", ["-C", hooks, "-c",
    "user.name=t", "-c", "user.email=t@localhost", ...args],
  { encoding: "utf8" });
  inside("init", "-q");
  inside("add", "-A");
  inside("commit", "-q", "-m", "hooks");
  put(".pre-commit-config.yaml", `repos:\n- repo: ${hooks}\n` +
    `  rev: ${inside("rev-parse", "HEAD").trim()}\n` +
    "  hooks:\n  - id: netc-check\n  - id: netc-fmt\n");
  for (const name of ["bad.net", hostile, "evil,file=x::y%0A.net", "link.net",
    "warned.net", "sub/changed.net", "part.net", "user.net"])
    fs.rmSync(path.join(tree, name));
  put("loose.net", "input   4\nfc 2\n");
  git("add", "-A");
  const hook = () => spawnSync("pre-commit", ["run", "--all-files"], {
    cwd: tree, encoding: "utf8", env: { ...process.env,
      PATH: `${path.dirname(netc)}:${process.env.PATH}`,
      PRE_COMMIT_HOME: path.join(folder, "home") } });
  const first = hook();
  assert.match(first.stdout, /netc check\.+Passed/);
  assert.match(first.stdout, /netc fmt\.+Failed[^]*files were modified/);
  assert.strictEqual(fs.readFileSync(path.join(tree, "loose.net"), "utf8"),
    "input 4\nfc 2\n");
  git("add", "-A");
  assert.strictEqual(hook().status, 0);
  put("loose.net", "input 4\nfx 2\n");
  git("add", "-A");
  const wrong = hook();
  assert.strictEqual(wrong.status, 1);
  assert.match(wrong.stdout, /loose.net:2:1: error: unknown layer/);
  return "";
}

async function all() {
  changes_are_told();
  texts_are_escaped();
  forms_are_checked();
  use_is_confined();
  no_program_of_the_tree_runs();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  await one_comment_is_edited(server.address().port);
  await forks_call_nothing(server.address().port);
  server.close();
  const skipped = hooks_run();
  console.log(`review: comments, forks and hooks${skipped && `; ${skipped}`}`);
}

all().catch((error) => { console.error(error); process.exit(1); });
