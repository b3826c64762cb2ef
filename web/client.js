// The worker's owner: one job at a time, the last compile wins, and a worker
// that takes over LIMIT milliseconds, or trapped, is replaced by a fresh one.
import source from "worker:engine";

export const LIMIT = 5000, START_LIMIT = 60000;

// The compiler's module, packed: a file beside the page, or in it in base64.
export const readPacked = async (name) => {
  const here = document.getElementById(name);
  if (!here) return (await fetch(`${name}.lzma`)).arrayBuffer();
  here.remove();
  return here.textContent;
};

// The worker unpacks the module; `ready` has it, with the nets that are in it.
export class Client {
  constructor(packed, files) {
    this.opened = { packed, files };
    this.jobs = []; // the first one runs
    this.number = 0;
    this.begin();
  }

  begin() {
    const url = URL.createObjectURL(
      new Blob([source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = ({ data }) => this.answered(data);
    this.worker.onerror = (e) => {
      e.preventDefault();
      this.replace(e.message || "the compiler ended");
    };
    this.ready = new Promise((done, failed) => {
      this.jobs.unshift({ done, failed, message: {
        do: "start", ...this.opened } });
    }).then((answer) => {
      const { module, nets } = answer;
      this.opened = { module, nets, files: this.opened.files };
      return answer;
    });
    this.ready.catch(() => {});
    this.next();
  }

  next() {
    const job = this.jobs[0];
    if (!job || job.id) return;
    job.id = ++this.number;
    const limit = job.message.do === "start" ? START_LIMIT : LIMIT;
    this.timer = setTimeout(() => this.replace(
      `it took over ${limit / 1000} seconds`), limit);
    this.worker.postMessage({ ...job.message, id: job.id });
  }

  answered(data) {
    const job = this.jobs[0];
    if (!job || data.id !== job.id) return;
    if (data.error !== undefined) {
      this.replace(data.error);
      return;
    }
    clearTimeout(this.timer);
    this.jobs.shift();
    job.done(data);
    this.next();
  }

  // The job that runs has failed; those that wait go to a fresh worker.
  replace(why) {
    clearTimeout(this.timer);
    this.worker.terminate();
    const job = this.jobs.shift();
    if (job) job.failed(new Error(why));
    if (job && job.message.do === "start") return; // it would fail again
    this.begin();
  }

  // A newer compile takes the place of one that waits, which gives null.
  ask(message) {
    return new Promise((done, failed) => {
      if (message.do === "compile") {
        const waits = this.jobs.findIndex((j) => !j.id &&
          j.message.do === "compile" && !j.message.keep);
        if (waits >= 0 && !message.keep)
          this.jobs.splice(waits, 1)[0].done(null);
      }
      this.jobs.push({ message, done, failed });
      this.next();
    });
  }
}
