# SPDX-License-Identifier: Apache-2.0
# Signet: fingerprint login that can be verified. `make` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
TRIPLET := $(shell cc -print-multiarch 2>/dev/null || dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null)
# Without triplets: beside PAM's own modules.
UNIX_MODULE = $(firstword $(wildcard $(addsuffix /security/pam_unix.so,/usr/lib64 /usr/lib /lib64 /lib)))
PAMDIR ?= $(if $(TRIPLET),/usr/lib/$(TRIPLET)/security,$\
	$(patsubst %/,%,$(dir $(or $(UNIX_MODULE),/usr/lib64/security/))))
# Where ssh-agent accepts security key providers from: /usr/lib*/*, /usr/local/lib*/*.
SKDIR ?= $(if $(TRIPLET),/usr/lib/$(TRIPLET),/usr/lib64)/signet
SYSTEMDDIR ?= /usr/lib/systemd/system
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
LIBEXEC = $(PREFIX)/libexec/signet
# Module and command look only in these two: `Catalogue.directories`.
LOCALEDIR = $(if $(filter /usr /usr/local,$(PREFIX)),$(PREFIX),/usr)/share/locale
LANGUAGES = $(basename $(notdir $(wildcard po/*.po)))
DOCDIR = $(PREFIX)/share/doc/signet
SERVER_DOCDIR = $(PREFIX)/share/doc/signet-server

SWIFT ?= $(shell command -v swift)
# The toolchain leaves temporary directories behind: keep them out of /tmp.
SWIFT_BUILD = mkdir -p .build/tmp && TMPDIR=$(CURDIR)/.build/tmp $(SWIFT) build
# For tests: a debugger's information makes up most of what is written, and nobody debugs them here.
TEST_BUILD = $(SWIFT_BUILD) -debug-info-format none
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo)
RUN_TESTS = $(AS_ROOT) env SWIFT=$(SWIFT) Tests/run
# Tests' notes for the table in PROGRAMS.md, deleted before all tests run again.
FORGET_CELLS = $(AS_ROOT) rm -f .build/compatibility
RELEASE = $(SWIFT_BUILD) -c release --static-swift-stdlib --scratch-path .build-release \
	--disable-local-rpath
# A separate package: the module, OpenSSH's provider, and the code they share with the programs, as
# Embedded Swift. The module is built a second time as pam_fprintd.so, which reads other options.
MODULE = mkdir -p .build/tmp && TMPDIR=$(CURDIR)/.build/tmp SIGNET_MODULE=$(1) $(SWIFT) build -c release \
	--scratch-path .build-module$(2) --disable-local-rpath --product
PROGRAMS = signetd signet signet-agent signet-fprint fprintd-client signet-reader signet-relay signet-notify signet-server verify-password \
	testfixture testreader
TESTFIXTURE = build/testfixture

.DEFAULT_GOAL := help
# What is needed from Debian, and how the packages are made.
include packaging/debian.mk
.PHONY: help deps build module programs site catalogues demo screen http-faults-test tpm-faults-test test test-build test-programs \
	test-other-debian openssh-test programs-table check format-check graph-check new-command-test new-kind-test fprintd-test bench \
	fuzz pot generated install without-fprintd uninstall source-tree deb deb-test machine-test \
	desktop-test clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s%s\n", $$1, $$2 }' Makefile

deps: ## install what is needed from Debian; does nothing if everything is there
	@checks/packages $(BUILD_DEBS) $(TEST_DEBS)
	@$(AS_ROOT) Tests/HostFixture/programs .build/programs

build: deps module programs catalogues ## build everything that is installed, into build/

site: ## build the example of a back end, signet-site, into build/; it is not installed
	$(RELEASE) --product signet-site
	@mkdir -p build
	strip -o build/signet-site .build-release/release/signet-site

module:
	$(call MODULE,signet) pam_signet
	$(call MODULE,signet) sk-signet
	$(call MODULE,fprintd,-fprintd) pam_fprintd
	@mkdir -p build
	strip --remove-section=.comment -o build/pam_signet.so .build-module/release/libpam_signet.so
	strip --remove-section=.comment -o build/pam_fprintd.so \
		.build-module-fprintd/release/libpam_fprintd.so
	strip --remove-section=.comment -o build/libsk-signet.so .build-module/release/libsk-signet.so

programs:
	$(RELEASE)
	@mkdir -p build
	for program in $(PROGRAMS); do \
		strip -o build/$$program .build-release/release/$$program || exit 1; \
	done

catalogues:
	for language in $(LANGUAGES); do \
		install -d build/locale/$$language/LC_MESSAGES \
			&& msgfmt --check --endianness=little po/$$language.po \
				-o build/locale/$$language/LC_MESSAGES/signet.mo || exit 1; \
	done

demo: build ## watch real sudo accept a touch, and refuse one
	@test -z "$(AS_ROOT)" || echo "root is needed, for private mounts: sudo may ask for your password"
	$(AS_ROOT) $(TESTFIXTURE) demo

screen: build ## draw docs/screen.svg from the demo
	$(AS_ROOT) $(TESTFIXTURE) demo | Tests/HostFixture/screen > docs/screen.svg

test: ## run all tests (as root: they need private mounts)
	@checks/packages $(BUILD_DEBS)
	@# The module's compiler uses one processor for most of its time, and the network none.
	@$(MAKE) --no-print-directory -j4 module test-programs test-other-debian test-build
	$(FORGET_CELLS)
	$(RUN_TESTS)

test-build:
	$(TEST_BUILD) --build-tests

test-programs: deps
	@checks/packages $(BROWSER_DEBS)
	@$(JUDGES) || echo "joserfc cannot be installed from PyPI: its judgement of tokens is left out (make check needs it)"

test-other-debian: deps
	@$(AS_ROOT) Tests/OtherDebian/root .build/other-debian

programs-table: ## write the table in docs/admin/PROGRAMS.md from the results of `make test`
	checks/programs --write

check: build format-check graph-check ## run all checks that a change must pass
	@checks/packages $(BROWSER_DEBS) $(CHECK_DEBS)
	@$(JUDGES)
	checks/module build/pam_signet.so
	checks/module build/pam_fprintd.so
	checks/ssh-provider build/libsk-signet.so
	$(AS_ROOT) checks/units
	$(AS_ROOT) checks/stacks
	$(AS_ROOT) checks/system-calls
	checks/manuals
	checks/install
	checks/packaging
	checks/container
	$(MAKE) deb-test
	checks/openapi
	checks/libraries
	checks/security
	checks/languages
	$(TEST_BUILD) --build-tests
	@$(AS_ROOT) Tests/OtherDebian/root .build/other-debian
	$(FORGET_CELLS)
	$(RUN_TESTS)
	checks/programs
	$(TEST_BUILD) -c release --build-tests -Xswiftc -enable-testing
	$(RUN_TESTS) -c release
	@python3 -B Tests/Machine/table.py --age || true

format-check:
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Plugins Sources Examples Tests \
		$(wildcard Benchmarks)

graph-check:
	checks/licences
	checks/imports
	$(TEST_BUILD) --build-tests --explicit-target-dependency-import-check error

new-command-test: deps ## drop a new command into a copy of the tree, build it and test it
	$(AS_ROOT) env SWIFT=$(SWIFT) checks/new-command

new-kind-test: deps ## drop a new kind of what is sealed to the fingers into a copy, build it and test it
	$(AS_ROOT) env SWIFT=$(SWIFT) checks/new-kind

fprintd-test: deps ## run fprintd's own test suite against signet-fprint (FPRINTD=DIRECTORY, TESTS=…)
	@checks/packages $(FPRINTD_DEBS)
	$(TEST_BUILD) --product testreader
	$(TEST_BUILD) --product testfixture
	$(AS_ROOT) env FPRINTD=$(FPRINTD) Tests/Fprintd/run $(TESTS)

http-faults-test: test-build ## run the server's tests with libmicrohttpd of Debian 12, 13 and testing, with sanitizers
	@checks/packages curl patch xz-utils
	$(AS_ROOT) env SWIFT=$(SWIFT) checks/libmicrohttpd-test $(VERSIONS)

tpm-faults-test: test-build ## run the TPM's tests with the repaired tpm2-tss of Debian's testing
	@checks/packages curl
	$(AS_ROOT) env SWIFT=$(SWIFT) checks/tpm2-tss-test

openssh-test: deps module ## run OpenSSH's regression tests with our provider and agent (ONLY="krl …")
	@checks/packages dpkg-dev zlib1g-dev libssl-dev
	$(TEST_BUILD) --product testfixture
	$(TEST_BUILD) --product testreader
	$(TEST_BUILD) --product signet
	$(TEST_BUILD) --product signet-agent
	$(AS_ROOT) Tests/OpenSSH/run $(ONLY)

bench: build ## measure, side by side with pam_fprintd and fprintd
	@checks/packages $(BENCH_DEBS)
	$(AS_ROOT) Benchmarks/run

fuzz: deps ## feed garbage to each decoder and simulated reader for a minute (SECONDS=…)
	SECONDS_EACH=$(or $(SECONDS),60) Tests/Fuzz/run
	$(TEST_BUILD) --build-tests
	$(AS_ROOT) env SWIFT=$(SWIFT) FUZZ_SECONDS=$(or $(SECONDS),60) Tests/run \
		--filter DistortedReaderTests/fuzzed

# Completions, the synopses of the manual pages and the tables of commands: Tests/Generators.
generated: deps ## write the files that are generated from the declarations of commands
	$(TEST_BUILD) --product generate
	.build/debug/generate .

# New texts are then untranslated, and changed ones fuzzy: docs/contributor/LANGUAGES.md
pot: deps ## update po/signet.pot and po/*.po from the sources, for translators
	po/extract > po/signet.pot
	for language in $(LANGUAGES); do \
		msgmerge --quiet --update --backup=none --add-location=file --no-wrap \
			po/$$language.po po/signet.pot || exit 1; \
	done

# How, and what: packaging/install.mk.
install: ## install the build (DESTDIR, PREFIX, PAMDIR, SYSTEMDDIR)
uninstall: ## remove everything except state and the files that you edited
include packaging/install.mk

# How: packaging/debian.mk.
deb: ## make the Debian packages, into build/deb/
deb-test: ## install, use, upgrade and purge the packages in a minimal Debian

machine-test: deb ## test the packages in virtual machines, Debian 12 and 13 (RELEASES=…, ONLY=…)
	@checks/packages $(MACHINE_DEBS)
	$(AS_ROOT) Tests/Machine/run $(if $(ONLY),--only '$(ONLY)') $(RELEASES)

desktop-test: deb ## drive the settings and lockers of real desktops (RELEASES=…, ONLY=…, FINGWIT=…)
	@checks/packages $(DESKTOP_DEBS)
	$(AS_ROOT) Tests/Desktop/run $(if $(ONLY),--only '$(ONLY)') $(if $(PICTURES),--pictures) \
		$(if $(FINGWIT),--fingwit '$(FINGWIT)') $(RELEASES)

clean: ## remove the build
	$(if $(wildcard .build/debian .build/machine .build/desktop .build/other-debian),\
		$(AS_ROOT) rm -rf .build/debian .build/machine .build/desktop .build/other-debian)
	rm -rf .build .build-release .build-module .build-module-fprintd build
