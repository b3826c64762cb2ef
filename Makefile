# netc: make, make check, make install. Products are under build/.

CC = cc
CFLAGS = -O2 -g
PREFIX = /usr/local
DESTDIR =
SAN =

version := $(shell sed -n 's/^\#define NETC_VERSION "\(.*\)"/\1/p' \
             include/netc.h)
build = build$(if $(SAN),/san)
gen := build/gen

strict = -std=c11 -Wall -Wextra -Wshadow -Wconversion -pedantic -Werror
ifdef SAN
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all
endif
flags = $(strict) $(sanitize) -I. -Iinclude -I$(gen) -fvisibility=hidden \
        -MMD -MP $(CFLAGS)

library := $(wildcard base/*.c lexer/*.c parser/*.c layers/*.c plan/*.c sema/*.c memory/*.c \
             codegen/*.c) driver/library.c $(gen)/scan.c $(gen)/grammar.c
commands := $(filter-out driver/library.c,$(wildcard driver/*.c)) \
            $(gen)/pages.c
objects = $(patsubst %.c,$(build)/obj/%.o,$(library))
program_objects = $(patsubst %.c,$(build)/obj/%.o,$(commands))

MAKEFLAGS += --no-builtin-rules

all: $(build)/netc $(build)/libnetc.a

# A tool that is absent is named with the package that has it.
need = @command -v $(1) >/dev/null || { \
  echo "netc needs $(1): apt-get install $(2)" >&2; exit 1; }

$(gen)/scan.c: lexer/scan.l
	@mkdir -p $(gen)
	$(call need,flex,flex)
	flex -o $@ $<

$(gen)/grammar.c: parser/grammar.y
	@mkdir -p $(gen)
	$(call need,bison,bison)
	bison -Wall -Wcex -Werror -o $@ --header=$(gen)/grammar.h $<

pages := $(wildcard docs/diagnostics/*.md)
$(gen)/pages.c: tools/pages.sh $(pages)
	@mkdir -p $(gen)
	tools/pages.sh $(pages) >$@.tmp
	mv $@.tmp $@

$(build)/obj/%.o: %.c | $(gen)/scan.c $(gen)/grammar.c
	@mkdir -p $(@D)
	@echo "CC $<"
	@$(CC) $(flags) -c -o $@ $<

$(build)/netc: $(objects) $(program_objects)
	@echo "LINK $@"
	@$(CC) $(sanitize) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

# One object, in which only the names of netc.h are visible.
$(build)/libnetc.a: $(objects)
	@echo "LINK $@"
	@$(CC) -r -nostdlib -o $(build)/libnetc.o $^
	@objcopy --localize-hidden $(build)/libnetc.o
	@rm -f $@ && ar rcs $@ $(build)/libnetc.o

# Tests: a program for each tests/test_*.c; they run in the repository.
test_sources := $(wildcard tests/test_*.c)
test_programs = $(patsubst tests/%.c,$(build)/tests/%,$(test_sources))

$(build)/tests/%: tests/%.c tests/run.c tests/run.h $(objects)
	@mkdir -p $(@D)
	$(if $(wildcard /usr/include/cmocka.h),,$(error netc check needs \
	  cmocka: apt-get install libcmocka-dev))
	@echo "LINK $@"
	@$(CC) $(filter-out -fvisibility=hidden -MMD -MP,$(flags)) \
	  -DNETC='"$(build)/netc"' -o $@ $< tests/run.c $(objects) \
	  -lcmocka -ljansson -lm -pthread

# The library once more, which counts its steps: how does its work grow?
counting = $(patsubst %.c,$(build)/steps/%.o,$(library))

$(build)/steps/%.o: %.c | $(gen)/scan.c $(gen)/grammar.c
	@mkdir -p $(@D)
	@$(CC) $(flags) -O1 -fsanitize-coverage=trace-pc -c -o $@ $<

$(build)/tests/test_growth: $(counting)
$(build)/tests/test_growth: private objects = $(counting)

check: $(build)/netc $(test_programs)
	@failed=; for test in $(test_programs); do \
	  CMOCKA_MESSAGE_OUTPUT=stdout $$test >$$test.log 2>&1 || failed=1; \
	  grep -aE '\[  (FAILED|ERROR)' -B 20 $$test.log | grep -avE \
	    '\[ RUN|\[       OK' | head -n 60; \
	  grep -a '\[  PASSED' $$test.log | sed "s|^|$$(basename $$test): |"; \
	done; test -z "$$failed"

bless: $(build)/netc $(build)/tests/test_golden
	BLESS=1 $(build)/tests/test_golden >/dev/null 2>&1
	git diff --stat tests/golden

lint:
	@tools/lint.sh

docs: $(build)/netc
	$(build)/netc layers --markdown >docs/layers.md

zoo: $(build)/netc
	tools/zoo.py $(build)/netc >docs/zoo.md

accuracy: $(build)/netc
	tools/accuracy.py $(build)/netc >docs/accuracy.md

# Every golden source under valgrind, but for those that loop for long.
valgrind: $(build)/netc
	@for net in $$(ls tests/golden/*/*.net examples/*.net \
	    examples/zoo/*.net | grep -v 'never-ends\|billion'); do \
	  valgrind -q --error-exitcode=99 --leak-check=full $(build)/netc $$net \
	    -o - --emit=json --emit=net --emit=dot >build/valgrind.log 2>&1; \
	  test $$? != 99 || { cat build/valgrind.log; exit 1; }; done

# Speed, as ratios; the figures in bench/README.md come from here.
$(build)/bench/json_reference: bench/json_reference.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CFLAGS) -o $@ $< -ljansson

$(build)/bench/planner: bench/planner.c $(objects)
	@mkdir -p $(@D)
	$(CC) $(flags) -o $@ $< $(objects) -lm

tables := tests/data/planner
planned := $(filter-out %/LOWER_BOUNDS.csv,$(wildcard $(tables)/cnn/*.csv)) \
           $(addsuffix @1048576,$(wildcard $(tables)/minimalloc/?.*.csv)) \
           $(wildcard $(tables)/minimalloc/[CDJ].*.csv) \
           $(wildcard $(tables)/perfect/*.csv) \
           training=2000 training=20000 training=60000

bench: $(build)/netc $(build)/bench/json_reference $(build)/bench/planner
	@bench/run.sh $(build)/netc $(build)/bench/json_reference
	@$(build)/bench/planner $(planned)

# Coverage-guided fuzzing for FUZZ seconds, from the golden sources.
FUZZ = 60
fuzz: $(library)
	@mkdir -p build/fuzz/corpus
	for net in tests/golden/*/*.net examples/*.net examples/zoo/*.net; do \
	  cp $$net build/fuzz/corpus/$$(echo $$net | tr / -); done
	clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined \
	  -fno-sanitize-recover=all -I. -Iinclude -I$(gen) -o build/fuzz/fuzz \
	  tests/fuzz.c $(library) -lm
	build/fuzz/fuzz -max_total_time=$(FUZZ) -timeout=20 -rss_limit_mb=8000 \
	  -dict=tests/fuzz.dict -max_len=4096 build/fuzz/corpus

# Lines that the tests reach.
cover:
	$(MAKE) check build=build/cover CFLAGS='--coverage -O0'
	@cd build/cover && for data in $$(find . -name '*.gcda' | \
	  grep -v /gen/); do gcov -n -o $$(dirname $$data) $$data; done \
	  2>/dev/null | awk -F"[':% ]+" '/^File/ { file = $$2 } \
	    /^Lines/ && file ~ /^(base|lexer|parser|layers|sema|codegen|driver)/ \
	    { printf "%6.1f %% of %5d  %s\n", $$3, $$5, file; \
	      all += $$5; hit += $$3 * $$5 / 100; file = "" } \
	    END { printf "%6.1f %% of %5d  all\n", 100 * hit / all, all }' | sort

prefix := $(DESTDIR)$(PREFIX)

$(build)/netc.1: docs/netc.1.scd
	$(call need,scdoc,scdoc)
	scdoc <$< >$@

$(build)/netc.pc: FORCE # PREFIX may be another one
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: netc' \
	  'Description: compiler for neural-network architectures' \
	  'Version: $(version)' 'Cflags: -I$${prefix}/include' \
	  'Libs: -L$${prefix}/lib -lnetc -lm' >$@

install: all $(build)/netc.1 $(build)/netc.pc
	install -d $(prefix)/bin $(prefix)/lib/pkgconfig $(prefix)/include \
	  $(prefix)/share/man/man1 $(prefix)/share/doc/netc
	install -m 755 $(build)/netc $(prefix)/bin
	install -m 644 $(build)/libnetc.a $(prefix)/lib
	install -m 644 include/netc.h $(prefix)/include
	install -m 644 $(build)/netc.pc $(prefix)/lib/pkgconfig
	install -m 644 $(build)/netc.1 $(prefix)/share/man/man1
	install -m 644 docs/*.md docs/report.schema.json $(prefix)/share/doc/netc

clean:
	rm -rf build

-include $(objects:.o=.d) $(program_objects:.o=.d) $(counting:.o=.d)

FORCE:

.PHONY: FORCE all check bless lint docs zoo accuracy valgrind bench fuzz cover \
        install clean
.DELETE_ON_ERROR:
