# Builds and installs netc. Products are under $(build), which may be anywhere:
# `make build=/tmp/netc`, or `make -f /path/to/netc/Makefile`. Tests are in
# tests/tests.mk, documentation and the playground in docs/docs.mk, packages
# in tools/dist.mk.

CC = cc
AR = ar
OBJCOPY = objcopy
STRIP = strip
CFLAGS = -O2 -g1
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
build = build$(if $(SAN),/san$(filter-out 1,$(SAN)))
gen = $(build)/gen
seen = $(if $(filter $(CURDIR),$(here)),$(build),$(abspath $(build)))

version := $(shell sed -n 's/^\#define NETC_VERSION "\(.*\)"/\1/p' \
             $(here)/include/netc.h)
soname := libnetc.so.$(firstword $(subst ., ,$(version)))

strict = -std=c11 -Wall -Wextra -Wshadow -Wconversion -pedantic $(WERROR)
# SAN=1: addresses and undefined behaviour; SAN=thread: races; SAN=fuzz: as 1,
# and clang's objects count edges for `make fuzz`, which makes them three times
# as slow.
ifdef SAN
sanitize := -fsanitize=$(if $(filter thread,$(SAN)),thread,address,undefined) \
            $(if $(filter fuzz,$(SAN)),-fsanitize=fuzzer-no-link) \
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
# debuggers have their own (-g). Padding would be a hundredth of the wheel; the
# runtime's loops have it.
packed = -falign-functions=1 -falign-labels=1 -falign-loops=1 -falign-jumps=1 \
         -Wno-ignored-optimization-argument
flags = $(strict) $(sanitize) $(paths) $(prefixes) -fvisibility=hidden -fPIC \
        -fno-asynchronous-unwind-tables -fno-unwind-tables $(packed) $(CFLAGS) \
        $(guards)

# Rooms of the library, from the ground up; then those that only the program
# has: files of others need jansson and zlib, ONNX protobuf-c,
# OpenVINO expat.
rooms := base lexer ops layers parser sema memory codegen drawing library
files = $(wildcard $(addprefix $(src),$(addsuffix /*.c,$(1) $(addsuffix /*,$(1)))))
library := $(call files,$(rooms))
tensors := $(call files,import/bytes import/tensors)
readers := $(filter-out $(tensors) %/absent.c \
             $(if $(filter 0,$(ONNX)),$(src)import/onnx/% $(src)import/openvino/% $(src)import/exported/% $(src)import/ncnn/% $(src)import/python/%), \
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
# The program's alone.
templates := template.c torch.c
# Messages of ONNX: the program's alone, too.
messages := $(if $(filter 0,$(ONNX)),,onnx.pb-c.c onnx.pb-c.h)
runtime := $(wildcard $(src)runtime/*.c)
to_object = $(patsubst $(src)%.c,$(build)/obj/%.o,$(1))
objects = $(call to_object,$(library)) \
          $(build)/obj/gen/scan.o $(build)/obj/gen/grammar.o \
          $(build)/obj/gen/pages.o $(build)/obj/gen/web.o
program_objects = $(call to_object,$(commands)) $(build)/obj/gen/template.o \
                  $(if $(messages),$(build)/obj/gen/onnx.pb-c.o $(build)/obj/gen/torch.o)
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
$(addprefix $(gen)/,$(generated) $(templates) $(messages)): \
  $(gen)/%: $(src)generated/%
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

web := $(addprefix $(src)drawing/page/,view.css view.js page.css page.js)
$(gen)/web.c: $(src)tools/web.sh $(web)
	@mkdir -p $(gen)
	$(src)tools/web.sh $(web) >$@.tmp
	mv $@.tmp $@

$(gen)/template.c: $(src)tools/template.sh $(src)driver/netc.bash.in
	@mkdir -p $(gen)
	$(src)tools/template.sh driver/completion.h completion_bash \
	  $(src)driver/netc.bash.in >$@.tmp
	mv $@.tmp $@

$(gen)/torch.c: $(src)tools/template.sh $(src)import/python/torch.py
	@mkdir -p $(gen)
	$(src)tools/template.sh import/python/library.h python_torch \
	  $(src)import/python/torch.py >$@.tmp
	mv $@.tmp $@

# From the format's own definition; libprotobuf-c packs it, import/onnx/decode.c unpacks it.
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
                  $(guards) $(packed),$(flags)) \
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

# Code that asks and answers, reads files, warns, writes and draws is small before
# fast: it takes little of any command's time. Tensors and their bytes take more.
cold = $(call to_object,$(filter-out $(tensors),$(commands)) \
         $(filter-out $(addprefix $(src)codegen/json_,form.c layers.c), \
           $(call files,layers/foreign codegen drawing sema/lint sema/repeat \
             memory/serving memory/devices)))
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
$(filter %/onnx.pb-c.o $(build)/obj/export/% $(build)/obj/import/onnx/% $(build)/obj/import/openvino/% $(build)/obj/import/exported/% $(build)/obj/import/ncnn/% $(build)/obj/import/python/%, \
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

# The commands of make, for editors.
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
	$(build)/netc help manual >$(build)/options.scd
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

clean:
	rm -rf build

-include $(objects:.o=.d) $(program_objects:.o=.d) $(runtime_objects:.o=.d)

FORCE:

.PHONY: FORCE all static install install-program install-shared \
        install-library install-runtime uninstall clean jansson zlib expat \
        protobuf-c
.DELETE_ON_ERROR:

include $(addprefix $(src),tests/tests.mk docs/docs.mk tools/dist.mk)
