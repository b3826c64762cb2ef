# netc: make, make check, make install. Products are under build/.

CC = cc
CFLAGS = -O2 -g
PREFIX = /usr/local
DESTDIR =
SAN =

version := $(shell sed -n 's/^\#define NETC_VERSION "\(.*\)"/\1/p' \
             include/netc.h)
build := build$(if $(SAN),/san)
gen := build/gen

strict = -std=c11 -Wall -Wextra -Wshadow -Wconversion -pedantic -Werror
ifdef SAN
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all
endif
flags = $(strict) $(sanitize) -I. -Iinclude -I$(gen) -fvisibility=hidden \
        -MMD -MP $(CFLAGS)

library := $(wildcard base/*.c lexer/*.c parser/*.c layers/*.c sema/*.c \
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
	$(CC) $(flags) -c -o $@ $<

$(build)/netc: $(objects) $(program_objects)
	$(CC) $(sanitize) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

# One object, in which only the names of netc.h are visible.
$(build)/libnetc.a: $(objects)
	$(CC) -r -nostdlib -o $(build)/libnetc.o $^
	objcopy --localize-hidden $(build)/libnetc.o
	rm -f $@
	ar rcs $@ $(build)/libnetc.o

# Tests: a program for each tests/test_*.c; they run in the repository.
test_sources := $(wildcard tests/test_*.c)
test_programs = $(patsubst tests/%.c,$(build)/tests/%,$(test_sources))

$(build)/tests/%: tests/%.c tests/run.c tests/run.h $(objects)
	@mkdir -p $(@D)
	$(if $(wildcard /usr/include/cmocka.h),,$(error netc check needs \
	  cmocka: apt-get install libcmocka-dev))
	$(CC) $(filter-out -fvisibility=hidden -MMD -MP,$(flags)) \
	  -DNETC='"$(build)/netc"' -o $@ $< tests/run.c $(objects) \
	  -lcmocka -ljansson -lm -pthread

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

clean:
	rm -rf build

-include $(objects:.o=.d) $(program_objects:.o=.d)

.PHONY: all check bless clean
.DELETE_ON_ERROR:
