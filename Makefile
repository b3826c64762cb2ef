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

clean:
	rm -rf build

-include $(objects:.o=.d) $(program_objects:.o=.d)

.PHONY: all clean
.DELETE_ON_ERROR:
