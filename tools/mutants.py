#!/usr/bin/python3
"""mutants.py BUILD N SEED JOBS: does a test notice when the code is wrong?

Changes one operator or constant of layers/ or memory/plan/ at a time, N of
them, drawn by SEED; compiles that file, links the library and runs the tests
that are quick, until one fails; then those that call the library once more
under ASan and UBSan. Mutants that do not compile, or whose object is the
same, are not counted, and others are drawn for them. Nor is an array with one
place more, unless the file asks for its size: nothing reads that place.

The tests read a copy of the tree, which may change meanwhile. Each job has
its own library, a shared one, so that programs are linked once. Verdicts are
appended to BUILD/mutants-SEED.log; the same command goes on after the last
one, as long as sources and tests are what they were.
"""
import hashlib
import multiprocessing
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # makes of its own
    os.environ.pop(name, None)
os.environ.update(PART="fast", CMOCKA_MESSAGE_OUTPUT="stdout",
                  ASAN_OPTIONS="detect_leaks=0:hard_rss_limit_mb=4000")
build, wanted, seed, jobs = sys.argv[1], *[int(x, 0) for x in sys.argv[2:5]]
tree, thin = build + "/mutants/tree", build + "/mutants/thin"
# The cheapest first; figures kills the most.
TESTS = """layers rule frozen small sequence steps schedule figures training
           turns foreign plan inference model golden torch run onnx zoo memory
           serving parallel published chain interchange mistakes ways""".split()
# Those that call the library themselves; of tables a tenth.
SANITIZED = """layers rule frozen small sequence steps schedule plan figures
               foreign""".split()
TABLES = ["tests/data/" + name
          for name in ("figures.csv", "limits.txt", "foreign.txt")]
FIRST = {"memory/plan": ["schedule", "plan"],
         "layers/foreign": ["foreign", "mistakes"]}
SWAPS = {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ",
         " % ": " / ", " < ": " <= ", " <= ": " < ", " > ": " >= ",
         " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ",
         " || ": " && ", " += ": " -= ", " -= ": " += ", "true": "false",
         "false": "true"}
# "struct strides lies[3], other[2];": what such a line begins with.
DECLARES = re.compile(r"\s*(?!return\b)"
                      r"((static|const|struct|enum|unsigned)\s+)*"
                      r"\w+\s+[*\s]*\w+(\[|,|\s*=)")


def must(command):
    done = subprocess.run(command, shell=True, cwd=tree, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    if done.returncode:
        raise RuntimeError(command + "\n" + done.stdout[-3000:])
    return done.stdout


def changes(line, text):
    """All single changes of a line of code of a file."""
    code = line.split("/*")[0]
    if re.match(r"\s*(#|\*|//)", line) or '"' in line:
        return
    for old, new in SWAPS.items():
        word = r"\b%s\b" % old if old.isalpha() else re.escape(old)
        for match in re.finditer(word, code):
            yield (line[:match.start()] + new + line[match.end():],
                   "%s to %s" % (old.strip(), new.strip()))
    declares = DECLARES.match(code)
    for match in re.finditer(r"(?<![\w.])\d+(?![\w.])", code):
        name = re.search(r"(\w+)(\[[^]]*\])*\[$", code[:match.start()])
        if (declares and name and code[match.end()] == "]" and
                "=" not in code[:match.start()].split(",")[-1] and
                "sizeof " + name[1] not in text):
            continue
        asked = re.search(r"arena_(alloc|room)\(", code[:match.start()])
        if asked and code[match.start() - 1] != "[":
            continue
        new = str(int(match[0]) + 1)
        yield (line[:match.start()] + new + line[match.end():],
               "%s to %s" % (match[0], new))


def all_mutants():
    paths = [os.path.join(folder, name) for top in ("layers", "memory/plan")
             for folder, _, names in os.walk(top) for name in names
             if name.endswith(".c")]
    for path in sorted(paths):
        with open(path) as source:
            text = source.read()
        comment = False
        for number, line in enumerate(text.split("\n")):
            if not comment and not line.lstrip().startswith("/*"):
                for new, what in changes(line, text):
                    yield path, number, line, new, what
            comment = (comment or "/*" in line) and "*/" not in line


def used():
    """Seconds of processor of what this job ran."""
    whole = resource.getrusage(resource.RUSAGE_CHILDREN)
    return whole.ru_utime + whole.ru_stime


class Kind:
    """A library with its tests: plain, or with sanitizers."""

    def __init__(self, place, sanitized):
        self.place, self.sanitized, self.plain = place, sanitized, {}
        self.kills = 0
        # What is not initialised has a value that is seldom right.
        self.flags = ("-O1 -g1 -fvisibility=default" if sanitized else
                      "-O2 -fvisibility=default"
                      " -ftrivial-auto-var-init=pattern")
        make = "make -s build=%s CFLAGS='%s' %s" % (
            place, self.flags, "SAN=1" if sanitized else "")
        if sanitized:
            self.flags += (" -fsanitize=address,undefined -DNETC_VERIFY"
                           " -fno-sanitize-recover=all")
        self.flags += " -std=c11 -fPIC -w -I. -Iinclude -I%s/gen" % place
        os.makedirs(place + "/tests", exist_ok=True)
        must("%s -j2 %s/netc" % (make, place))
        self.objects = must(make + " print-objects").split()
        program = must(make + " print-program-objects").split()
        self.own = {o: o for o in self.objects}
        os.remove(place + "/netc")
        self.link()
        library = "-L%s -lmutant -Wl,-rpath,%s" % (place, place)
        libraries = "-lcmocka -ljansson -lz -lprotobuf-c -lm -pthread"
        must("cc %s -o %s/netc %s %s %s/libnetrt.a %s"
             % (self.flags, place, " ".join(program), library, place,
                libraries))
        names = ("-DNETC='\"%s/netc\"' -DNETC_PATH='\"%s/netc\"' "
                 "-DBUILD='\"%s\"' -DNETRT_LIBS='\"-lm\"'"
                 % (place, place, place))
        extra = " ".join(o for o in program
                         if "/import/bytes/" in o or
                         "/import/tensors/" in o or "onnx.pb" in o)
        self.tests = {}  # seconds of each
        for test in SANITIZED if sanitized else TESTS:
            must("cc %s %s -DPROGRAM='\"%s\"' -o %s/tests/%s "
                 "tests/test_%s.c tests/run.c %s %s %s"
                 % (self.flags, names, test, place, test, test, extra,
                    library, libraries))
            begin = used()
            if not self.passes(test, 600):
                raise RuntimeError("test_%s fails without a mutant" % test)
            self.tests[test] = used() - begin
        print(" ".join("%s %.1f" % test for test in self.tests.items()),
              file=sys.stderr)

    def link(self):
        must("cc %s -shared -Wl,-Bsymbolic -o %s/libmutant.so %s -lm"
             % ("-fsanitize=address,undefined" if self.sanitized else "",
                self.place, " ".join(self.own.values())))

    def passes(self, test, seconds):
        """Whether it does within so many seconds of a processor."""
        def limit():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not self.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        child = subprocess.Popen(
            [self.place + "/tests/" + test], preexec_fn=limit,
            cwd=thin if self.sanitized else tree,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            return child.wait(20 * seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return False

    def compile(self, text):
        """A file's object: the same for the same code."""
        made = self.place + "/mutant"
        with open(made + ".c", "w") as out:
            out.write(text)
        if subprocess.run("cc %s -c -o %s.o %s.c" % (self.flags, made, made),
                          shell=True, cwd=tree, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode:
            return None
        with open(made + ".o", "rb") as code:
            return code.read()

    def judge(self, path, text, whole):
        if path not in self.plain:
            self.plain[path] = self.compile(whole)
        code = self.compile(text)
        if code is None:
            return "does not compile"
        if code == self.plain[path] and not self.sanitized:
            return "the same"
        own = "%s/obj/%s.o" % (self.place, path[:-2])
        self.own[own] = self.place + "/mutant.o"
        self.link()
        verdict = "survived"
        for test in self.order(path):
            begin, limit = used(), int(3 * self.tests[test]) + 3
            if not self.passes(test, limit):
                verdict = "killed by " + test
                break
        self.own[own] = own
        # What kills is the mutant, and not what became of the machine.
        self.kills += verdict != "survived"
        if self.kills % 20 == 19 or used() - begin > limit / 2:
            self.link()
            if not self.passes(test, 10 * limit):
                raise RuntimeError("test_%s fails without a mutant" % test)
        return verdict + " with sanitizers" * (
            self.sanitized and verdict != "survived")

    def order(self, path):
        first = FIRST.get(os.path.dirname(path), [])
        return ([t for t in self.tests if t in first] +
                [t for t in self.tests if t not in first])


kinds = []  # of this job, or what went wrong


def prepare(queue):
    place = "%s/mutants/%d" % (build, queue.get())
    try:
        kinds[:] = [Kind(place + "/plain", False), Kind(place + "/san", True)]
    except RuntimeError as wrong:
        kinds[:] = [wrong]


def judge(mutant):
    path, number, _, new, _ = mutant
    begin = used()
    with open(os.path.join(tree, path)) as source:
        whole = source.read()
    lines = whole.split("\n")
    lines[number] = new
    for kind in kinds:
        if isinstance(kind, RuntimeError):
            raise kind
        verdict = kind.judge(path, "\n".join(lines), whole)
        if verdict != "survived":
            break
    return verdict, used() - begin


def copy_tree():
    """Copies what is in the repository; a hash of it."""
    shutil.rmtree(tree, ignore_errors=True)
    shutil.rmtree(thin, ignore_errors=True)
    os.makedirs(tree)
    subprocess.run("git ls-files -z | xargs -0 cp --parents -pPt %s" % tree,
                   shell=True, check=True)
    subprocess.run(["cp", "-as", tree, thin], check=True)
    for table in TABLES:
        kept, row = [], 0
        with open(os.path.join(tree, table)) as rows:
            for line in rows:
                row += line[0] != " " and line[:2] != "# "
                if row % 10 == 0:
                    kept.append(line)
        os.remove(os.path.join(thin, table))
        with open(os.path.join(thin, table), "w") as out:
            out.writelines(kept)
    os.chdir(tree)
    names = subprocess.run("find layers memory/plan tests -type f | sort",
                           shell=True, stdout=subprocess.PIPE, text=True)
    whole = hashlib.sha1()
    for name in names.stdout.split():
        with open(name, "rb") as data:
            whole.update(data.read())
    return whole.hexdigest()


def main():
    title = "# mutants of seed %d of sources %s" % (seed, copy_tree())
    path = "%s/mutants-%d.log" % (build, seed)
    done = []
    if os.path.exists(path):
        with open(path) as log:
            done = log.read().splitlines()
        if done[:1] != [title]:
            sys.exit("mutants: %s is of other sources: move it away" % path)
    log = open(path, "a")
    if not done:
        print(title, file=log, flush=True)
    mutants = list(all_mutants())
    random.Random(seed).shuffle(mutants)
    counts = {"killed": 0, "survived": 0}
    for line in done[1:]:
        kind = line.split(": ")[1].split()[0]
        counts[kind] = counts.get(kind, 0) + 1
    queue = multiprocessing.Queue()
    for job in range(jobs):
        queue.put(job)
    seconds = 0
    begin = time.time()
    with multiprocessing.Pool(jobs, prepare, (queue,)) as pool:
        rest = mutants[max(len(done) - 1, 0):]
        for mutant, (verdict, spent) in zip(rest, pool.imap(judge, rest)):
            path, number, line, _, what = mutant
            line = "%s:%d: %s: %s: %s" % (path, number + 1, verdict, what,
                                          line.strip())
            if counts["killed"] + counts["survived"] == wanted:
                break
            print(line, file=log, flush=True)
            print("%s (%.1f s)" % (line, spent), flush=True)
            kind = verdict.split()[0]
            counts[kind] = counts.get(kind, 0) + 1
            seconds += spent
    total = counts["killed"] + counts["survived"]
    print("%d mutants of seed %d: %d killed, %d survived; %.0f s, %.1f s of a "
          "processor each" % (total, seed, counts["killed"],
                              counts["survived"], time.time() - begin,
                              seconds / max(total, 1)))


main()
