# Documentation and the playground: a part of the Makefile.

# The playground: the library for WebAssembly, and a page of web/ with the
# packages that web/package-lock.json names; as files, and as one.
wasm_cc = clang --target=wasm32-wasi --sysroot=/usr
# Without files, setjmp and names of functions; small before fast. Without gain:
# clang 16 for 14, link-time optimisation, no inlining, structs as several values.
wasm_flags = $(strict) $(paths) $(prefixes) -fvisibility=hidden -Oz \
             -mllvm -disable-lsr -mnontrapping-fptoint -msign-ext \
             -ffunction-sections -fdata-sections \
             -DNETC_NO_SETJMP -DNETC_NO_FILES -DNETC_NO_SOURCES \
             -DNETC_NO_DUMPS
# The libraries of the readers: Debian has no binaries of them for WebAssembly,
# but the sources of its packages, so that both read the same.
DEBIAN = http://deb.debian.org/debian bookworm main
foreign_packages = jansson zlib expat $(if $(messages),protobuf-c)
foreign = $(addprefix jansson/src/,error hashtable hashtable_seed load memory \
            pack_unpack strbuffer strconv utf value) \
          $(addprefix zlib/,adler32 crc32 inffast inflate inftrees zutil) \
          $(addprefix expat/expat/lib/,xmlparse xmlrole xmltok) \
          $(if $(messages),protobuf-c/protobuf-c/protobuf-c)
foreign_paths = $(addprefix -isystem $(build)/debian/, \
                  jansson/src zlib expat/expat/lib protobuf-c)
apt_here = apt-get -q -o Dir::State=$(abspath $(@D)) \
           -o Dir::Cache=$(abspath $(@D)) -o APT::Sandbox::User=root \
           -o Dir::Etc::SourceList=$(abspath $(@D))/s.list \
           -o Dir::Etc::SourceParts=-
# A salt without entropy, which a page has none of, is enough for one file.
expat_config = $(@D)/expat/expat/lib/expat_config.h
$(build)/debian/unpacked:
	$(call need,apt-get,apt)
	$(call need,dpkg-source,dpkg-dev)
	@rm -rf $(@D)
	@mkdir -p $(@D)/lists/partial $(@D)/archives/partial
	@echo deb-src $(DEBIAN) >$(@D)/s.list
	$(apt_here) update
	cd $(@D) && $(apt_here) source --download-only $(foreign_packages)
	cd $(@D) && for name in $(foreign_packages); do \
	  dpkg-source -q --no-check -x $${name}_*.dsc $$name || exit; done
	sed 's/@json_inline@/inline/; s/@json_have_long_long@/1/; s/@json.*@/0/' \
	  $(@D)/jansson/src/jansson_config.h.in >$(@D)/jansson/src/jansson_config.h
	@: >$(@D)/jansson/src/jansson_private_config.h
	@printf '#include <%s.h>\n' stdlib unistd >$(expat_config)
	@printf '#define %s\n' 'arc4random_buf getentropy' 'getenv(name) NULL' \
	  >>$(expat_config)
	@touch $@

# The readers, without what files of a disk need; web/absent.c is for the rest.
wasm_readers = $(filter-out $(addprefix $(src)import/,bytes/file.c \
                 bytes/gzip.c huggingface/stored.c onnx/external_file.c), \
                 $(tensors) $(readers)) \
               $(if $(messages),$(addprefix $(src)export/,layout.c seal.c))
