# Releases and packages: a part of the Makefile.

# Python's package.
wheel: $(build)/static/netc $(build)/$(soname)
	$(call need,cpp,cpp)
	$(call need,advzip,advancecomp)
	@$(src)tools/make_wheel.py $(build)

# The library for musl, 32 bits and WebAssembly: equal bytes.
portable: $(library) $(addprefix $(gen)/,$(filter %.c,$(generated))) \
          $(build)/tests/portable
	@cd $(here) && tools/portable.sh $(abspath $(gen) $(build)/tests/portable) \
	  $(filter %.c,$^)

# A release: the tracked files, and what flex, bison, protoc-c and scdoc make.
release = netc-$(version)
tarball = $(build)/$(release).tar.gz
dist: $(addprefix $(gen)/,$(generated) $(templates) $(messages)) $(build)/netc.1
	tools/dist.sh $(release) $(tarball) $^

# A netc without what can be left out: it says what is missing. It is linked
# from the same objects; those that it has need no protobuf-c.
$(build)/small/%/netc: $(objects) $(program_objects) $(build)/libnetrt.a
	@mkdir -p $(@D)
	@! grep -l 'onnx\.pb-c\.h' $(patsubst %.o,%.d,$(filter %.o,$^))
	@$(link) -o $@ $^ $(program_libs)

check-small: $(build)/netc
	@$(MAKE) --no-print-directory IMPORT=0 $(build)/small/import/netc
	@$(MAKE) --no-print-directory ONNX=0 $(build)/small/onnx/netc
	@cd $(here) && tools/check_small.sh $(abspath $(build))

# A release builds without these tools, to equal bytes; the packages
# install, run and go. For CI: it needs root.
release-check: dist deb check-small static
	tools/release_check.sh $(release) $(tarball) $(abspath $(build))

# Three packages, as Debian would cut them.
deb: all $(build)/netc.1 $(build)/netc.pc $(build)/netrt.pc
	tools/deb.sh $(version) $(soname) $(build)

.PHONY: wheel portable dist check-small release-check deb
