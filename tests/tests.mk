# Tests, benchmarks and fuzzing: a part of the Makefile.

# A program for each tests/test_*.c; they run in the repository. Programs of
# others link what test_install and test_header try, so that it is neither
# sanitized nor counts branches. test_shown runs nothing that no other test does.
COVER =
test_sources := $(filter-out \
                  $(if $(SAN)$(COVER),%/test_install.c %/test_header.c) \
                  $(if $(COVER),%/test_shown.c) \
                  $(if $(messages),,%/test_onnx.c %/test_onnx_open.c %/test_cases.c %/test_operands.c %/test_from_onnx.c %/test_external.c \
                  %/test_onnx_attention.c %/test_onnx_detector.c %/test_onnx_quant.c %/test_onnx_zoo.c %/test_round_trip.c %/test_states.c) \
                  $(if $(filter 0,$(IMPORT)),%/test_boards.c %/test_questions.c %/test_import.c %/test_keras.c %/test_recognise.c %/test_opening.c %/test_tflite.c %/test_openvino.c %/test_exported.c %/test_ncnn.c %/test_yolo.c %/test_pytorch_source.c %/test_values.c %/test_cases.c %/test_operands.c %/test_from_onnx.c %/test_external.c \
                  %/test_onnx_attention.c %/test_onnx_detector.c %/test_onnx_quant.c %/test_onnx_zoo.c %/test_round_trip.c %/test_states.c) \
                  $(if $(filter 0,$(IMPORT) $(ONNX)),%/test_interchange.c %/test_openvino.c %/test_exported.c %/test_ncnn.c %/test_pytorch_source.c), \
                  $(wildcard $(src)tests/test_*.c))

# Tests are objects as any; a program takes of the library what it uses.
tried_objects := $(call to_object,$(test_sources) \
                   $(addprefix $(src)tests/,run.c cases.c onnx_text.c tokens.c misfold.c \
                     portable.c))
$(tried_objects): private override CFLAGS := \
  $(patsubst -O2,-O1,$(CFLAGS)) -pthread \
  -DNETC='"$(seen)/netc"' -DNETC_PATH='"$(abspath $(build))/netc"' \
  -DBUILD='"$(seen)"' -DNETRT_LIBS='"$(runtime_libs)"' \
  $(if $(NETRT_ONEDNN),-DNETRT_ONEDNN)
$(tried_objects): | cmocka
cmocka:
	$(if $(wildcard /usr/include/cmocka.h),,$(error netc check needs \
	  cmocka: apt-get install libcmocka-dev))

# An archive that names its objects, so that nothing is copied.
whole = $(build)/tests/library.a
helpers := $(call to_object,$(addprefix $(src)tests/,run.c cases.c onnx_text.c))
$(build)/tests/library.a: $(helpers) $(objects) $(tensor_objects)
$(build)/steps/library.a: $(helpers) $(tensor_objects)
%/library.a:
	@mkdir -p $(@D)
	@rm -f $@ && $(AR) rcsDT $@ $^

also =
$(build)/tests/%: $(build)/obj/tests/%.o $(build)/tests/library.a
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CC) $(sanitize) $(CFLAGS) -o $@ $(filter %.o,$^) $(whole) $(also) \
	  -lcmocka -ljansson -lz $(runtime_libs) -pthread

# The library once more, which counts its steps: how does its work grow?
counting := $(patsubst $(build)/obj/%,$(build)/steps/%,$(objects))

$(build)/steps/gen/%.o: $(gen)/%.c $(made) | $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(CC) $(flags) -O1 -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $(abspath $<)

$(build)/steps/%.o: $(src)%.c $(made) | $(gen)/scan.c $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(CC) $(flags) -O1 -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $<

$(build)/steps/library.a: $(counting)
$(build)/tests/test_growth: $(build)/steps/library.a
$(build)/tests/test_growth: private whole := $(build)/steps/library.a

checked := $(patsubst $(src)runtime/%.c,$(build)/checked/%.o,$(runtime))
$(addprefix $(build)/tests/test_,runtime program narrow panels q8): $(checked)

message_objects := $(build)/obj/gen/onnx.pb-c.o
with_messages := $(addprefix $(build)/tests/test_, \
                   onnx onnx_open from_onnx onnx_detector onnx_quant)
$(with_messages): $(message_objects)
$(with_messages): private also := -lprotobuf-c
$(patsubst $(build)/tests/%,$(build)/obj/tests/%.o,$(with_messages)) \
  $(build)/obj/tests/operands_onnx.o: | $(gen)/onnx.pb-c.h

# Readers in the test's own process: tens of thousands of models a second.
$(build)/tests/test_operands: $(call to_object,$(readers) \
  $(call files,export) $(wildcard $(src)tests/operands_*.c)) \
  $(message_objects) $(build)/obj/gen/torch.o
$(build)/tests/test_operands: private also := -lprotobuf-c -lexpat

# The program with folds of imports that go wrong.
$(build)/tests/misfold: $(build)/obj/tests/misfold.o $(program_objects) \
                        $(build)/tests/library.a $(build)/libnetrt.a
	@echo "LINK $@"
	@$(CC) $(sanitize) $(CFLAGS) -Wl,--wrap=source_fold,--wrap=graph_tensor \
	  -o $@ $^ $(program_libs)

$(build)/tests/test_import: | $(build)/tests/misfold

# tokens: the words of a source, for grammars of editors.
$(build)/tests/test_editors: | $(build)/tests/tokens

# `make check` runs what takes a minute, `make check-long` the rest: these
# programs, and of others the tests that are marked as slow. T="golden cli"
# runs two programs whole. FULL=1 takes all of a set of which a tenth is tried.
long_tests := docs growth install onnx_zoo
tests := $(sort $(test_sources:$(src)tests/test_%.c=%))
# Those that last come first, the longest before all, so that no processor waits
# for one at the end.
longest := drawn verify cli partial from_onnx search properties import sweep q8 \
           operands firmware ways golden cases places program random run \
           growth inference huggingface seeds shown
longest_first = $(filter $(1),$(longest)) $(filter-out $(longest),$(1))
unknown := $(if $(filter check check-long,$(MAKECMDGOALS)), \
             $(filter-out $(tests),$(T)))
ifneq ($(strip $(unknown)),)
$(error there is no test $(strip $(unknown)); there are: $(tests))
endif
parted = $(filter-out $(long_tests),$(patsubst $(src)tests/test_%.c,%, \
           $(shell grep -lw -e slow_test -e SLOW -e in_part $(test_sources))))
fast = $(or $(sort $(T)),$(filter-out $(long_tests),$(tests)))
slow = $(or $(sort $(T)),$(filter $(long_tests),$(tests)) $(parted))
programs = $(patsubst %,$(build)/tests/test_%,$(1))
PART =
JOBS = $(shell nproc)
FULL =
run_tests = @cd $(here) && FULL=$(FULL) tests/check.sh $(JOBS)

check: all $(build)/netc.1 $(call programs,$(fast))
	$(run_tests) $(addsuffix $(if $(PART)$(T),$(PART:%=:%),:fast), \
	  $(abspath $(call programs,$(call longest_first,$(fast)))))

check-long: all $(build)/netc.1 $(call programs,$(slow)) \
    $(filter check,$(MAKECMDGOALS))
	$(run_tests) $(foreach test,$(call longest_first,$(slow)), \
	  $(abspath $(call programs,$(test)))$(if \
	    $(filter $(T) $(long_tests),$(test)),,:slow))

# The page of `-o x.html` and the playground in a browser; `make check` does
# without one.
CHROMIUM = /usr/bin/chromium
NODE_PATH = $(here)/node_modules:$(abspath $(build))/node_modules:$(abspath $(build))/npm/node_modules
check-web: $(build)/netc $(build)/web/netc.html
	@test -x $(CHROMIUM) || { echo "check-web needs Chromium:" \
	  "apt-get install chromium" >&2; exit 1; }
	@command -v node >/dev/null || { echo "check-web needs node:" \
	  "apt-get install nodejs" >&2; exit 1; }
	@mkdir -p $(build)/page
	@cd $(here) && NODE_PATH=$(NODE_PATH) CHROMIUM=$(CHROMIUM) \
	  node tests/web.js $(abspath $(build))/netc $(abspath $(build))/page
	@cd $(here) && NODE_PATH=$(NODE_PATH) CHROMIUM=$(CHROMIUM) \
	  node tests/playground.js $(abspath $(build))/netc \
	  $(abspath $(build))/page $(abspath $(build))/web

# The same in Firefox, what a browser of another maker may do differently.
FIREFOX = /usr/bin/firefox-esr
check-firefox: $(build)/netc $(build)/web/netc.html
	@test -x $(FIREFOX) || { echo "check-firefox needs Firefox:" \
	  "apt-get install firefox-esr" >&2; exit 1; }
	@NODE_PATH=$(NODE_PATH) node -e 'require("puppeteer-core")' \
	  2>/dev/null || { echo "check-firefox needs puppeteer-core:" \
	  "npm install --prefix $(build) puppeteer-core@24" >&2; exit 1; }
	@mkdir -p $(build)/page
	@cd $(here) && NODE_PATH=$(NODE_PATH) FIREFOX=$(FIREFOX) \
	  node tests/firefox.js $(abspath $(build))/netc \
	  $(abspath $(build))/page $(abspath $(build))/web

# Models of -o x.onnx, as onnxruntime runs them.
check-onnx: $(build)/netc
	@command -v node >/dev/null || { echo "check-onnx needs node:" \
	  "apt-get install nodejs" >&2; exit 1; }
	@NODE_PATH=$(NODE_PATH) node -e 'require("onnxruntime-node")' \
	  2>/dev/null || { echo "check-onnx needs onnxruntime-node:" \
	  "ONNXRUNTIME_NODE_INSTALL=skip npm install --prefix $(build)" \
	  "onnxruntime-node" >&2; exit 1; }
	@mkdir -p $(build)/onnx
	@cd $(here) && NODE_PATH=$(NODE_PATH) node tests/onnx.js \
	  $(abspath $(build))/netc $(abspath $(build))/onnx $(ONNX_NETS)

# Files of other frameworks that are in FOLDER, as tests/data/import/gathered.csv
# has them: by hand, since they are not part of the repository.
check-gathered: $(build)/netc
	python3 $(src)tools/gathered.py $(abspath $(build))/netc "$(FOLDER)"

# editors/vscode: the grammar on samples that say their scopes and on every word
# of the zoo and of golden layers, as netc reads it; then what stands beside it.
grammar := editors/vscode/syntaxes/netc.tmLanguage.json
check-editors: $(build)/netc $(build)/tests/tokens
	@command -v node >/dev/null || { echo "check-editors needs node:" \
	  "apt-get install nodejs" >&2; exit 1; }
	@cd $(here) && tests=$$(NODE_PATH=$(NODE_PATH) node -p \
	  'require.resolve("vscode-tmgrammar-test/dist/unit.js")' 2>/dev/null) || \
	  { echo "check-editors needs vscode-tmgrammar-test:" \
	  "npm install --prefix $(build) vscode-tmgrammar-test" >&2; exit 1; }; \
	  node "$$tests" -g $(grammar) 'tests/grammar/*.net'
	@mkdir -p $(build)/editors
	@cd $(here) && $(abspath $(build))/tests/tokens examples/zoo/*.net \
	  tests/golden/layers/*.net >$(abspath $(build))/editors/tokens
	@cd $(here) && NODE_PATH=$(NODE_PATH) node tests/grammar.js \
	  $(abspath $(build))/editors/tokens
	@cd $(here) && node tests/vscode.js $(abspath $(build))/netc \
	  $(abspath $(build))/editors

# netc lsp with clients of others: VS Code's JSON-RPC, Neovim.
check-lsp: $(build)/netc
	@command -v node >/dev/null || { echo "check-lsp needs node:" \
	  "apt-get install nodejs" >&2; exit 1; }
	@NODE_PATH=$(NODE_PATH) node -e 'require("vscode-jsonrpc/node")' \
	  2>/dev/null || { echo "check-lsp needs vscode-jsonrpc:" \
	  "npm install --prefix $(build) vscode-jsonrpc" >&2; exit 1; }
	@command -v nvim >/dev/null || { echo "check-lsp needs nvim:" \
	  "apt-get install neovim" >&2; exit 1; }
	@rm -rf $(build)/lsp && mkdir -p $(build)/lsp
	@cd $(here) && NODE_PATH=$(NODE_PATH) node tests/lsp.js \
	  $(abspath $(build))/netc $(abspath $(build))/lsp
	@cd $(here) && PATH=$(abspath $(build)):$$PATH FOLDER=$(abspath $(build))/lsp \
	  timeout 120 nvim --headless -u NONE -i NONE -c 'luafile tests/lsp.lua'

# The wheel does in a fresh venv what its page says.
PYTHON = /usr/bin/python3
check-python: wheel
	@rm -rf $(build)/venv
	@$(PYTHON) -m venv --system-site-packages $(build)/venv
	@$(build)/venv/bin/pip install --quiet --no-index \
	  --disable-pip-version-check $(build)/netc-*.whl
	@$(build)/venv/bin/python $(src)tests/python.py $(abspath $(build))
	@$(build)/venv/bin/python $(src)tests/notebook.py $(src)docs/notebook.ipynb \
	  $(abspath $(build))/notebook.html

# Comments on pull requests: tools/review.js beside a fake of GitHub's API; and
# the hooks of pre-commit.
check-review: $(build)/netc
	$(call need,node,nodejs)
	$(call need,pandoc,pandoc)
	@cd $(here) && node tests/review.js $(abspath $(build))/netc \
	  $(abspath $(build))/review

# How long its answers take: docs/editors.md.
bench-lsp: $(build)/netc
	@cd $(here) && NODE_PATH=$(NODE_PATH) node tests/lsp.js \
	  $(abspath $(build))/netc $(abspath $(build)) time

# Files of -o x.py, as PyTorch runs them: every net of the zoo in all its
# variants, or TORCH_NETS. Minutes; by hand, since it needs PyTorch.
check-torch: $(build)/netc
	@$(PYTHON) -c 'import torch' 2>/dev/null || { echo "check-torch needs" \
	  "PyTorch: apt-get install python3-torch" >&2; exit 1; }
	$(PYTHON) $(src)tools/torch_export.py $(abspath $(build))/netc $(TORCH_NETS)
	$(PYTHON) $(src)tools/torch_names.py $(abspath $(build))/netc $(TORCH_NETS)

# netc.from_torch with thirty modules of torchvision: minutes.
modules = alexnet vgg11 vgg16_bn resnet18 resnet50 resnet152 resnext50_32x4d \
  wide_resnet50_2 densenet121 densenet169 squeezenet1_0 squeezenet1_1 vgg19 \
  inception_v3 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large mnasnet0_5 \
  mnasnet1_0 shufflenet_v2_x0_5 shufflenet_v2_x1_0 efficientnet_b0 \
  efficientnet_b3 efficientnet_v2_s regnet_x_400mf regnet_y_400mf convnext_tiny \
  vit_b_16 vit_b_32 swin_t
check-modules: check-python
	MODELS="$(modules)" $(build)/venv/bin/python $(src)tests/python.py \
	  $(abspath $(build)) Modules.test_of_torchvision_have_them

# Random nets beside PyTorch: N of them, from SEED on. ROWS=x.csv writes rows of
# tests/data/random.csv for what is found.
ROWS =
random: N = 5000
random: $(build)/netc
	@$(PYTHON) -c 'import torch' 2>/dev/null || { echo "random needs" \
	  "PyTorch: apt-get install python3-torch" >&2; exit 1; }
	$(PYTHON) $(src)tools/random_nets $(abspath $(build))/netc $(N) $(SEED) \
	  --jobs $(JOBS) $(ROWS:%=--rows %)

# PyTorch 2.6, in a folder that is kept: Debian 13's, below ORACLE. `make
# check-oracle` compares random nets on a CPU and on a fake GPU with it, and
# nets of the zoo. Nets from another seed are shown, and may differ.
ORACLE = $(HOME)/.cache/netc/oracle
oracle:
	tools/oracle/make.sh $(ORACLE)
sample = alexnet bert gpt2 mobilenet_v3 resnet swin transformer vit
MOVING = $(shell git rev-parse --short=6 HEAD 2>/dev/null || echo 1)
in_oracle = tools/oracle/run.sh $(ORACLE)
package = rm -rf $(build)/package && \
  $(PYTHON) -m zipfile -e $(build)/netc-*.whl $(build)/package
check-oracle: oracle $(build)/netc
	$(in_oracle) python3 tools/oracle/compare.py $(build)/netc --exact \
	  $(sample:%=examples/zoo/%.net)
	$(in_oracle) python3 tools/oracle/compare.py $(build)/netc --exact \
	  --precision mixed $(sample:%=examples/zoo/%.net)
	$(in_oracle) python3 tools/oracle/drawn.py $(build)/netc 32 1 --exact \
	  --precisions f32
	$(in_oracle) python3 tools/random_nets $(build)/netc 32 970000 \
	  --profile torch2-cpu --jobs $(JOBS)
	@# from_torch by torch.export; Debian 12's PyTorch writes ONNX.
	[ -e $(build)/netc-*.whl ] || $(MAKE) wheel
	$(package)
	$(in_oracle) env PYTHONPATH=$(build)/package \
	  PATH=$(abspath $(build)):/usr/bin:/bin \
	  python3 tests/python.py $(abspath $(build)) Modules
	-$(in_oracle) python3 tools/oracle/drawn.py $(build)/netc 32 \
	  $$((0x$(MOVING)))

# Models of torchvision on a fake GPU, beside the sources that netc.from_torch
# writes for them: minutes. VISION=name for some of them.
VISION = $(modules)
oracle-torchvision: oracle wheel
	$(package)
	$(in_oracle) env PYTHONPATH=$(build)/package python3 \
	  tools/oracle/compare.py $(build)/netc $(VISION:%=torchvision:%)

# x.py under torch.export and torch.compile, and beside onnxruntime with x.onnx:
# minutes. EXPORTS="examples/zoo/vit.net" for some of the zoo.
EXPORTS = $(wildcard examples/zoo/*.net)
oracle-export: oracle $(build)/netc
	$(in_oracle) python3 tools/oracle/exports.py $(build)/netc $(EXPORTS)

# netc, MemTracker and real steps of a CPU, side by side: minutes.
tracked = alexnet lenet5 squeezenet resnet mobilenet_v3 densenet inception_v3 \
  shufflenet_v2 unet convnext vit swin
oracle-steps: oracle $(build)/netc
	{ grep '^#' tests/data/torch2/trackers.csv; $(in_oracle) \
	  python3 tools/oracle/steps.py $(build)/netc \
	  $(tracked:%=examples/zoo/%.net); } >$(build)/trackers.csv
	mv $(build)/trackers.csv tests/data/torch2/trackers.csv

# Writes what golden cases, text cases, figures and limits must say, as it is
# now: read what changed. T=part is for the cases whose names have that part;
# another exit status needs FORCE=1.
blessed := figures foreign
bless: $(build)/netc $(addprefix $(build)/tests/test_,golden cases $(blessed))
	@status=0; for test in golden cases $(if $(T),,$(blessed)); do \
	    BLESS=1 $(build)/tests/test_$$test $(T:%="%") || status=1; \
	  done >$(build)/bless.log 2>&1; \
	  grep -v '^\[' $(build)/bless.log; \
	  git status --short tests; git --no-pager diff tests/golden tests/cases \
	    tests/data/figures.csv tests/data/limits.txt tests/data/foreign.txt; \
	  exit $$status

lint:
	@BUILD=$(build) tools/lint.sh

# Every golden source under valgrind, but for those that loop for long; with
# EVERY=4 a quarter of them.
EVERY = 1
valgrind: $(build)/shared/netc
	@ls tests/golden/*/*.net examples/*.net examples/zoo/*.net | \
	  grep -v 'never-ends\|billion' | awk 'NR % $(EVERY) == 0' | \
	  xargs -P $(JOBS) -I NET sh -c \
	  'valgrind -q --error-exitcode=99 --leak-check=full $(build)/shared/netc NET \
	  -o - --emit=json --emit=net --emit=dot >$(build)/valgrind.$$$$ 2>&1; \
	  test $$? != 99 || { cat $(build)/valgrind.$$$$; exit 255; }; \
	  rm $(build)/valgrind.$$$$'

# Speed, as ratios; the figures in tools/bench/README.md come from here.
$(build)/bench/json_reference: $(src)tools/bench/json_reference.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CFLAGS) -o $@ $< -ljansson

$(build)/bench/planner: $(src)tools/bench/planner.c $(objects)
	@mkdir -p $(@D)
	$(CC) $(flags) -o $@ $< $(objects) -lm

$(build)/bench/bare.c: $(src)tools/bench/bare.sh $(src)lexer/scan.l
	@mkdir -p $(@D)
	$^ >$(@:.c=.l)
	flex -o $@ $(@:.c=.l)

$(build)/bench/parse: $(src)tools/bench/parse.c $(build)/bench/bare.c $(objects)
	$(CC) $(filter-out -W% -std=c11,$(flags)) -o $@ $^ -lm

$(build)/bench/kernels: $(src)tools/bench/kernels.c $(build)/libnetrt.a
	@mkdir -p $(@D)
	$(CC) $(flags) -o $@ $^ $(runtime_libs)

# The runtime beside PyTorch and onnxruntime: docs/performance.md.
bench-runtime: $(build)/netc $(build)/libnetrt.a $(build)/bench/kernels
	@NETRT_LIBS="$(runtime_libs)" tools/bench/runtime.py $(build)

tables := tests/data/planner
planned := $(filter-out %/LOWER_BOUNDS.csv,$(wildcard $(tables)/cnn/*.csv)) \
           $(addsuffix @1048576,$(wildcard $(tables)/minimalloc/?.*.csv)) \
           $(wildcard $(tables)/minimalloc/[CDJ].*.csv) \
           $(wildcard $(tables)/perfect/*.csv) \
           training=2000 training=20000 training=60000

# Seconds each: an instance may be solved by the luck of one seed.
lucky := $(addsuffix @1048576,$(wildcard $(tables)/minimalloc/?.*.csv)) \
         $(wildcard $(tables)/minimalloc/[CD].*.csv $(tables)/perfect/*.csv)

bench: $(build)/netc $(build)/bench/json_reference $(build)/bench/planner \
       $(build)/bench/parse
	@tools/bench/run.sh $(build)/netc $(build)/bench/json_reference
	@$(build)/bench/parse 40 examples/zoo/*.net
	@tools/bench/zoo.sh $(build)/netc
	@tools/bench/scale.sh $(build)/netc
	@$(build)/bench/planner $(planned)
	@$(build)/bench/planner seeds $(lucky)

# Instructions of commands beside the committed counts; BLESS=1 writes them.
bench-instructions: $(build)/netc
	$(call need,valgrind,valgrind)
	@cd $(here) && tools/bench/instructions.py $(abspath $(build))/netc \
	  $(BLESS:%=--bless)

# Coverage-guided fuzzing: each target of tests/fuzz for FUZZ seconds, or
# those of TARGETS. What one finds is a file in $(build)/sanfuzz/fuzz, whose
# name it says. READER=Keras: the first byte does not choose the reader.
FUZZ = 60
READER =
TARGETS = text calls files $(if $(filter 0,$(IMPORT)),,import \
          $(if $(messages),export))
ifeq ($(SAN),fuzz)
fuzz_objects := $(objects) $(call to_object,$(tensors) \
                  $(filter-out $(src)import/weights.c,$(readers)) $(src)driver/buffers.c \
                  $(src)tests/fuzz/common.c \
                  $(if $(messages),$(src)tests/fuzz/onnx.c \
                    $(filter-out %/absent.c,$(call files,export)))) \
                $(if $(messages),$(message_objects) $(build)/obj/gen/torch.o)

$(build)/obj/tests/fuzz/onnx.o: | $(gen)/onnx.pb-c.h
$(build)/obj/tests/fuzz/import.o: private CFLAGS += \
  $(if $(messages),-DFUZZ_ONNX)

$(build)/fuzz/library.a: $(fuzz_objects)

$(addprefix $(build)/fuzz/,$(TARGETS)): $(build)/fuzz/%: \
    $(build)/obj/tests/fuzz/%.o $(build)/fuzz/library.a
	@echo "LINK $@"
	@$(link) -fsanitize=fuzzer -o $@ $^ $(program_libs)

fuzz: $(addprefix fuzz-,$(TARGETS))
$(addprefix fuzz-,$(TARGETS)): fuzz-%: $(build)/fuzz/%
	@cd $(here) && READER="$(READER)" NETC="$(NETC)" \
	  tools/fuzz.sh $(abspath $(build)) $(FUZZ) $*

fuzz_mains := $(call to_object,$(TARGETS:%=$(src)tests/fuzz/%.c) $(src)tests/fuzz/each.c)
$(build)/fuzz/each: $(filter %/each.o %/import.o,$(fuzz_mains)) \
                    $(build)/fuzz/library.a
	@echo "LINK $@"
	@$(link) -o $@ $^ $(program_libs)
mutated: $(if $(filter netc,$(READER)),$(build)/netc,$(build)/fuzz/each)
	@cd $(here) && tools/mutated.py $(abspath $<) "$(READER)" $(N) $(SEED) $(FILES)
else
fuzz mutated: $(build)/netc
	@$(MAKE) $@ SAN=fuzz build=$(build)/sanfuzz CC=clang CFLAGS='-O1 -g1' \
	  NETC=$(abspath $<)
endif

# Mutants of FILES that keep their structure, for a reader under sanitizers: make
# mutated READER=ncnn N=10000 FILES=tests/data/import/ncnn/*.param; or with
# READER=netc for commands: FILES="'import FOLDER//net.py --input 32x32x3'"
FILES =

# Lines and branches that the tests reach, by file and by room. T="golden cli"
# runs two programs, and adds to what is counted since the last build.
cover:
	-GCOV_ERROR_FILE=/dev/null $(MAKE) check COVER=1 build=build/cover \
	  CFLAGS='--coverage -O0'
	@tools/cover.sh build/cover

# Changes one operator or constant of layers/ or memory/plan/ after another:
# does a test notice? N of them, drawn by SEED.
N = 300
SEED = 1
print-objects:
	@echo $(objects)
print-program-objects:
	@echo $(program_objects)
mutants: all
	@cd $(here) && tools/mutants.py $(abspath $(build)) $(N) $(SEED) $(JOBS)

-include $(tried_objects:.o=.d) $(counting:.o=.d) $(checked:.o=.d) \
         $(fuzz_objects:.o=.d) $(fuzz_mains:.o=.d)

.PHONY: cmocka check check-long check-web check-firefox check-onnx \
        check-gathered check-editors oracle check-oracle oracle-steps oracle-torchvision oracle-export \
        check-lsp check-python check-review check-torch check-modules \
        random bless lint valgrind bench bench-lsp bench-runtime \
        bench-instructions fuzz mutated cover mutants print-objects \
        print-program-objects