wasm_objects = $(patsubst $(src)%.c,$(build)/wasm/%.o, \
                 $(library) $(wasm_readers) $(filter-out $(if $(messages),,%/onnx.c), \
                 $(wildcard $(src)web/*.c))) \
               $(patsubst %.c,$(build)/wasm/gen/%.o,$(filter %.c,$(generated)) \
                 $(if $(messages),onnx.pb-c.c torch.c)) \
               $(patsubst %,$(build)/wasm/debian/%.o,$(foreign))
# The page's first module has the outputs that it shows, the second, which a page
# fetches when it is asked for others, all of them and the readers.
few = $(addprefix $(build)/wasm/few/,library/backends.o drawing/scene/font.o \
        web/print.o)
modules := netc more
$(build)/wasm/netc.wasm: $(filter-out $(build)/wasm/import/% \
  $(addprefix $(build)/wasm/web/,import.o files.o onnx.o) \
  $(addprefix $(build)/wasm/,gen/onnx.pb-c.o gen/torch.o export/% debian/%) \
  $(few:$(build)/wasm/few/%=$(build)/wasm/%), \
  $(wasm_objects)) $(few)
$(build)/wasm/more.wasm: $(wasm_objects)
playground := $(filter-out %.c,$(wildcard $(src)web/*.*))
examples := $(wildcard $(addprefix $(src)examples/,zoo/*.net \
  huggingface/*.net huggingface/blocks/*.net yolo/blocks/*.net))

$(build)/wasm/%.o: $(src)%.c | $(gen)/scan.c $(gen)/grammar.h $(filter %.h,$(messages:%=$(gen)/%))
	@mkdir -p $(@D)
	@$(wasm_cc) $(wasm_flags) -MMD -MP -c -o $@ $<

$(filter $(build)/wasm/import/%,$(wasm_objects)): \
  private wasm_flags += $(foreign_paths)
$(filter $(build)/wasm/import/%,$(wasm_objects)): | $(build)/debian/unpacked
$(build)/wasm/debian/%.o: $(build)/debian/unpacked
	@mkdir -p $(@D)
	@$(wasm_cc) $(filter-out $(strict),$(wasm_flags)) $(foreign_paths) -w \
	  -DHAVE_STDINT_H -DHAVE_ARC4RANDOM_BUF -DXML_DTD -c -o $@ \
	  $(build)/debian/$*.c

$(build)/wasm/few/%.o: $(src)%.c | $(gen)/scan.c $(gen)/grammar.h $(filter %.h,$(messages:%=$(gen)/%))
	@mkdir -p $(@D)
	@$(wasm_cc) $(wasm_flags) -DNETC_FEW -MMD -MP -c -o $@ $<

$(build)/wasm/gen/%.o: $(gen)/%.c | $(gen)/grammar.h
	@mkdir -p $(@D)
	@$(wasm_cc) $(wasm_flags) -MMD -MP -c -o $@ $(abspath $<)

# Binaryen makes it smaller by a thirtieth; a long function with one caller stays
# apart, which is smaller after gzip. The stack is first in memory, so
# that nothing else is in its lowest kilobyte. Of a memory that is imported the
# data stay in one piece, which is smaller after gzip.
$(modules:%=$(build)/wasm/%.wasm):
	$(call need,wasm-opt,binaryen)
	@echo "LINK $@"
	@$(wasm_cc) -mexec-model=reactor -Wl,--stack-first -Wl,--gc-sections \
	  -Wl,-O2 -Wl,-s -Wl,-z,stack-size=1048576 \
	  -Wl,--import-memory -Wl,--initial-memory=2097152 -o $@.tmp $^ -lm
	@wasm-opt -Oz --dae-optimizing -Oz -ocimfs 60 -aimfs 4 --low-memory-unused \
	  --enable-sign-ext --enable-nontrapping-float-to-int -o $@ $@.tmp
	@rm $@.tmp

$(build)/npm/node_modules: $(src)web/package.json $(src)web/package-lock.json
	$(call need,npm,npm)
	@mkdir -p $(@D)
	cp $^ $(@D)
	cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

web: $(build)/web/netc.html
$(build)/web/netc.html: $(modules:%=$(build)/wasm/%.wasm) \
                        $(build)/npm/node_modules $(playground) $(examples)
	$(call need,xz,xz-utils)
	@mkdir -p $(@D)
	@NODE_PATH=$(abspath $(build))/npm/node_modules node $(src)web/build.js \
	  $(abspath $(build)/wasm) $(abspath $(@D)) $(examples)

# The documentation as a site, with a program that runs on any Linux of this
# processor, and the playground where `make web` has left one.
download = netc-linux-$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
site: $(build)/netc $(build)/static/netc
	$(call need,pandoc,pandoc)
	@$(src)tools/site.py $(abspath $^) $(download) $(abspath $(build))/site \
	  $(patsubst %/index.html,%,$(wildcard $(abspath $(build))/web/index.html))
# All links lead somewhere; in Chromium, with the npm packages of `make web`,
# the pages do what they promise. CI must have both.
check-site: site
	@$(src)tests/site.py $(build)/site
	@if test -x $(CHROMIUM) && NODE_PATH=$(NODE_PATH) node -e \
	  'require("playwright-core"), require("axe-core")' 2>/dev/null; then \
	  cd $(here) && NODE_PATH=$(NODE_PATH) CHROMIUM=$(CHROMIUM) \
	  node tests/site.js $(abspath $(build))/site; \
	else echo "check-site: what needs Chromium and make web is left out"; \
	  test -z "$(CI)"; fi

# Pages that the program and its tests write.
interchange := $(if $(filter 0,$(IMPORT) $(ONNX)),,$(build)/tests/test_interchange)
docs: pictures $(if $(messages),$(build)/tests/test_onnx) $(interchange) \
      $(build)/tests/test_uses $(build)/tests/test_editors
	$(build)/netc layers --markdown >docs/layers.md
	$(build)/netc help gpus --markdown >docs/gpus.md
	$(build)/netc help boards --markdown >docs/boards.md
	$(build)/netc help recipes --markdown >docs/recipes.md
	BLESS=1 $(build)/tests/test_uses >/dev/null
	BLESS=1 $(build)/tests/test_editors >/dev/null
	$(if $(messages),BLESS=1 $(build)/tests/test_onnx >/dev/null)
	$(if $(interchange),BLESS=1 $(interchange) >/dev/null)

# Code and stack of the runtime's kernels, measured with cross compilers.
board-code: $(build)/netc
	tools/board_code.py $(build)/netc >$(build)/kernels.def
	mv $(build)/kernels.def memory/kernels.def

# Instructions of products, counted in QEMU.
board-time: $(build)/netc
	tools/board_time.py $(build)/netc >$(build)/instructions.def
	mv $(build)/instructions.def memory/instructions.def

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

# Published step times, beside the predicted: memory/devices/times.def.
calibrate: $(build)/netc
	tools/calibrate.py $(build)/netc

# Published tokens a second, beside the predicted: memory/serving/speeds.def.
speed: $(build)/netc
	tools/speed.py $(build)/netc

-include $(wasm_objects:.o=.d) $(few:.o=.d)

.PHONY: web site check-site docs pictures gallery zoo accuracy calibrate speed \
        board-code board-time
