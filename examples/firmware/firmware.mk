# What the folders of boards share: a net becomes tables and weights, and these,
# the runtime and main.c a program. A board says CC, BOARD and EMULATOR.
NETC = netc
RUNTIME = $(shell pkg-config --variable=sources netrt)
NET = ../firmware/kws.net
# Weights by chance; trained ones: WEIGHTS = --from trained.safetensors
WEIGHTS = --random 1
CFLAGS = -Os -Wall -Wextra
out = build

# NETRT_SMALL: kernels that are small before fast. NETRT_RUN: kws_run().
flags = $(BOARD) $(CFLAGS) -I$(RUNTIME) -I$(out) -DNETRT_SMALL -DNETRT_RUN \
        -ffunction-sections -fdata-sections
sources = $(wildcard $(RUNTIME)/*.c)
objects = $(patsubst $(RUNTIME)/%.c,$(out)/%.o,$(sources)) \
          $(out)/kws.o $(out)/weights.o $(out)/main.o

all: $(out)/kws.elf

run: $(out)/kws.elf
	$(EMULATOR) $<

$(out)/kws.h $(out)/kws.c &: $(NET)
	@mkdir -p $(out)
	$(NETC) $< --header=deploy --prefix=kws -o $(out)/kws.h -o $(out)/kws.c

$(out)/weights.S: $(NET)
	@mkdir -p $(out)
	$(NETC) weights $< $(WEIGHTS) --fold --prefix=kws -o $@

$(out)/main.o: ../firmware/main.c $(out)/kws.h
	$(CC) $(flags) -c -o $@ $<

$(out)/kws.o: $(out)/kws.c
	$(CC) $(flags) -c -o $@ $<

$(out)/weights.o: $(out)/weights.S
	$(CC) $(BOARD) -I$(out) -c -o $@ $<

$(out)/%.o: $(RUNTIME)/%.c
	@mkdir -p $(out)
	$(CC) $(flags) -c -o $@ $<

$(out)/kws.elf: $(objects)
	$(CC) $(BOARD) $(objects) -Wl,--gc-sections $(LINK) -lm -o $@
	$(SIZE) $@

clean:
	rm -rf $(out)

.PHONY: all run clean
