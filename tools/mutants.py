#!/usr/bin/python3
"""mutants.py BUILD N SEED: does a test notice when the code is wrong?

Changes one operator or constant of layers/ or memory/plan/ at a time, N of
them, drawn by SEED; compiles that file, links the library and runs the tests
that are quick, until one fails, which must pass without the mutant. Mutants
that do not compile, or whose object is the same, are not counted, and others
are drawn for them. Nor is an array that is declared with one place more, unless
the file asks for its size: nothing reads that place. The library is a shared
one, so that programs are linked once. Leave the tree alone meanwhile: what
changes looks like a kill.
"""
import os
import random
import re
import shutil
import subprocess
import sys

for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # makes of its own
    os.environ.pop(name, None)
build, wanted, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
place = build + "/mutants"
# The cheapest first; figures kills the most.
TESTS = ("layers rule frozen small sequence steps schedule figures training "
         "turns plan inference model golden torch run onnx zoo memory serving "
         "parallel published chain interchange ways").split()
SWAPS = {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ",
         " % ": " / ", " < ": " <= ", " <= ": " < ", " > ": " >= ",
         " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ",
         " || ": " && ", " += ": " -= ", " -= ": " += ", "true": "false",
         "false": "true"}
# "struct strides lies[3];"
DECLARES = re.compile(r"\s*(?!return\b)"
                      r"((static|const|struct|enum|unsigned)\s+)*"
                      r"\w+\s+[*\s]*(?P<name>\w+)(\[[^]]*\])+\s*(=|;|,)")


def shell(command, seconds=600, **more):
    return subprocess.run(command, shell=True, timeout=seconds,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True,
                          errors="replace", **more)


def must(command):
    done = shell(command, 3000)
    if done.returncode:
        sys.exit("mutants: " + command + "\n" + done.stdout[-3000:])
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
    room = DECLARES.match(code)
    room = room and "sizeof " + room["name"] not in text
    for match in re.finditer(r"(?<![\w.])\d+(?![\w.])", code):
        if room and code[match.start() - 1] == "[" and code[match.end()] == "]":
            continue
        new = str(int(match[0]) + 1)
        yield (line[:match.start()] + new + line[match.end():],
               "%s to %s" % (match[0], new))


def files():
    for top in ("layers", "memory/plan"):
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if name.endswith(".c"):
                    yield os.path.join(folder, name)


def all_mutants():
    for path in files():
        with open(path) as source:
            text = source.read()
        comment = False
        for number, line in enumerate(text.split("\n")):
            if not comment and not line.lstrip().startswith("/*"):
                for new, what in changes(line, text):
                    yield path, number, line, new, what
            comment = (comment or "/*" in line) and "*/" not in line


flags = ("-std=c11 -O1 -fPIC -w -I. -Iinclude -I%s/gen" % build)


def prepare():
    """Objects, a shared library of them, and programs that need it."""
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place + "/tests")
    must("make -s -j2 build=%s CFLAGS='-O1 -fvisibility=default' %s/netc"
         % (place, place))
    objects = must("make -s build=%s print-objects" % place).split()
    program = must("make -s build=%s print-program-objects" % place).split()
    os.remove(place + "/netc")
    link(objects)
    must("cc -o %s/netc %s -L%s -lmutant -Wl,-rpath,%s %s/libnetrt.a "
         "-ljansson -lprotobuf-c -lm -pthread"
         % (place, " ".join(program), place, place, place))
    names = " -D".join(['NETC=\'"%s/netc"\'' % place,
                        'NETC_PATH=\'"%s/netc"\'' % place,
                        'BUILD=\'"%s"\'' % place, "NETRT_LIBS='\"-lm\"'"])
    extra = [o for o in program if "/import/tensors/" in o or "onnx.pb" in o]
    must("cp %s/netc %s/netc.whole" % (place, place))
    kept = []
    for test in TESTS:
        done = shell("cc %s -I%s/gen -D%s -DPROGRAM='\"%s\"' -o %s/tests/%s "
                     "tests/test_%s.c tests/run.c %s $(ls %s/checked/*.o "
                     "2>/dev/null) -L%s -lmutant -Wl,-rpath,%s -lcmocka "
                     "-ljansson -lprotobuf-c -lm -pthread"
                     % (flags, place, names, test, place, test, test,
                        " ".join(extra), place, place, place), 3000)
        if done.returncode == 0 and run(test, 200):
            kept.append(test)
        else:
            print("without test_%s" % test, file=sys.stderr)
    return objects, kept


def link(objects):
    return shell("cc -shared -Wl,-Bsymbolic -o %s/libmutant.so %s -lm"
                 % (place, " ".join(objects))).returncode == 0


def run(test, seconds):
    """Whether a test passes within so many seconds of processor."""
    return shell("PART=fast CMOCKA_MESSAGE_OUTPUT=stdout timeout -s KILL 1500 "
                 "prlimit --cpu=%d --as=4000000000 %s/tests/%s"
                 % (seconds, place, test), 1600).returncode == 0


def code_of(path):
    """An object's sections without what depends on lines."""
    return shell("objdump -d -r -s -j .text -j .rodata -j .data "
                 "-j .data.rel.ro %s | tail -n +4" % path).stdout


plain = {}  # code of a file without a mutant


def tests_of(path, tests):
    """A planner's own tests are asked first."""
    first = ["schedule", "plan"] if path.startswith("memory/plan") else []
    return ([test for test in tests if test in first] +
            [test for test in tests if test not in first])


def judge(mutant, objects, tests):
    path, number, _, new, _ = mutant
    with open(path) as source:
        lines = source.read().split("\n")
    lines[number] = new
    changed = "%s/mutant.c" % place
    with open(changed, "w") as out:
        out.write("\n".join(lines))
    made = "%s/mutant.o" % place
    if shell("cc %s -I%s/gen -c -o %s %s"
             % (flags, place, made, changed)).returncode:
        return "does not compile"
    if path not in plain:
        whole = "%s/plain.o" % place
        must("cp %s %s && cc %s -I%s/gen -c -o %s %s"
             % (path, changed, flags, place, whole, changed))
        plain[path] = code_of(whole)
    if code_of(made) == plain[path]:
        return "the same"
    own = "%s/obj/%s.o" % (place, path[:-2])
    if not link([made if os.path.abspath(o) == os.path.abspath(own) else o
                 for o in objects]):
        return "does not link"
    for test in tests_of(path, tests):
        if not run(test, 40):
            link(objects)
            if not run(test, 200):
                sys.exit("mutants: test_%s fails without a mutant, too: was "
                         "the tree changed?" % test)
            return "killed by " + test
    return "survived"


def main():
    objects, tests = prepare()
    mutants = list(all_mutants())
    random.Random(seed).shuffle(mutants)
    counts = {"killed": 0, "survived": 0}
    for mutant in mutants:
        if sum(counts.values()) == wanted:
            break
        verdict = judge(mutant, objects, tests)
        path, number, line, _, what = mutant
        print("%s:%d: %s: %s: %s" % (path, number + 1, verdict, what,
                                     line.strip()), flush=True)
        kind = verdict.split()[0]
        if kind in counts:
            counts[kind] += 1
    print("%d mutants of seed %d: %d killed, %d survived"
          % (sum(counts.values()), seed, counts["killed"],
             counts["survived"]))


main()
