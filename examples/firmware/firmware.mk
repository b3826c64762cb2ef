# What the folders of boards share: a net becomes tables and weights, and these,
# the runtime and main.c a program. A board says CC, BOARD and EMULATOR.
NETC = netc
RUNTIME = $(shell pkg-config --variable=sources netrt)
NET = ../firmware/kws.net
# Weights by chance; trained ones: WEIGHTS = --from trained.safetensors
WEIGHTS = --random 1
# Settings of the plan: --stream on, --patches auto
PLAN =
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

# Bytes, as docs/microcontrollers.md has them: code is all but weights, main.c
# and printf among it; kernels and tables are what kws_run() reaches of them.
figures: $(out)/kws.elf $(out)/reached.o
	@$(EMULATOR) $< | head -1
	@weights=$$(sed -n 's/.*KWS_WEIGHT_BYTES //p' $(out)/kws.h | head -1); \
	$(SIZE) $^ | awk -v w=$$weights 'NR == 2 { all = $$1 - w } \
	  NR == 3 { print "code " all " B, kernels and tables " $$1 " B" }'

$(out)/reached.o: $(filter-out $(out)/main.o $(out)/weights.o,$(objects))
	$(CC) $(filter-out --specs=%,$(BOARD)) -nostdlib -r \
	  -Wl,--gc-sections,-e,kws_run $^ -o $@

$(out)/kws.h $(out)/kws.c &: $(NET)
	@mkdir -p $(out)
	$(NETC) $< $(PLAN) --header=deploy --prefix=kws -o $(out)/kws.h -o $(out)/kws.c

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

.PHONY: all run figures clean
