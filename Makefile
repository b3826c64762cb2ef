# netc: make, make check, make install. Products are under $(build), which may
# be anywhere: `make build=/tmp/netc`, or `make -f /path/to/netc/Makefile`.

CC = cc
AR = ar
OBJCOPY = objcopy
STRIP = strip
CFLAGS = -O2 -g
LDFLAGS =
WERROR = $(if $(CI),-Werror)
SAN =
# IMPORT=0: without `netc import`. ONNX=0, which that means unless ONNX=1 is
# given: without -o x.onnx and without protobuf-c.
IMPORT = 1
ONNX = $(if $(filter 0,$(IMPORT)),0,1)
ONNX_PROTO = /usr/include/onnx/onnx.proto

DESTDIR =
PREFIX = /usr/local
bindir = $(PREFIX)/bin
libdir = $(PREFIX)/lib
includedir = $(PREFIX)/include
datadir = $(PREFIX)/share
mandir = $(datadir)/man
docdir = $(datadir)/doc/netc

here := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
src := $(here)/
build = build$(if $(SAN),/san$(filter thread,$(SAN)))
gen = $(build)/gen
seen = $(if $(filter $(CURDIR),$(here)),$(build),$(abspath $(build)))

version := $(shell sed -n 's/^\#define NETC_VERSION "\(.*\)"/\1/p' \
             $(here)/include/netc.h)
soname := libnetc.so.$(firstword $(subst ., ,$(version)))

strict = -std=c11 -Wall -Wextra -Wshadow -Wconversion -pedantic $(WERROR)
# SAN=1: addresses and undefined behaviour; SAN=thread: races. What clang then
# makes counts edges, so that `make fuzz` has these objects, too.
ifdef SAN
sanitize := -fsanitize=$(if $(filter thread,$(SAN)),thread,address,undefined) \
            $(if $(filter 1clang,$(SAN)$(CC)),-fsanitize=fuzzer-no-link) \
            -fno-sanitize-recover=all -DNETC_VERIFY
endif
paths = -I$(here) -I$(here)/include -I$(abspath $(gen))
# Equal sources, equal bytes, wherever they lie and are built.
prefixes = -ffile-prefix-map=$(here)=. -ffile-prefix-map=$(CURDIR)=. \
           -ffile-prefix-map=$(abspath $(build))=./build
# Stacks and calls of the C library are guarded, relocations read-only. Not in
# the runtime, which needs no C library; sanitizers look at more themselves.
ifndef SAN
guards = -fstack-protector-strong \
         $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))), \
           -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
guard_links = -Wl,-z,relro,-z,now
# Nothing is thrown through C: tables for that would be a twelfth of the program;
# debuggers have their own (-g).
flags = $(strict) $(sanitize) $(paths) $(prefixes) -fvisibility=hidden -fPIC \
        -fno-asynchronous-unwind-tables -fno-unwind-tables $(CFLAGS) $(guards)

# Rooms of the library, from the ground up; then those that only the program
# has: files of others need jansson and zlib, ONNX protobuf-c,
# OpenVINO expat.
rooms := base lexer ops layers parser sema memory codegen drawing library
files = $(wildcard $(addprefix $(src),$(addsuffix /*.c,$(1) $(addsuffix /*,$(1)))))
library := $(call files,$(rooms))
tensors := $(call files,import/bytes import/tensors)
readers := $(filter-out $(tensors) %/absent.c \
             $(if $(filter 0,$(ONNX)),$(src)import/onnx/% $(src)import/openvino/%), \
             $(call files,import)) \
           $(if $(filter 0,$(ONNX)),$(src)import/onnx/absent.c)
commands := $(tensors) \
  $(filter-out $(src)driver/import/% $(if $(filter 0,$(ONNX)),%/onnx.c %/onnx_open.c,%/onnx_absent.c), \
    $(call files,driver)) \
  $(if $(filter 0,$(IMPORT)),$(src)driver/import/absent.c, \
    $(filter-out %/absent.c,$(call files,driver/import))) \
  $(if $(filter 0,$(IMPORT)),$(src)import/kinds.c,$(readers)) \
  $(if $(filter 0,$(ONNX)),,$(call files,export))
generated := scan.c grammar.c grammar.h pages.c web.c
# Messages of ONNX: the program's alone, too.
messages := $(if $(filter 0,$(ONNX)),,onnx.pb-c.c onnx.pb-c.h)
runtime := $(wildcard $(src)runtime/*.c)
to_object = $(patsubst $(src)%.c,$(build)/obj/%.o,$(1))
objects = $(call to_object,$(library)) \
          $(build)/obj/gen/scan.o $(build)/obj/gen/grammar.o \
          $(build)/obj/gen/pages.o $(build)/obj/gen/web.o
program_objects = $(call to_object,$(commands)) \
                  $(if $(messages),$(build)/obj/gen/onnx.pb-c.o)
program_libs = -ljansson -lz $(if $(messages),-lprotobuf-c -lexpat) $(runtime_libs) -pthread
tensor_objects = $(call to_object,$(tensors))
runtime_objects = $(call to_object,$(runtime))

MAKEFLAGS += --no-builtin-rules
# As many jobs as processors, unless -j says how many.
ifeq ($(MAKELEVEL)$(filter clean release-check,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN)
endif

# clang leaves the sanitizers' own functions to the program.
all: $(build)/netc $(build)/libnetc.a $(build)/libnetrt.a \
     $(if $(SAN),,$(build)/$(soname))

# A tool that is absent is named with the package that has it.
comma := ,
need = @command -v $(1) >/dev/null || { \
  echo "netc needs $(1): apt-get install $(2)" >&2; exit 1; }

# A release (make dist) brings what flex, bison, protoc-c and scdoc would make.
ifneq ($(wildcard $(src)generated/scan.c),)
$(addprefix $(gen)/,$(generated) $(messages)): $(gen)/%: $(src)generated/%
	@mkdir -p $(gen)
	cp $< $@
else
# Their lines name no place of this machine.
$(gen)/scan.c: $(src)lexer/scan.l
	@mkdir -p $(gen)
	$(call need,flex,flex)
	cd $(here) && flex -o $(abspath $@) lexer/scan.l
	sed -i 's|"$(abspath $(gen))/|"gen/|' $@

$(gen)/grammar.c: $(src)parser/grammar.y
	@mkdir -p $(gen)
	$(call need,bison,bison)
	cd $(here) && bison -Wall -Wcex -Werror -o $(abspath $@) \
	  --header=$(abspath $(gen))/grammar.h parser/grammar.y
	sed -i 's|"$(abspath $(gen))/|"gen/|' $@ $(gen)/grammar.h

$(gen)/grammar.h: $(gen)/grammar.c

pages := $(wildcard $(src)docs/diagnostics/*.md)
$(gen)/pages.c: $(src)tools/pages.sh $(src)docs/words.md $(pages)
	@mkdir -p $(gen)
	$(src)tools/pages.sh $(src)docs/words.md $(pages) >$@.tmp
	mv $@.tmp $@

web := $(src)drawing/page/page.css $(src)drawing/page/page.js
$(gen)/web.c: $(src)tools/web.sh $(web)
	@mkdir -p $(gen)
	$(src)tools/web.sh $(web) >$@.tmp
	mv $@.tmp $@

# What the format's own definition says; libprotobuf-c packs and unpacks it.
$(gen)/onnx.pb-c.c: $(wildcard $(ONNX_PROTO))
	@mkdir -p $(gen)
	$(call need,protoc-c,protobuf-c-compiler$(comma) or make ONNX=0)
	@test -e $(ONNX_PROTO) || { echo "netc needs $(ONNX_PROTO):" \
	  "apt-get install libonnx-dev, or make ONNX=0" >&2; exit 1; }
	protoc-c -I$(dir $(ONNX_PROTO)) --c_out=$(gen) $(notdir $(ONNX_PROTO))

$(gen)/onnx.pb-c.h: $(gen)/onnx.pb-c.c
endif

# The runtime: C99, each function apart so that a linker takes what is used.
# NETRT_ONEDNN=1 puts convolutions and products on Debian's libdnnl-dev. With
# sanitizers gcc would optimise the unrolled loops for minutes.
NETRT_ONEDNN =
runtime_flags = -std=c99 $(filter-out -std=c11 -I% -fsanitize=fuzzer-no-link \
                  $(guards),$(flags)) \
                $(if $(SAN)$(COVER),-Og,-O3) -Wdouble-promotion -Wmissing-prototypes \
                -ffp-contract=fast -fno-math-errno -fno-trapping-math \
                -ffunction-sections -fdata-sections \
                $(if $(NETRT_ONEDNN),-DNETRT_ONEDNN)
runtime_libs = $(if $(NETRT_ONEDNN),-ldnnl) -lm

# How objects are made. Where that changes, but for -Werror and ccache, they are
# made again. `make install` takes those that there are, and `make -n` writes
# nothing.
made = $(build)/made
made_by := $(filter-out ccache -Werror,$(CC) $(flags) $(runtime_flags))
takes := install% uninstall clean lint dist portable
ifneq ($(made_by),$(file <$(made)))
ifeq ($(and $(wildcard $(made)),$(or \
        $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS)))), \
        $(if $(filter-out $(takes),$(or $(MAKECMDGOALS),all)),,takes))),)
$(shell mkdir -p $(build))$(file >$(made),$(made_by))
endif
endif

$(build)/obj/runtime/%.o: $(src)runtime/%.c $(made)
	@mkdir -p $(@D)
	@echo "CC $(<:$(src)%=%)"
	@$(CC) $(runtime_flags) -MMD -MP -c -o $@ $<

# The same with all checks of a plan, for tests.
$(build)/checked/%.o: $(src)runtime/%.c $(made)
	@mkdir -p $(@D)
	@$(CC) $(runtime_flags) -DNETRT_CHECK -MMD -MP -c -o $@ $<

$(build)/libnetrt.a: $(runtime_objects)
	@echo "LINK $@"
	@rm -f $@ && $(AR) rcsD $@ $^

$(build)/obj/%.o: $(src)%.c $(made) | $(gen)/scan.c $(gen)/grammar.h
	@mkdir -p $(@D)
	@echo "CC $(<:$(src)%=%)"
	@$(CC) $(flags) -MMD -MP -c -o $@ $<

$(build)/obj/gen/%.o: $(gen)/%.c $(made) | $(gen)/grammar.h
	@mkdir -p $(@D)
	@echo "CC $*.c"
	@$(CC) $(flags) -MMD -MP -c -o $@ $(abspath $<)

# A static program starts in two thirds of the time. It is linked with shared
# libraries by `make STATIC=`, and where there are no others.
STATIC = $(if $(SAN)$(NETRT_ONEDNN),,-static-pie)
# Relocations of a static program in a twentieth of the bytes, where the C library
# applies such: glibc from 2.36 on.
relative = $(shell printf '\043include <features.h>\n__GLIBC_MINOR__' | \
             $(CC) -E -P - 2>/dev/null | grep -qxE '3[6-9]|[4-9][0-9]' && \
             echo -Wl,-z,pack-relative-relocs)
link = $(CC) $(sanitize) $(CFLAGS) $(guard_links) $(LDFLAGS)

$(build)/netc: $(objects) $(program_objects) $(build)/libnetrt.a
	@echo "LINK $@"
	@{ test -n "$(STATIC)" && \
	  $(link) $(STATIC) $(relative) -o $@ $^ $(program_libs) 2>/dev/null; } || \
	  $(link) -o $@ $^ $(program_libs)

# For a release: nothing of the machine that runs it is needed, not even a C
# library. Equal sources make equal bytes, in whichever folder. For another
# processor: CC=aarch64-linux-gnu-gcc and AR, OBJCOPY and STRIP likewise, with
# libraries of that architecture (libjansson-dev:arm64).
static: $(build)/static/netc
$(build)/static/netc: $(objects) $(program_objects) $(build)/libnetrt.a
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(link) -static-pie $(relative) -Wl,--gc-sections -o $@ $^ $(program_libs) || { \
	  echo "netc needs archives for that: apt-get install libc6-dev" \
	  "libjansson-dev libprotobuf-c-dev libexpat1-dev zlib1g-dev" >&2; exit 1; }
	@$(STRIP) $@

# valgrind takes the place of malloc only where that is shared.
$(build)/shared/netc: $(objects) $(program_objects) $(build)/libnetrt.a
	@mkdir -p $(@D)
	@$(link) -o $@ $^ $(program_libs)

# What asks and answers, reads files of others, writes and draws is small before
# fast: it takes little of any command's time. Tensors and their bytes take more.
cold = $(call to_object,$(filter-out $(tensors),$(commands)) \
         $(filter-out $(addprefix $(src)codegen/json_,form.c layers.c), \
           $(call files,layers/foreign codegen drawing)))
$(cold): private override CFLAGS := $(patsubst -O2,-Os,$(CFLAGS))
$(build)/obj/driver/installed.o: private override CFLAGS += -DNETC_DATA='"$(datadir)/netc"'

# A header that is absent is named likewise, before the compiler does.
$(build)/obj/import/tensors/safetensors.o: | jansson
$(build)/obj/import/bytes/zip.o: | zlib
$(build)/obj/import/openvino/xml.o: | expat
expat:
	@echo '#include <expat.h>' | $(CC) $(CFLAGS) -E -x c - >/dev/null 2>&1 \
	  || { echo "netc needs expat: apt-get install libexpat1-dev, or make" \
	  "ONNX=0" >&2; exit 1; }
zlib:
	@echo '#include <zlib.h>' | $(CC) $(CFLAGS) -E -x c - >/dev/null 2>&1 \
	  || { echo "netc needs zlib: apt-get install zlib1g-dev" >&2; exit 1; }
jansson:
	@echo '#include <jansson.h>' | $(CC) $(CFLAGS) -E -x c - >/dev/null 2>&1 \
	  || { echo "netc needs jansson: apt-get install libjansson-dev" >&2; \
	  exit 1; }

ifneq ($(messages),)
$(filter %/onnx.pb-c.o $(build)/obj/export/% $(build)/obj/import/onnx/% $(build)/obj/import/openvino/%, \
  $(program_objects)): | \
  protobuf-c $(gen)/onnx.pb-c.h
endif
protobuf-c:
	@echo '#include <protobuf-c/protobuf-c.h>' | $(CC) $(CFLAGS) -E -x c - \
	  >/dev/null 2>&1 || { echo "netc needs protobuf-c: apt-get install" \
	  "libprotobuf-c-dev, or make ONNX=0" >&2; exit 1; }

# One object, in which only the names of include/ are visible.
$(build)/libnetc.a: $(objects)
	@echo "LINK $@"
	@$(CC) -r -nostdlib -o $(build)/libnetc.o $^
	@$(OBJCOPY) --localize-hidden $(build)/libnetc.o
	@rm -f $@ && $(AR) rcsD $@ $(build)/libnetc.o

$(build)/$(soname): $(objects)
	@echo "LINK $@"
	@$(link) -shared -Wl,-soname,$(soname) \
	  -Wl,--no-undefined -o $@ $^ -lm

# Tests: a program for each tests/test_*.c; they run in the repository. What
# other programs link is never sanitized, and counts no branches; what a page
# shows runs nothing that is not tried elsewhere.
COVER =
test_sources := $(filter-out \
                  $(if $(SAN)$(COVER),%/test_install.c %/test_header.c) \
                  $(if $(COVER),%/test_shown.c) \
                  $(if $(messages),,%/test_onnx.c %/test_onnx_open.c %/test_operators.c %/test_operands.c %/test_from_onnx.c %/test_external.c \
                  %/test_onnx_attention.c %/test_onnx_detector.c %/test_onnx_quant.c %/test_onnx_zoo.c %/test_round_trip.c) \
                  $(if $(filter 0,$(IMPORT)),%/test_import.c %/test_keras.c %/test_recognise.c %/test_opening.c %/test_readers.c %/test_tflite.c %/test_openvino.c %/test_values.c %/test_operators.c %/test_operands.c %/test_from_onnx.c %/test_external.c \
                  %/test_onnx_attention.c %/test_onnx_detector.c %/test_onnx_quant.c %/test_onnx_zoo.c %/test_round_trip.c) \
                  $(if $(filter 0,$(IMPORT) $(ONNX)),%/test_interchange.c %/test_openvino.c), \
                  $(wildcard $(src)tests/test_*.c))

$(build)/tests/%: $(src)tests/%.c $(src)tests/run.c $(src)tests/run.h \
                  $(src)tests/report.h $(src)tests/imported.h \
                  $(src)tests/nets.h \
                  $(src)tests/macros.h $(objects) $(tensor_objects)
	@mkdir -p $(@D)
	$(if $(wildcard /usr/include/cmocka.h),,$(error netc check needs \
	  cmocka: apt-get install libcmocka-dev))
	@echo "LINK $@"
	@$(CC) $(filter-out -fvisibility=hidden,$(flags)) \
	  -DNETC='"$(seen)/netc"' \
	  -DNETC_PATH='"$(abspath $(build))/netc"' \
	  -DBUILD='"$(seen)"' \
	  -DPROGRAM='"$*"' \
	  -DNETRT_LIBS='"$(runtime_libs)"' \
	  $(if $(NETRT_ONEDNN),-DNETRT_ONEDNN) \
	  -o $@ $< $(src)tests/run.c $(objects) $(tensor_objects) \
	  -lcmocka -ljansson -lz -lm -pthread

# The library once more, which counts its steps: how does its work grow?
counting := $(patsubst $(build)/obj/%,$(build)/steps/%,$(objects))

$(build)/steps/gen/%.o: $(gen)/%.c $(made) | $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(CC) $(flags) -O1 -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $(abspath $<)

$(build)/steps/%.o: $(src)%.c $(made) | $(gen)/scan.c $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(CC) $(flags) -O1 -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $<

$(build)/tests/test_growth: $(counting)
$(build)/tests/test_growth: private objects := $(counting)

checked := $(patsubst $(src)runtime/%.c,$(build)/checked/%.o,$(runtime))
$(build)/tests/test_runtime $(build)/tests/test_program \
    $(build)/tests/test_narrow $(build)/tests/test_panels \
    $(build)/tests/test_q8: $(checked)
$(build)/tests/test_program $(build)/tests/test_narrow \
    $(build)/tests/test_panels: \
    private objects += $(checked) $(runtime_libs)
$(build)/tests/test_runtime $(build)/tests/test_q8: \
    private objects := $(checked) $(runtime_libs)
$(build)/tests/test_runtime $(build)/tests/test_q8: private tensor_objects :=

message_objects := $(build)/obj/gen/onnx.pb-c.o
$(build)/tests/test_onnx $(build)/tests/test_onnx_open $(build)/tests/test_from_onnx $(build)/tests/test_onnx_detector $(build)/tests/test_onnx_quant: \
    $(message_objects)
$(build)/tests/test_onnx $(build)/tests/test_onnx_open $(build)/tests/test_from_onnx $(build)/tests/test_onnx_detector $(build)/tests/test_onnx_quant: \
    private objects += $(message_objects) -lprotobuf-c

# Readers in the test's own process: tens of thousands of models a second.
reading := $(call to_object,$(readers) $(call files,export) \
             $(wildcard $(src)tests/operands_*.c)) $(message_objects)
$(build)/tests/test_operands: $(reading) $(src)tests/operands.h
$(build)/tests/test_operands: private objects += $(reading) -lprotobuf-c -lexpat
$(build)/obj/tests/operands_onnx.o: | $(gen)/onnx.pb-c.h

# The program with folds of imports that go wrong.
$(build)/tests/misfold: $(src)tests/misfold.c $(objects) $(program_objects) \
                        $(build)/libnetrt.a
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CC) $(flags) -Wl,--wrap=source_fold,--wrap=graph_tensor -o $@ $^ $(program_libs)

$(build)/tests/test_import: | $(build)/tests/misfold

# What those who colour sources without netc are held against.
$(build)/tests/tokens: $(src)tests/tokens.c $(objects)
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CC) $(flags) -o $@ $^ -lm

$(build)/tests/test_editors: | $(build)/tests/tokens

# `make check` runs what takes a minute, `make check-long` the rest: these
# programs, and of others the tests that are marked as slow. T="golden cli"
# runs two programs whole. FULL=1 takes all of a set of which a tenth is tried.
long_tests := docs growth install onnx_zoo
tests := $(sort $(test_sources:$(src)tests/test_%.c=%))
# What lasts longest comes first, so that no processor waits for it.
longest := properties shown cli import library
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
	  $(abspath $(call programs,$(filter $(longest),$(fast)) \
	    $(filter-out $(longest),$(fast)))))

check-long: all $(build)/netc.1 $(call programs,$(slow)) \
    $(filter check,$(MAKECMDGOALS))
	$(run_tests) $(abspath $(call programs,$(filter $(T) $(long_tests),$(slow)))) \
	  $(if $(T),,$(addsuffix :slow,$(abspath $(call programs,$(parted)))))

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

# The playground: the library for WebAssembly, and a page of web/ with the
# packages that web/package-lock.json names; as files, and as one.
wasm_cc = clang --target=wasm32-wasi --sysroot=/usr
# Without files, setjmp and names of functions; small before fast.
wasm_flags = $(strict) $(paths) $(prefixes) -fvisibility=hidden -Oz \
             -mllvm -disable-lsr -mnontrapping-fptoint -msign-ext \
             -ffunction-sections -fdata-sections \
             -DNETC_NO_SETJMP -DNETC_NO_FILES -DNETC_NO_SOURCES \
             -DNETC_NO_DUMPS -DNETC_NO_PDF
# Of import/ what needs no other library, and web/absent.c for the rest.
wasm_readers = $(filter-out $(addprefix $(src)import/,kinds.c readers.c \
                 values.c weights.c caffe/caffe_values.c \
                 darknet/darknet_values.c huggingface/gguf.c \
                 huggingface/stored.c), \
                 $(wildcard $(addprefix $(src)import/,*.c caffe/*.c \
                   darknet/*.c huggingface/*.c)))
wasm_objects = $(patsubst $(src)%.c,$(build)/wasm/%.o, \
                 $(library) $(wasm_readers) $(wildcard $(src)web/*.c)) \
               $(patsubst %.c,$(build)/wasm/gen/%.o,$(filter %.c,$(generated)))
playground := $(filter-out %.c,$(wildcard $(src)web/*.*))
examples := $(wildcard $(src)examples/zoo/*.net $(src)examples/huggingface/*.net)

$(build)/wasm/%.o: $(src)%.c | $(gen)/scan.c $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(wasm_cc) $(wasm_flags) -MMD -MP -c -o $@ $<

$(build)/wasm/gen/%.o: $(gen)/%.c | $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(wasm_cc) $(wasm_flags) -MMD -MP -c -o $@ $(abspath $<)

# Binaryen makes it smaller by a thirtieth; a long function with one caller stays
# apart, which is smaller after gzip. The stack is first in memory, so
# that nothing else is in its lowest kilobyte. Of a memory that is imported the
# data stay in one piece, which is smaller after gzip.
$(build)/wasm/netc.wasm: $(wasm_objects)
	$(call need,wasm-opt,binaryen)
	@echo "LINK $@"
	@$(wasm_cc) -mexec-model=reactor -Wl,--stack-first -Wl,--gc-sections \
	  -Wl,-O2 -Wl,-s -Wl,-z,stack-size=1048576 \
	  -Wl,--import-memory -Wl,--initial-memory=2097152 -o $@.tmp $^ -lm
	@wasm-opt -Oz --dae-optimizing -Oz --converge -ocimfs 60 --low-memory-unused \
	  --enable-sign-ext --enable-nontrapping-float-to-int -o $@ $@.tmp
	@rm $@.tmp

$(build)/npm/node_modules: $(src)web/package.json $(src)web/package-lock.json
	$(call need,npm,npm)
	@mkdir -p $(@D)
	cp $^ $(@D)
	cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

web: $(build)/web/netc.html
$(build)/web/netc.html: $(build)/wasm/netc.wasm $(build)/npm/node_modules \
                        $(playground) $(examples)
	$(call need,xz,xz-utils)
	@mkdir -p $(@D)
	@NODE_PATH=$(abspath $(build))/npm/node_modules node $(src)web/build.js \
	  $(abspath $(build)/wasm/netc.wasm) $(abspath $(@D)) $(examples)

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

# The documentation as a site, with the playground where `make web` has left
# one; and whether all of its links lead somewhere.
site:
	$(call need,pandoc,pandoc)
	@$(src)tools/site.py $(abspath $(build))/site \
	  $(patsubst %/index.html,%,$(wildcard $(abspath $(build))/web/index.html))
check-site: site
	@$(src)tests/site.py $(build)/site

# Python's package, and whether it does in a fresh venv what its page says.
wheel: $(build)/static/netc $(build)/$(soname)
	$(call need,cpp,cpp)
	$(call need,advzip,advancecomp)
	@$(src)tools/make_wheel.py $(build)
python = /usr/bin/python3
check-python: wheel
	@rm -rf $(build)/venv
	@$(python) -m venv --system-site-packages $(build)/venv
	@$(build)/venv/bin/pip install --quiet --no-index \
	  --disable-pip-version-check $(build)/netc-*.whl
	@$(build)/venv/bin/python $(src)tests/python.py $(abspath $(build))
	@$(build)/venv/bin/python $(src)tests/notebook.py $(src)docs/notebook.ipynb \
	  $(abspath $(build))/notebook.html

# What a pull request is told: tools/review.js beside a fake of GitHub's API, and
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
PYTHON = /usr/bin/python3
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

# What golden cases, figures and limits must say, as it is now: read what
# changed. T=part is for the golden cases whose names have that part; another
# exit status needs FORCE=1.
bless: $(build)/netc $(build)/tests/test_golden $(build)/tests/test_figures \
       $(build)/tests/test_foreign
	@BLESS=1 $(build)/tests/test_golden "$(T)" >$(build)/bless.log 2>&1; \
	  status=$$?; $(if $(T),,for test in figures foreign; do \
	    BLESS=1 $(build)/tests/test_$$test >>$(build)/bless.log 2>&1 || \
	      status=1; done;) \
	  grep -v '^\[' $(build)/bless.log; \
	  git status --short tests; git --no-pager diff tests/golden \
	    tests/data/figures.csv tests/data/limits.txt tests/data/foreign.txt; \
	  exit $$status

lint:
	@BUILD=$(build) tools/lint.sh

interchange := $(if $(filter 0,$(IMPORT) $(ONNX)),,$(build)/tests/test_interchange)
docs: pictures $(if $(messages),$(build)/tests/test_onnx) $(interchange) \
      $(build)/tests/test_uses $(build)/tests/test_editors
	$(build)/netc layers --markdown >docs/layers.md
	$(build)/netc help gpus --markdown >docs/gpus.md
	BLESS=1 $(build)/tests/test_uses >/dev/null
	BLESS=1 $(build)/tests/test_editors >/dev/null
	$(if $(messages),BLESS=1 $(build)/tests/test_onnx >/dev/null)
	$(if $(interchange),BLESS=1 $(interchange) >/dev/null)

pictures: $(build)/netc
	tools/charts.sh $(build)/netc docs/charts
	tools/diagrams.sh $(build)/netc docs
	tools/gallery.sh $(build)/netc docs $(shown)

# The page of docs has eight of the zoo, that of $(build) all.
shown = densenet googlenet yolov3 wavenet vit bert whisper deepseek_v2
gallery: $(build)/netc
	tools/gallery.sh $(build)/netc docs $(shown)
	tools/gallery.sh $(build)/netc $(build)

zoo: $(build)/netc
	tools/zoo.py $(build)/netc >docs/zoo.md

accuracy: $(build)/netc
	tools/accuracy.py $(build)/netc >docs/accuracy.md

# What published runs say of a step's time: memory/devices/times.def.
calibrate: $(build)/netc
	tools/calibrate.py $(build)/netc

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

# The library for musl, 32 bits and WebAssembly: equal bytes.
portable: $(library) $(addprefix $(gen)/,$(filter %.c,$(generated)))
	@cd $(here) && tools/portable.sh $(abspath $(gen)) $^

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
# those of TARGETS. What one finds is a file in $(build)/san/fuzz, whose name
# it says. READER=Keras: the first byte does not choose the reader.
FUZZ = 60
READER =
TARGETS = text calls files $(if $(filter 0,$(IMPORT)),,import \
          $(if $(messages),export))
ifeq ($(SAN),1)
fuzz_objects := $(objects) $(call to_object,$(tensors) \
                  $(filter-out $(src)import/weights.c,$(readers)) $(src)driver/buffers.c \
                  $(src)tests/fuzz/common.c \
                  $(if $(messages),$(src)tests/fuzz/onnx.c \
                    $(filter-out %/absent.c,$(call files,export)))) \
                $(if $(messages),$(message_objects))

$(build)/obj/tests/fuzz/onnx.o: | $(gen)/onnx.pb-c.h
$(build)/obj/tests/fuzz/import.o: private CFLAGS += \
  $(if $(messages),-DFUZZ_ONNX)

$(build)/fuzz/library.a: $(fuzz_objects)
	@mkdir -p $(@D)
	@rm -f $@ && $(AR) rcsD $@ $^

$(addprefix $(build)/fuzz/,$(TARGETS)): $(build)/fuzz/%: \
    $(build)/obj/tests/fuzz/%.o $(build)/fuzz/library.a
	@echo "LINK $@"
	@$(link) -fsanitize=fuzzer -o $@ $^ $(program_libs)

fuzz: $(addprefix fuzz-,$(TARGETS))
$(addprefix fuzz-,$(TARGETS)): fuzz-%: $(build)/fuzz/% $(build)/netc
	@cd $(here) && READER="$(READER)" tools/fuzz.sh $(abspath $(build)) $(FUZZ) $*
else
fuzz:
	@$(MAKE) fuzz SAN=1 build=$(build)/san CC=clang CFLAGS='-O1 -g'
endif

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

# What make would run, for editors.
compile_commands.json: FORCE
	@$(MAKE) -s -B -n all | awk '/ -c -o / { printf \
	  "%s{\"directory\": \"$(CURDIR)\", \"file\": \"%s\", \"command\": \"%s\"}", \
	  n++ ? ",\n" : "[", $$NF, $$0 } END { print "]" }' >$@.tmp
	@mv $@.tmp $@

# Installing. The options in the manual page and what shells complete are
# those of the program's own tables.

ifneq ($(wildcard $(src)generated/netc.1),)
$(build)/netc.1: $(src)generated/netc.1
	cp $< $@
else
$(build)/netc.1: $(src)docs/netc.1.scd $(build)/netc
	$(call need,scdoc,scdoc)
	$(build)/netc help --manual >$(build)/options.scd
	sed -e '/^@options@$$/{r $(build)/options.scd' -e 'd}' $< | scdoc >$@.tmp
	mv $@.tmp $@
endif

# PREFIX may be another one each time.
$(build)/%.pc: $(src)tools/%.pc.in FORCE
	@mkdir -p $(@D)
	sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(libdir)|' \
	  -e 's|@includedir@|$(includedir)|' -e 's|@version@|$(version)|' \
	  -e 's|@datadir@|$(datadir)|' -e 's|@libs@|$(runtime_libs)|' $< >$@

cmake_parts = $(build)/cmake/netcConfig.cmake \
              $(build)/cmake/netcConfigVersion.cmake
$(cmake_parts): $(build)/cmake/%: $(src)tools/cmake/%.in FORCE
	@mkdir -p $(@D)
	sed -e 's|@bindir@|$(bindir)|' -e 's|@libdir@|$(libdir)|' \
	  -e 's|@includedir@|$(includedir)|' -e 's|@version@|$(version)|' \
	  -e 's|@soname@|$(soname)|' $< >$@

install-program: $(build)/netc $(build)/netc.1
	install -d $(addprefix $(DESTDIR),$(bindir) $(mandir)/man1 \
	  $(docdir)/charts $(docdir)/gallery \
	  $(datadir)/bash-completion/completions $(datadir)/zsh/site-functions \
	  $(datadir)/fish/vendor_completions.d $(datadir)/netc/editors)
	install -m 755 $(build)/netc $(DESTDIR)$(bindir)/netc
	install -m 644 $(build)/netc.1 $(DESTDIR)$(mandir)/man1/netc.1
	$(build)/netc completion bash \
	  >$(DESTDIR)$(datadir)/bash-completion/completions/netc
	$(build)/netc completion zsh \
	  >$(DESTDIR)$(datadir)/zsh/site-functions/_netc
	$(build)/netc completion fish \
	  >$(DESTDIR)$(datadir)/fish/vendor_completions.d/netc.fish
	cp -R $(src)examples $(src)tools/verify $(DESTDIR)$(datadir)/netc/
	$(if $(wildcard $(build)/web/live.html), \
	  install -m 644 $(build)/web/live.html $(DESTDIR)$(datadir)/netc)
	cp -R $(addprefix $(src)editors/,emacs latex pygments vim) \
	  $(DESTDIR)$(datadir)/netc/editors/
	install -m 644 $(src)README.md $(src)LICENSE $(wildcard $(src)docs/*.md) \
	  $(wildcard $(src)docs/*.svg) $(wildcard $(src)docs/*.schema.json) \
	  $(src)docs/notebook.ipynb \
	  $(src)docs/tutorial.net \
	  $(DESTDIR)$(docdir)
	install -m 644 $(wildcard $(src)docs/charts/*.svg) \
	  $(DESTDIR)$(docdir)/charts
	install -m 644 $(wildcard $(src)docs/gallery/*.svg) \
	  $(DESTDIR)$(docdir)/gallery

install-shared: $(build)/$(soname)
	install -d $(DESTDIR)$(libdir)
	install -m 755 $(build)/$(soname) \
	  $(DESTDIR)$(libdir)/libnetc.so.$(version)
	ln -sf libnetc.so.$(version) $(DESTDIR)$(libdir)/$(soname)

install-library: $(build)/libnetc.a $(build)/netc.pc $(cmake_parts)
	install -d $(addprefix $(DESTDIR),$(libdir)/pkgconfig \
	  $(libdir)/cmake/netc $(includedir))
	install -m 644 $(build)/libnetc.a $(DESTDIR)$(libdir)
	ln -sf $(soname) $(DESTDIR)$(libdir)/libnetc.so
	install -m 644 $(wildcard $(src)include/*.h) $(DESTDIR)$(includedir)
	install -m 644 $(build)/netc.pc $(DESTDIR)$(libdir)/pkgconfig
	install -m 644 $(cmake_parts) $(DESTDIR)$(libdir)/cmake/netc

# The header, the archive, and the sources to copy into a firmware.
install-runtime: $(build)/libnetrt.a $(build)/netrt.pc
	install -d $(addprefix $(DESTDIR),$(libdir)/pkgconfig \
	  $(includedir)/netrt $(datadir)/netc/runtime)
	install -m 644 $(build)/libnetrt.a $(DESTDIR)$(libdir)
	install -m 644 $(src)runtime/netrt.h $(src)runtime/ops.def \
	  $(DESTDIR)$(includedir)/netrt
	install -m 644 $(wildcard $(src)runtime/*.[ch]) $(src)runtime/ops.def \
	  $(DESTDIR)$(datadir)/netc/runtime
	install -m 644 $(build)/netrt.pc $(DESTDIR)$(libdir)/pkgconfig

install: install-program install-shared install-library install-runtime

uninstall:
	rm -f $(addprefix $(DESTDIR),$(bindir)/netc $(mandir)/man1/netc.1 \
	  $(datadir)/bash-completion/completions/netc \
	  $(datadir)/zsh/site-functions/_netc \
	  $(datadir)/fish/vendor_completions.d/netc.fish \
	  $(libdir)/libnetc.a $(libdir)/libnetc.so $(libdir)/$(soname) \
	  $(libdir)/libnetc.so.$(version) $(libdir)/pkgconfig/netc.pc \
	  $(includedir)/netc.h $(includedir)/netc_edit.h $(libdir)/libnetrt.a \
	  $(libdir)/pkgconfig/netrt.pc)
	rm -rf $(addprefix $(DESTDIR),$(datadir)/netc $(docdir) \
	  $(libdir)/cmake/netc $(includedir)/netrt)

# A release: the tracked files, and what flex, bison, protoc-c and scdoc make.
release = netc-$(version)
tarball = $(build)/$(release).tar.gz
dist: $(addprefix $(gen)/,$(generated) $(messages)) $(build)/netc.1
	tools/dist.sh $(release) $(tarball) $^

# A netc without what can be left out: it says what is missing.
check-small: $(build)/netc
	@cd $(here) && tools/check_small.sh $(abspath $(build))

# A release builds without these tools, to equal bytes; the packages
# install, run and go. For CI: it needs root.
release-check: dist deb check-small static
	tools/release_check.sh $(release) $(tarball) $(abspath $(build))

# Three packages, as Debian would cut them.
deb: all $(build)/netc.1 $(build)/netc.pc $(build)/netrt.pc
	tools/deb.sh $(version) $(soname) $(build)

clean:
	rm -rf build

-include $(wasm_objects:.o=.d) $(objects:.o=.d) $(program_objects:.o=.d) $(counting:.o=.d) \
         $(runtime_objects:.o=.d) $(checked:.o=.d) $(fuzz_objects:.o=.d)

FORCE:

.PHONY: FORCE jansson zlib expat protobuf-c all check check-long web check-web check-onnx check-gathered check-editors check-lsp bench-lsp check-review static wheel check-python check-modules site check-site check-torch random check-small bless lint docs pictures gallery zoo accuracy calibrate \
        valgrind portable bench bench-instructions bench-runtime fuzz cover mutants print-objects print-program-objects release-check \
        install install-program install-shared install-library \
        install-runtime uninstall dist \
        deb clean
.DELETE_ON_ERROR:
