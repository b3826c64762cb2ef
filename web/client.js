// The worker's owner: one job at a time, the last compile wins, and a worker
// that takes over LIMIT milliseconds, or trapped, is replaced by a fresh one.
import source from "worker:engine";

export const LIMIT = 5000;

export class Client {
  constructor(module, files) {
    this.module = module;
    this.files = files;
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
        do: "start", module: this.module, files: this.files } });
    });
    this.ready.catch(() => {});
    this.next();
  }

  next() {
    const job = this.jobs[0];
    if (!job || job.id) return;
    job.id = ++this.number;
    this.timer = setTimeout(() => this.replace(
      `it took over ${LIMIT / 1000} seconds`), LIMIT);
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
